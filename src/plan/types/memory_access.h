// The memory side of a data access: where its data bytes lie, and how they are copied.
#ifndef NACRE_PLAN_TYPES_MEMORY_ACCESS_H_
#define NACRE_PLAN_TYPES_MEMORY_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::plan {

/// `byte_count` data bytes, laid out by copies of `type` from `base` on. Writes never store through
/// `base`. `base` may be null if the type has absolute addresses (MPI_BOTTOM).
struct MemoryAccess {
  std::byte* base = nullptr;
  TypeMap type;
  std::int64_t byte_count = 0;
};

/// Copies data bytes [first, first + packed.size()) of the access into `packed`, in stream order.
void pack(const MemoryAccess& memory, std::int64_t first, std::span<std::byte> packed);
/// Copies `packed` to data bytes [first, first + packed.size()) of the access.
void unpack(const MemoryAccess& memory, std::int64_t first, std::span<const std::byte> packed);

/// Copies the next `byte_count` data bytes of `from` (relative to from_base) to the next of `to`
/// (relative to to_base), series by series.
void copy_runs(const std::byte* from_base, RunCursor& from, std::byte* to_base, RunCursor& to,
               std::int64_t byte_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_MEMORY_ACCESS_H_
