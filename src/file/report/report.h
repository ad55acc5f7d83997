// The report of a closed file: its profiles of all ranks, reduced to one line of JSON
// (docs/report.md).
#ifndef NACRE_FILE_REPORT_REPORT_H_
#define NACRE_FILE_REPORT_REPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collective/profile/access_shape.h"
#include "collective/profile/profile_digest.h"
#include "collective/profile/spread.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hints.h"
#include "file/report/file_profile.h"
#include "file/report/job_facts.h"
#include "file/report/node_shares.h"
#include "plan/layout/stripe_map.h"
#include "plan/nodes/node_map.h"

namespace nacre::file {

/// The reduced profiles of all ranks. The size depends on neither the number of ranks nor of calls.
struct ReducedProfile {
  struct OfKind {
    CallKind kind = CallKind::collective_write;
    collective::ProfileDigest digest;
    collective::ReducedOsts osts;
    std::vector<collective::RankShape> shapes;
    std::optional<NodeShares> nodes = {};  ///< of several nodes
  };
  struct OfPlan {
    PlanUse use;  ///< of rank 0
    collective::Spread bytes;
    collective::Spread nanoseconds;
  };
  struct OfPlainCall {
    PlainCall call = PlainCall::set_view;
    collective::Spread calls;
    collective::Spread nanoseconds;
  };
  std::vector<OfKind> kinds;             ///< kinds of calls that any rank made
  std::vector<OfPlainCall> plain_calls;  ///< calls that any rank made
  std::vector<OfPlan> plans;
  std::int64_t other_plan_calls = 0;
  collective::Spread total_nanoseconds;  ///< FileProfile::total_nanoseconds()
  collective::Spread open_nanoseconds;
  collective::Spread late_open_nanoseconds;
  collective::Spread close_nanoseconds;
  collective::RankTimelines timelines;
  std::int64_t open_for_nanoseconds = 0;  ///< from the end of the open to the begin of the close
};

/// Collective. The result is valid on rank 0 only. Most of the reduction counts as part of the
/// close, which began at `close_begin` (monotonic_nanoseconds()).
collective::Task<ReducedProfile> reduce_profile(collective::Transport& transport,
                                                FileProfile& profile, std::int64_t close_begin);

/// The hints that were set: {name: {"value": ..., "from": ...}}.
[[nodiscard]] std::string set_hints_json(const Hints& hints);

/// The other contents of a line.
struct ReportedFile {
  std::string path;
  plan::NodeMap nodes = {};  ///< of the ranks that opened it
  Hints hints;
  std::string machine = {};  ///< FoundMachine::origin; empty: plans were not compared
  std::string job;           ///< job id of the batch system; "": none
  std::string run;           ///< run_name()
  MpiFacts mpi;
  std::vector<std::string> program;  ///< with its arguments
  std::vector<std::string> hosts;    ///< of the ranks, at most HostNames::hosts_max
  std::string file_system;           ///< its name
  std::string mode;                  ///< "read", "write" or "read-write"
  std::shared_ptr<const plan::StripeMap> stripes = nullptr;  ///< null: not striped, or unknown
  std::string layout_origin = {};                            ///< a word of LayoutOrigin
  std::string signature = {};  ///< the first bytes of the file at its close, in hexadecimal
  std::int64_t opened_at_nanoseconds = 0;  ///< since 1970
  std::int64_t closed_at_nanoseconds = 0;
};

/// One line of JSON with its newline. Only the hints and the path make its size unbounded.
[[nodiscard]] std::string report_line(const ReportedFile& file, const ReducedProfile& profile);

/// Prints once per process, on standard error, that the line of `file` was not written and why.
/// Only rank 0 calls it. Successful MPI calls print nothing else; without this line a lost report
/// would look like a program that Nacre did not serve. Thread-safe.
void warn_of_lost_report(const std::string& file, const Error& error);

/// Prints on standard error that the program has not closed these files, so that the report has no
/// line of them. Prints nothing for no file.
void warn_of_open_files(const std::vector<std::string>& files);

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_REPORT_H_
