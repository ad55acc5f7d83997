// FuseMount: the FUSE file system that mounts the testbed for one node.
#ifndef NACRE_TESTBED_FUSE_MOUNT_H_
#define NACRE_TESTBED_FUSE_MOUNT_H_

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/result.h"
#include "sim/files/namespace.h"

struct fuse_session;

namespace nacre::testbed {

using namespace sim;  // the model that the testbed plays

/// Its own threads serve the mount from mount() on. The kernel caches no data, so that all nodes
/// see the same data, as Lustre's clients do; accesses take the time that they take with the caches
/// of the emulated machine. All files have the xattr testbed.node, the node's number, which
/// identifies a testbed. docs/testbed.md describes the xattrs that control the testbed.
class FuseMount {
 public:
  /// Mounts `names` for node `node` on an existing directory. `names` outlives the mount.
  [[nodiscard]] static Result<std::unique_ptr<FuseMount>> mount(Namespace& names, int node,
                                                                const std::string& directory);
  /// Stops waiting calls, unmounts, even with open files, and joins the threads.
  ~FuseMount();
  /// What a call that waits takes here beside the time that the model has it wait: the ways
  /// through FUSE and between threads, without other load. Takes some 30 ms. 0 if unknown.
  [[nodiscard]] SimulatedTime cost_of_call() const;
  FuseMount(const FuseMount&) = delete;
  FuseMount& operator=(const FuseMount&) = delete;

  [[nodiscard]] Namespace& names() const { return names_; }
  [[nodiscard]] int node() const { return node_; }

 private:
  FuseMount(Namespace& names, int node, std::string directory)
      : names_(names), node_(node), directory_(std::move(directory)) {}

  Namespace& names_;
  int node_;
  std::string directory_;
  fuse_session* session_ = nullptr;
  std::thread server_;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_FUSE_MOUNT_H_
