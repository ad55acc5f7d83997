// NodeFile: an open file of a client node, whose accesses take the time of the modelled machine.
#ifndef NACRE_SIM_FILES_NODE_FILE_H_
#define NACRE_SIM_FILES_NODE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "sim/files/namespace.h"
#include "sim/lustre/cost_model.h"
#include "sim/lustre/striped_file.h"
#include "store/store.h"

namespace nacre::sim {

/// The longest access that the kernel of a client passes on at once (a request of FUSE). It splits
/// longer calls.
constexpr std::int64_t kernel_request_bytes_max = 1 << 20;

/// Whether the caller of a call that waits has received a signal.
using IsInterrupted = std::function<bool()>;
constexpr auto never_interrupted = [] { return false; };

/// Errors carry an errno and no message. Calls wait for their time: threads, or fibers.
class NodeFile {
 public:
  struct Opening {
    InodeNumber number = 0;
    std::int32_t node = 0;
    bool writes = false;
    bool direct = false;  ///< accesses bypass the node's cache
  };
  /// The inode is a regular file; ESTALE as Namespace::open(). `names` outlives the file.
  [[nodiscard]] static Result<std::unique_ptr<NodeFile>> open(Namespace& names,
                                                              const Opening& opening);
  /// Closes the file, without the wait of finish().
  ~NodeFile();
  NodeFile(const NodeFile&) = delete;
  NodeFile& operator=(const NodeFile&) = delete;

  [[nodiscard]] store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset,
                                     const IsInterrupted& is_interrupted = never_interrupted);
  [[nodiscard]] store::Transfer write(std::span<const store::WritePiece> pieces,
                                      std::int64_t offset,
                                      const IsInterrupted& is_interrupted = never_interrupted);
  /// Writes at the end of the file, which no other node moves meanwhile.
  [[nodiscard]] Status append(std::span<const std::byte> from,
                              const IsInterrupted& is_interrupted = never_interrupted);
  /// Reserves space up to `end`. Without fallocate on the OSTs: EOPNOTSUPP, and the node sees a
  /// file of this size.
  [[nodiscard]] Status allocate(std::int64_t end);
  /// Waits until the node's writes are on the OSTs.
  [[nodiscard]] Status flush(const IsInterrupted& is_interrupted = never_interrupted);
  /// For close(2): CostModel::finish().
  [[nodiscard]] Status finish(const IsInterrupted& is_interrupted = never_interrupted);

  [[nodiscard]] StripedFile& data() { return data_; }
  /// For calls of data() that wait.
  [[nodiscard]] Caller caller(const IsInterrupted& is_interrupted = never_interrupted) {
    return {handle_.get(), is_interrupted};
  }

 private:
  NodeFile(Namespace& names, const Opening& opening, StripedFile& data)
      : names_(names),
        opening_(opening),
        data_(data),
        handle_(names.costs().open(opening.node, opening.direct)) {}
  /// Waits for the time that an access takes. `locks`: what it has waited for before.
  [[nodiscard]] Status charge(plan::Direction direction, const Extent& extent, LockWish locks,
                              const IsInterrupted& is_interrupted);

  Namespace& names_;
  Opening opening_;
  StripedFile& data_;
  std::unique_ptr<OpenHandle> handle_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_FILES_NODE_FILE_H_
