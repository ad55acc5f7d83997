#include "plan/memory_access.h"

#include <algorithm>
#include <cstring>

namespace nacre::plan {
namespace {

/// Where a group's runs lie and how far apart.
template <class Byte>
struct Strided {
  Byte* data;
  std::int64_t stride;
};

/// A run length known to the compiler becomes a load and a store instead of a call.
template <std::size_t length>
void copy_fixed(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.data, from.data, length);
    from.data += from.stride;
    to.data += to.stride;
  }
}

void copy_any(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
              std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(length));
    from.data += from.stride;
    to.data += to.stride;
  }
}

/// `count` runs of `length` bytes.
void copy_strided(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
                  std::int64_t count) {
  switch (length) {
    case 1:
      return copy_fixed<1>(from, to, count);
    case 2:
      return copy_fixed<2>(from, to, count);
    case 4:
      return copy_fixed<4>(from, to, count);
    case 8:
      return copy_fixed<8>(from, to, count);
    case 12:
      return copy_fixed<12>(from, to, count);
    case 16:
      return copy_fixed<16>(from, to, count);
    case 24:
      return copy_fixed<24>(from, to, count);
    case 32:
      return copy_fixed<32>(from, to, count);
    case 40:
      return copy_fixed<40>(from, to, count);
    case 64:
      return copy_fixed<64>(from, to, count);
    default:
      return copy_any(from, to, length, count);
  }
}

TiledMap tiled(const MemoryAccess& memory) { return {memory.type, 0}; }

/// A group under way: its runs from the front on, `inner` bytes of the first one used up.
class Side {
 public:
  Side(RunCursor& cursor, std::int64_t byte_count) : cursor_(cursor), to_take_(byte_count) {}

  /// Takes the next group if the last is used up; false when there is none.
  bool fill() {
    if (group_.count > 0) return true;
    group_ = cursor_.next(std::max<std::int64_t>(to_take_, 1));
    to_take_ -= group_.bytes();
    return group_.count > 0;
  }
  [[nodiscard]] std::int64_t offset() const { return group_.offset + inner_; }
  [[nodiscard]] std::int64_t stride() const { return group_.stride; }
  [[nodiscard]] std::int64_t length() const { return group_.length; }
  [[nodiscard]] std::int64_t run_left() const { return group_.length - inner_; }
  /// Runs that have not been begun, if the first one is such.
  [[nodiscard]] std::int64_t whole_runs() const { return inner_ == 0 ? group_.count : 0; }

  void advance(std::int64_t bytes) {
    inner_ += bytes;
    const std::int64_t runs = inner_ / group_.length;
    inner_ -= runs * group_.length;
    group_.offset += runs * group_.stride;
    group_.count -= runs;
  }

 private:
  RunCursor& cursor_;
  std::int64_t to_take_;
  RunGroup group_;
  std::int64_t inner_ = 0;
};

/// One copy between two groups: which run length, how many, how far apart on either side.
struct Step {
  std::int64_t length;
  std::int64_t count;
  std::int64_t from_stride;
  std::int64_t to_stride;
};

/// As many runs at once as both sides allow: equal runs against each other, or the runs of one side
/// against one longer run of the other; else the rest of the shorter run.
Step next_step(const Side& from, const Side& to) {
  const std::int64_t from_runs = from.whole_runs();
  const std::int64_t to_runs = to.whole_runs();
  if (from_runs > 0 && to_runs > 0 && from.length() == to.length()) {
    return {from.length(), std::min(from_runs, to_runs), from.stride(), to.stride()};
  }
  if (from_runs > 0 && from.length() <= to.run_left()) {
    return {from.length(), std::min(from_runs, to.run_left() / from.length()), from.stride(),
            from.length()};
  }
  if (to_runs > 0 && to.length() <= from.run_left()) {
    return {to.length(), std::min(to_runs, from.run_left() / to.length()), to.length(),
            to.stride()};
  }
  return {std::min(from.run_left(), to.run_left()), 1, 0, 0};
}

}  // namespace

void copy_runs(const std::byte* from_base, RunCursor& from, std::byte* to_base, RunCursor& to,
               std::int64_t byte_count) {
  Side source(from, byte_count);
  Side target(to, byte_count);
  while (byte_count > 0 && source.fill() && target.fill()) {
    const Step step = next_step(source, target);
    copy_strided({from_base + source.offset(), step.from_stride},
                 {to_base + target.offset(), step.to_stride}, step.length, step.count);
    const std::int64_t bytes = step.length * step.count;
    source.advance(bytes);
    target.advance(bytes);
    byte_count -= bytes;
  }
}

void pack(const MemoryAccess& memory, std::int64_t first, std::span<std::byte> packed) {
  RunCursor runs(tiled(memory), first, std::ssize(packed));
  std::byte* out = packed.data();
  for (RunGroup group = runs.next(); group.count > 0; group = runs.next()) {
    copy_strided({memory.base + group.offset, group.stride}, {out, group.length}, group.length,
                 group.count);
    out += group.bytes();
  }
}

void unpack(const MemoryAccess& memory, std::int64_t first, std::span<const std::byte> packed) {
  RunCursor runs(tiled(memory), first, std::ssize(packed));
  const std::byte* in = packed.data();
  for (RunGroup group = runs.next(); group.count > 0; group = runs.next()) {
    copy_strided({in, group.length}, {memory.base + group.offset, group.stride}, group.length,
                 group.count);
    in += group.bytes();
  }
}

}  // namespace nacre::plan
