// The line of JSON that a process appends to the job's report (docs/posix.md).
#ifndef NACRE_POSIX_REPORT_PROCESS_REPORT_H_
#define NACRE_POSIX_REPORT_PROCESS_REPORT_H_

#include <cstdint>

#include "posix/counts/counted_files.h"

namespace nacre::posix {

/// Files that a line has in full, those with the most time first; the others are summed up.
inline constexpr std::uint32_t files_in_line_max = 32;

/// Appends the line of this process to the file `path`. Does nothing if the process has opened no
/// file of the job; prints a warning if the line cannot be written. `started`: wall-clock
/// nanoseconds.
void write_process_report(const char* path, CountedFiles& files, std::int64_t started);

/// At the start of the process: keeps what launchers say of it in the environment, which the
/// program may overwrite.
void note_launch();
/// The rank of this process, as noted; -1: no launcher named one.
[[nodiscard]] int launched_rank();

}  // namespace nacre::posix

#endif  // NACRE_POSIX_REPORT_PROCESS_REPORT_H_
