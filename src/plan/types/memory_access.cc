#include "plan/types/memory_access.h"

#include <algorithm>
#include <cstring>

#include "plan/types/strided_copy.h"

namespace nacre::plan {
namespace {

/// `count` runs of `length` bytes, `stride` apart.
struct Runs {
  std::int64_t length;
  std::int64_t stride;
  std::int64_t count;
};

/// A position in the rows of a cursor: `inner` bytes of the first remaining run are used up.
class Side {
 public:
  Side(RunCursor& cursor, std::int64_t byte_count) : cursor_(cursor), to_take_(byte_count) {}

  /// Takes the next row if the last is used up. Returns false if there is none.
  bool fill() {
    if (series_.count > 0) return true;
    if (rows_.rows > 1) {
      --rows_.rows;
      rows_.row.offset += rows_.row_stride;
    } else {
      if (to_take_ == 0) return false;
      rows_ = cursor_.next_rows(to_take_);
      to_take_ -= rows_.bytes();
    }
    series_ = rows_.row;
    return series_.count > 0;
  }
  [[nodiscard]] std::int64_t offset() const { return series_.offset + inner_; }
  /// The next whole runs; none if the first run is partly used up.
  [[nodiscard]] Runs whole_runs() const {
    return {series_.length, series_.stride, inner_ == 0 ? series_.count : 0};
  }
  /// The remaining bytes of the first run.
  [[nodiscard]] std::int64_t run_left() const { return series_.length - inner_; }

  /// Uses up `count` of the whole runs.
  void advance_runs(std::int64_t count) {
    series_.offset += count * series_.stride;
    series_.count -= count;
  }
  /// Uses up `bytes` of the first run.
  void advance_bytes(std::int64_t bytes) {
    inner_ += bytes;
    if (inner_ < series_.length) return;
    inner_ = 0;
    advance_runs(1);
  }

 private:
  RunCursor& cursor_;
  std::int64_t to_take_;
  RunRows rows_;      // the current row and the rows after it
  RunSeries series_;  // the rest of the current row
  std::int64_t inner_ = 0;
};

/// The number of `runs` that fit `bytes`; mostly all of them, without a division.
std::int64_t runs_within(const Runs& runs, std::int64_t bytes) {
  return runs.length * runs.count <= bytes ? runs.count : bytes / runs.length;
}

/// Copies as many runs at once as both sides allow: equal runs against each other, or the runs of
/// one side against one longer run of the other; else the rest of the shorter run.
void copy_step(const std::byte* from_base, Side& from, std::byte* to_base, Side& to) {
  const Runs sources = from.whole_runs();
  const Runs targets = to.whole_runs();
  const std::byte* source = at(from_base, from.offset());
  std::byte* target = at(to_base, to.offset());
  if (sources.count > 0 && targets.count > 0 && sources.length == targets.length) {
    const std::int64_t count = std::min(sources.count, targets.count);
    copy_strided({source, sources.stride}, {target, targets.stride}, sources.length, count);
    from.advance_runs(count);
    to.advance_runs(count);
  } else if (sources.count > 0 && sources.length <= to.run_left()) {
    const std::int64_t count = runs_within(sources, to.run_left());
    copy_strided({source, sources.stride}, {target, sources.length}, sources.length, count);
    from.advance_runs(count);
    to.advance_bytes(sources.length * count);
  } else if (targets.count > 0 && targets.length <= from.run_left()) {
    const std::int64_t count = runs_within(targets, from.run_left());
    copy_strided({source, targets.length}, {target, targets.stride}, targets.length, count);
    from.advance_bytes(targets.length * count);
    to.advance_runs(count);
  } else {
    const std::int64_t length = std::min(from.run_left(), to.run_left());
    copy_strided({source, 0}, {target, 0}, length, 1);
    from.advance_bytes(length);
    to.advance_bytes(length);
  }
}

}  // namespace

void copy_runs(const std::byte* from_base, RunCursor& from, std::byte* to_base, RunCursor& to,
               std::int64_t byte_count) {
  Side source(from, byte_count);
  Side target(to, byte_count);
  while (source.fill() && target.fill()) copy_step(from_base, source, to_base, target);
}

void pack(const MemoryAccess& memory, std::int64_t first, std::span<std::byte> packed) {
  if (packed.empty()) return;
  if (memory.type.is_contiguous()) {
    const std::byte* data = at(memory.base, memory.type.true_lb() + first);
    std::memcpy(packed.data(), data, packed.size());
    return;
  }
  std::byte* out = packed.data();
  for_each_row(RunCursor({memory.type, 0}, first, std::ssize(packed)), [&](const RunSeries& row) {
    const std::byte* const data = at(memory.base, row.offset);
    copy_strided({data, row.stride}, {out, row.length}, row.length, row.count);
    out += row.bytes();
  });
}

void unpack(const MemoryAccess& memory, std::int64_t first, std::span<const std::byte> packed) {
  if (packed.empty()) return;
  if (memory.type.is_contiguous()) {
    std::memcpy(at(memory.base, memory.type.true_lb() + first), packed.data(), packed.size());
    return;
  }
  const std::byte* in = packed.data();
  for_each_row(RunCursor({memory.type, 0}, first, std::ssize(packed)), [&](const RunSeries& row) {
    std::byte* const data = at(memory.base, row.offset);
    copy_strided({in, row.length}, {data, row.stride}, row.length, row.count);
    in += row.bytes();
  });
}

}  // namespace nacre::plan
