#include "content.h"

#include <algorithm>

#include "base/checked_cast.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::simulate {
namespace {

/// Calls `act` with the offset in the file of each byte of the call, in stream order.
template <class Act>
void for_each_offset(const sim::CallSeries& series, const Content::Call& call, const Act& act) {
  const plan::RunCursor cursor(series.view, call.offset_bytes, call.bytes);
  plan::for_each_row(cursor, [&](const plan::RunSeries& row) {
    for (std::int64_t run = 0; run < row.count; ++run) {
      const std::int64_t begin = row.offset + run * row.stride;
      for (std::int64_t offset = begin; offset < begin + row.length; ++offset) act(offset);
    }
  });
}

plan::MemoryAccess memory_of(const sim::CallSeries& series, const Content::Call& call,
                             std::span<std::byte> buffer) {
  return {buffer.data() + call.buffer_offset, series.memory, call.bytes};
}

/// Never zero, and not periodic in powers of two.
std::byte mixed(std::int64_t offset) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  const std::uint64_t hash = static_cast<std::uint64_t>(offset + 1) * golden;
  return static_cast<std::byte>((hash >> 56U) | 1U);
}

}  // namespace

void Content::add_writes(const std::vector<sim::CallSeries>& writes) {
  for (const sim::CallSeries& series : writes) {
    for (const Call& call : series.calls) {
      for_each_offset(series, call, [&](std::int64_t offset) {
        const auto index = checked_cast<std::size_t>(offset);
        if (index >= is_written_.size()) is_written_.resize(index + 1);
        is_written_[index] = true;
      });
    }
  }
}

void Content::fill(const sim::CallSeries& series, const Call& call,
                   std::span<std::byte> buffer) const {
  std::vector<std::byte> stream;
  for_each_offset(series, call, [&](std::int64_t offset) { stream.push_back(at(offset)); });
  plan::unpack(memory_of(series, call, buffer), 0, stream);
}

std::optional<std::int64_t> Content::first_wrong(const sim::CallSeries& series, const Call& call,
                                                 std::span<std::byte> buffer) const {
  std::vector<std::byte> stream(checked_cast<std::size_t>(call.bytes));
  plan::pack(memory_of(series, call, buffer), 0, stream);
  std::optional<std::int64_t> wrong;
  std::size_t next = 0;
  for_each_offset(series, call, [&](std::int64_t offset) {
    if (stream[next++] != at(offset) && !wrong) wrong = offset;
  });
  return wrong;
}

std::optional<std::int64_t> Content::first_wrong(std::span<const std::byte> file) const {
  const auto end = checked_cast<std::int64_t>(std::max(file.size(), is_written_.size()));
  for (std::int64_t offset = 0; offset < end; ++offset) {
    const auto index = static_cast<std::size_t>(offset);
    if (index >= file.size() || file[index] != at(offset)) return offset;
  }
  return std::nullopt;
}

std::int64_t Content::written_bytes() const {
  return std::count(is_written_.begin(), is_written_.end(), true);
}

std::byte Content::at(std::int64_t offset) const {
  const auto index = static_cast<std::size_t>(offset);
  return index < is_written_.size() && is_written_[index] ? mixed(offset) : std::byte{0};
}

}  // namespace nacre::simulate
