// What a report says of the job: its program, batch job, MPI and hosts.
#ifndef NACRE_FILE_REPORT_JOB_FACTS_H_
#define NACRE_FILE_REPORT_JOB_FACTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hints.h"

namespace nacre::file {

/// Of the MPI that the process uses.
struct MpiFacts {
  std::string version = {};           ///< of Nacre
  std::string mpi = {};               ///< as MPI_Get_library_version says, its first line
  std::int64_t world_rank = 0;        ///< of this process in MPI_COMM_WORLD
  std::int64_t world_rank_count = 0;  ///< 0: the program uses only Sessions
};

/// The job id from the variables of Slurm, PBS, LSF or Flux; "" if there is none.
[[nodiscard]] std::string job_name(const Environment& environment = process_environment());

/// A name that the files of one launch have in common, and of no other launch: NACRE_RUN, which
/// `nacre run` sets, otherwise the batch job and its step, otherwise the launcher's process on this
/// node.
[[nodiscard]] std::string run_name(const Environment& environment = process_environment());

/// Names of hosts, at most `hosts_max`, each shortened to 63 characters. Trivially copyable.
struct HostNames {
  static constexpr std::size_t hosts_max = 32;
  using Name = std::array<char, 64>;

  std::int32_t count = 0;
  std::array<Name, hosts_max> names{};

  void add(const Name& name);
  [[nodiscard]] std::vector<std::string> sorted() const;
};

/// The host of this process.
[[nodiscard]] HostNames::Name own_host();

/// Collective. The hosts of the ranks; the result is valid on rank 0 only.
collective::Task<HostNames> gather_hosts(collective::Transport& transport);

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_JOB_FACTS_H_
