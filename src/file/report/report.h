// The report of a closed file: its profiles of all ranks, reduced to one line of JSON
// (docs/report.md).
#ifndef NACRE_FILE_REPORT_REPORT_H_
#define NACRE_FILE_REPORT_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collective/profile/profile_digest.h"
#include "collective/profile/spread.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hints.h"
#include "file/report/file_profile.h"
#include "plan/nodes/node_map.h"

namespace nacre::file {

/// The profiles of all ranks in a size that does not grow with their number, nor with that of the
/// calls.
struct ReducedProfile {
  struct OfKind {
    CallKind kind = CallKind::collective_write;
    collective::ProfileDigest digest;
  };
  struct OfPlan {
    PlanUse use;  ///< of rank 0
    collective::Spread bytes;
    collective::Spread nanoseconds;
  };
  std::vector<OfKind> kinds;  ///< those of which there were calls, on any rank
  std::vector<OfPlan> plans;
  std::int64_t other_plan_calls = 0;
  collective::Spread open_nanoseconds;
  collective::Spread close_nanoseconds;
};

/// Collective. Complete on rank 0, of no use on the others.
collective::Task<ReducedProfile> reduce_profile(collective::Transport& transport,
                                                const FileProfile& profile);

/// The hints that were set: {name: {"value": ..., "from": ...}}.
[[nodiscard]] std::string set_hints_json(const Hints& hints);

/// What a line says beside the profile.
struct ReportedFile {
  std::string path;
  plan::NodeMap nodes = {};  ///< of the ranks that opened it
  Hints hints;
  std::string job;                     ///< what the batch system calls it; "" where there is none
  std::int64_t closed_at_seconds = 0;  ///< since 1970
};

/// One line of JSON, its end included. Its size is bounded by what hints and path have.
[[nodiscard]] std::string report_line(const ReportedFile& file, const ReducedProfile& profile);

/// Says once per process, on standard error, that the line of `file` was not written and why. Only
/// the rank that writes reports calls this, so an open of many ranks gives one line. It is the only
/// thing that a call that succeeds ever prints: without it a lost report would look like a program
/// that Nacre did not serve. Thread-safe.
void warn_of_lost_report(const std::string& file, const Error& error);

/// The batch job that this process belongs to, by the variables of Slurm, PBS, LSF and Flux; "".
[[nodiscard]] std::string job_name(const Environment& environment = process_environment());

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_REPORT_H_
