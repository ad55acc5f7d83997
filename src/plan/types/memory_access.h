// The user's side of a data access: where in memory its data bytes lie.
#ifndef NACRE_PLAN_TYPES_MEMORY_ACCESS_H_
#define NACRE_PLAN_TYPES_MEMORY_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::plan {

/// `byte_count` data bytes, laid out by copies of `type` from `base` on. For writes nothing is ever
/// stored through `base`. A null base and a type of absolute addresses (MPI_BOTTOM) are as good as
/// any.
struct MemoryAccess {
  std::byte* base = nullptr;
  TypeMap type;
  std::int64_t byte_count = 0;
};

/// Copies data bytes [first, first + packed.size()) of the access into `packed`, in stream order.
void pack(const MemoryAccess& memory, std::int64_t first, std::span<std::byte> packed);
/// The way back.
void unpack(const MemoryAccess& memory, std::int64_t first, std::span<const std::byte> packed);

/// Copies data bytes between two layouts of the same number of bytes, series by series: the
/// next `byte_count` of `from` (relative to from_base) onto the next of `to` (relative to to_base).
void copy_runs(const std::byte* from_base, RunCursor& from, std::byte* to_base, RunCursor& to,
               std::int64_t byte_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_MEMORY_ACCESS_H_
