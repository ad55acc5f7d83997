// RunCursor: walks the runs of a tiled type map from any data byte on, as series of equal runs at a
// constant stride. Packers thus copy a strided type without flattening it.
#ifndef NACRE_PLAN_TYPES_RUN_CURSOR_H_
#define NACRE_PLAN_TYPES_RUN_CURSOR_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/extent.h"
#include "plan/types/type_map.h"

namespace nacre::plan {

/// `count` runs of `length` bytes; run k at offset + k * stride. A single run has count 1.
struct RunSeries {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t bytes() const { return length * count; }
  friend bool operator==(const RunSeries&, const RunSeries&) = default;
};

/// `rows` series, row k displaced by k * row_stride.
struct RunRows {
  RunSeries row;
  std::int64_t rows = 0;
  std::int64_t row_stride = 0;

  [[nodiscard]] std::int64_t bytes() const { return row.bytes() * rows; }
};

/// Yields the data bytes [first_byte, first_byte + byte_count) of `map` in stream order. The
/// offsets of all bytes of the touched copies fit 64 bits. The cursor shares ownership of the tree,
/// so `map` may be destroyed. One thread at a time; copies are independent. Takes O(depth) memory,
/// amortised O(1) time per series, and O(depth x log n) time to start.
class RunCursor {
 public:
  RunCursor() = default;
  RunCursor(const TiledMap& map, std::int64_t first_byte, std::int64_t byte_count);

  /// Bytes not yet yielded.
  [[nodiscard]] std::int64_t remaining() const { return remaining_; }

  /// The next series, of at most `max_bytes` (>= 1) bytes; count 0 if nothing remains. Runs that
  /// touch, also across copies of the type, are one run if the tree shows it. If the limit cuts the
  /// first run, the series is the first part of that run.
  [[nodiscard]] RunSeries next(std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());
  /// The next equal series at a constant stride; rows 0 if nothing remains.
  [[nodiscard]] RunRows next_rows(
      std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());

 private:
  /// The position in a node. `index` of `count` copies have been yielded, or are on the stack
  /// above. The copies are those of one block if the node is indexed; bytes are one copy. In a leaf
  /// a copy is a run of `length` bytes, of which `inner` have been yielded; elsewhere length is 0.
  struct Frame {
    const TypeNode* node = nullptr;
    std::int64_t origin = 0;  ///< offset of the first data byte of the node
    std::int64_t block = 0;   ///< indexed
    std::int64_t first = 0;   ///< offset of copy 0
    std::int64_t stride = 0;
    std::int64_t index = 0;
    std::int64_t count = 0;
    std::int64_t length = 0;
    std::int64_t inner = 0;
  };
  static void begin_block(Frame& frame, std::int64_t block);
  static std::int64_t begin(Frame& frame, std::int64_t skip_bytes);
  void enter(const TypeNode* node, std::int64_t origin, std::int64_t skip_bytes);
  [[nodiscard]] Frame* parent_of_finished();
  bool begin_next_copy();
  bool begin_next_run_block();
  void enter_next();

  std::shared_ptr<const TypeNode> root_;  // the touched copies of the type
  std::vector<Frame> stack_;
  std::int64_t remaining_ = 0;
};

/// Calls `act` with each remaining row of `cursor`, in stream order.
template <class Act>
void for_each_row(RunCursor cursor, const Act& act) {
  for (RunRows rows = cursor.next_rows(); rows.rows > 0; rows = cursor.next_rows()) {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      RunSeries row = rows.row;
      row.offset += i * rows.row_stride;
      act(row);
    }
  }
}

/// The file side of a data access: data bytes [first_byte, first_byte + byte_count) of a view.
struct FileAccess {
  TiledMap view;
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;
};

/// From the lowest byte of the access to the highest; empty if byte_count is 0. An upper bound if
/// the view is not tiles_monotone(): the bounds of all touched copies.
[[nodiscard]] Extent bounds(const FileAccess& access);

/// The end of the copy of the view's type in which the access ends: how long the file will be if
/// the program goes on to fill its view. At least bounds().end(); 0 if byte_count is 0.
[[nodiscard]] std::int64_t end_of_last_copy(const FileAccess& access);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_RUN_CURSOR_H_
