// RunCursor: walks the runs of a tiled type map from any data byte on, in series of equal runs at a
// constant stride, so that packers can copy a strided type without ever flattening it.
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

/// `rows` such series, row k moved by k * row_stride.
struct RunRows {
  RunSeries row;
  std::int64_t rows = 0;
  std::int64_t row_stride = 0;

  [[nodiscard]] std::int64_t bytes() const { return row.bytes() * rows; }
};

/// Yields the data bytes [first_byte, first_byte + byte_count) of `map` in stream order. All their
/// offsets, and those of the other bytes of the copies that they lie in, are to fit 64 bits. Holds
/// a reference on the tree, so the map that it was made from may go away. Not for use by two
/// threads at once; copies are independent. Costs O(depth) memory and amortised O(1) a series;
/// starting costs O(depth x log n).
class RunCursor {
 public:
  RunCursor() = default;
  RunCursor(const TiledMap& map, std::int64_t first_byte, std::int64_t byte_count);

  /// Bytes not yet yielded.
  [[nodiscard]] std::int64_t remaining() const { return remaining_; }

  /// The next series, of at most `max_bytes` (>= 1) bytes; count 0 when nothing remains. Runs that
  /// touch (also across copies of the type) come out as one run where the tree shows it. A limit
  /// that cuts a run yields its first part alone, count 1.
  [[nodiscard]] RunSeries next(std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());
  /// The next series, as many as are alike and at a constant stride; rows 0 when nothing remains.
  [[nodiscard]] RunRows next_rows(
      std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());

 private:
  /// A node under way: copies of something, `index` of `count` of which are out or on the stack
  /// above. For an indexed node they are those of one of its blocks, for bytes it is one copy of
  /// them. In a leaf a copy is a run of `length` bytes, of which `inner` are out too; elsewhere
  /// length is 0.
  struct Frame {
    const TypeNode* node = nullptr;
    std::int64_t origin = 0;  ///< where the node's first data byte lies
    std::int64_t block = 0;   ///< indexed
    std::int64_t first = 0;   ///< where copy 0 lies
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

  std::shared_ptr<const TypeNode> root_;  // the copies of the type that are walked
  std::vector<Frame> stack_;
  std::int64_t remaining_ = 0;
};

/// Calls `act` with each row of what is left of `cursor`, in stream order.
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

/// Bytes of a file that one rank reads or writes in one call: data bytes [first_byte, first_byte +
/// byte_count) of its view.
struct FileAccess {
  TiledMap view;
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;
};

/// From the lowest byte touched to the highest; empty when byte_count is 0. Where the view is not
/// tiles_monotone(), of all bytes of the copies touched: an upper bound.
[[nodiscard]] Extent bounds(const FileAccess& access);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_RUN_CURSOR_H_
