// Independent access: one rank moves the bytes of an access to or from the file by itself, without
// a message. Used for MPI_File_read and _write and by the direct algorithm.
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
  /// Most bytes of a sieving read, and of the staging buffer for memory in small pieces
  /// (ind_rd_buffer_size).
  std::int64_t read_buffer_bytes = 4 << 20;
  /// The same for writes (ind_wr_buffer_size).
  std::int64_t write_buffer_bytes = 512 << 10;
  /// So many bytes, moved for nothing or copied once more, cost what one more call does
  /// (store::FileSystemFacts).
  std::int64_t call_cost_bytes = 64 << 10;
  /// Reads may fetch the gaps between close runs too.
  bool read_sieving = true;
  /// Writes may read, change and write back the gaps between close runs, under an exclusive lock:
  /// only where nobody else writes there without that lock. The file is open for reading too.
  bool write_sieving = false;
};

/// What is to be moved. file.byte_count == memory.byte_count.
struct IndependentAccess {
  plan::Direction direction = plan::Direction::read;
  const plan::FileAccess& file;
  const plan::MemoryAccess& memory;
};

/// Moves the bytes of `access`; the result counts them in stream order up to the first one that was
/// not moved (the end of the file, an error). Any view will do. Memory beyond what was read stays
/// as it is. Writes never touch a byte outside the access unless settings.write_sieving. Counts
/// what it does in the profile of `profiler`, which is in Phase::file. Blocking; sends no message.
/// Memory: one buffer of the settings' size, and only where the access is in small pieces. The
/// calls of one process on one `file` with write_sieving are the caller's to serialise (a range
/// lock does not hold between users of one StoreFile).
[[nodiscard]] store::Transfer access_runs(store::StoreFile& file, const IndependentAccess& access,
                                          const IndependentSettings& settings, Profiler& profiler);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_INDEPENDENT_H_
