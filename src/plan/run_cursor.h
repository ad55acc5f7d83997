// RunCursor: walks the runs of a tiled type map from any data byte on, in groups of equal runs at a
// constant stride, so that packers can copy a strided type without ever flattening it.
#ifndef NACRE_PLAN_RUN_CURSOR_H_
#define NACRE_PLAN_RUN_CURSOR_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/extent.h"
#include "plan/type_map.h"

namespace nacre::plan {

/// `count` runs of `length` bytes; run k at offset + k * stride. A single run has count 1.
struct RunGroup {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t bytes() const { return length * count; }
  friend bool operator==(const RunGroup&, const RunGroup&) = default;
};

/// Yields the data bytes [first_byte, first_byte + byte_count) of `map` in stream order. Holds a
/// reference on the tree, so the map that it was made from may go away. Not for use by two threads
/// at once; copies are independent. Costs O(depth) memory and amortised O(1) a group; starting
/// costs O(depth x log n).
class RunCursor {
 public:
  RunCursor() = default;
  RunCursor(const TiledMap& map, std::int64_t first_byte, std::int64_t byte_count);

  /// Bytes not yet yielded.
  [[nodiscard]] std::int64_t remaining() const { return remaining_; }

  /// The next group, of at most `max_bytes` (>= 1) bytes; count 0 when nothing remains. Runs that
  /// touch (also across copies of the type) come out as one run where the tree shows it. A limit
  /// that cuts a run yields its first part alone, count 1.
  [[nodiscard]] RunGroup next(std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());

 private:
  /// A node under way. For bytes: `index` bytes of it are out. For the others: children before
  /// `index` are out, where a repeat or block of runs is a leaf of its own and `inner` bytes of its
  /// run are out too.
  struct Frame {
    const TypeNode* node = nullptr;
    std::int64_t origin = 0;  ///< of the node, its shift included
    std::int64_t index = 0;
    std::int64_t inner = 0;
    std::int64_t block = 0;  ///< indexed: the block that holds copy `index`
  };
  void push(const TypeNode* node, std::int64_t origin, std::int64_t skip_bytes);
  [[nodiscard]] RunGroup take(Frame& frame, std::int64_t max_bytes);
  [[nodiscard]] RunGroup take_copies(Frame& frame, const RunGroup& all, std::int64_t max_bytes);
  void descend();

  TypeMap root_;  // the copies of the type that are walked; keeps the nodes alive
  std::vector<Frame> stack_;
  std::int64_t remaining_ = 0;
};

/// Bytes of a file that one rank reads or writes in one call: data bytes [first_byte, first_byte +
/// byte_count) of its view.
struct FileAccess {
  TiledMap view;
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;
};

/// From the first byte touched to the last; empty when byte_count is 0.
[[nodiscard]] Extent bounds(const FileAccess& access);

/// The part of `access` inside `domain`, in data bytes of the view, cut to the access: since the
/// view is monotone this is one range. access.view.type.tiles_monotone().
[[nodiscard]] FileAccess slice(const FileAccess& access, const Extent& domain);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_RUN_CURSOR_H_
