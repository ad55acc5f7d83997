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

/// The rank of this process, by the variables that launchers set; -1: none did.
[[nodiscard]] int launched_rank();

}  // namespace nacre::posix

#endif  // NACRE_POSIX_REPORT_PROCESS_REPORT_H_
