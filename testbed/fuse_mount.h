// FuseMount: the testbed as one node sees it, a FUSE file system of its own.
#ifndef NACRE_TESTBED_FUSE_MOUNT_H_
#define NACRE_TESTBED_FUSE_MOUNT_H_

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/result.h"
#include "testbed/namespace.h"

struct fuse_session;

namespace nacre::testbed {

/// Served by threads of its own from mount() on. Nothing is cached between calls, so that nodes
/// agree as Lustre's clients do, but accesses take the time that they would with the machine's
/// caches. Its files have the xattr testbed.node, the node's number, by which it is known, and more
/// that say and set what the testbed does: see docs/testbed.md.
class FuseMount {
 public:
  /// `names` outlives the mount.
  [[nodiscard]] static Result<std::unique_ptr<FuseMount>> mount(Namespace& names, int node,
                                                                const std::string& directory);
  /// Unmounts.
  ~FuseMount();
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
