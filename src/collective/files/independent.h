// Independent access: one rank accesses the file without messages. Used for independent calls
// (MPI_File_read, MPI_File_write) and by the direct algorithm.
#ifndef NACRE_COLLECTIVE_FILES_INDEPENDENT_H_
#define NACRE_COLLECTIVE_FILES_INDEPENDENT_H_

#include <cstdint>

#include "collective/profile/profile.h"
#include "plan/direction.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"
#include "store/store.h"

namespace nacre::collective {

struct IndependentSettings {
  /// Maximum bytes of a sieving read, and of the staging buffer for memory in small pieces
  /// (ind_rd_buffer_size).
  std::int64_t read_buffer_bytes = 4 << 20;
  /// The same for writes (ind_wr_buffer_size).
  std::int64_t write_buffer_bytes = 512 << 10;
  /// Moving or copying so many unneeded bytes costs as much as one more call
  /// (store::FileSystemFacts).
  std::int64_t call_cost_bytes = 64 << 10;
  /// Reads may also fetch the gaps between close runs.
  bool read_sieving = true;
  /// Writes may read, change and write back the gaps between close runs, under an exclusive lock.
  /// Only valid if no other process writes there without that lock and the file is open for
  /// reading.
  bool write_sieving = false;
};

/// file.byte_count == memory.byte_count.
struct IndependentAccess {
  plan::Direction direction = plan::Direction::read;
  const plan::FileAccess& file;
  const plan::MemoryAccess& memory;
};

/// Moves the bytes of `access`, of any view. The result counts bytes in stream order up to the
/// first that was not moved, because of the end of the file or an error. A read leaves memory
/// beyond these bytes unchanged. A write changes no byte outside the access, except with
/// settings.write_sieving. Counts calls and bytes in the profile of `profiler`, which must be in
/// Phase::file. Blocking. Memory: one buffer of the size in `settings`, if the access is in small
/// pieces. With write_sieving the caller must serialise the calls of a process on one `file`: a
/// range lock does not exclude users of the same StoreFile.
[[nodiscard]] store::Transfer access_runs(store::StoreFile& file, const IndependentAccess& access,
                                          const IndependentSettings& settings, Profiler& profiler);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_INDEPENDENT_H_
