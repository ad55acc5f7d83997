// Job: a simulated MPI job: ranks that run a program over the file floor, in virtual time.
#ifndef NACRE_SIM_JOB_JOB_H_
#define NACRE_SIM_JOB_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "collective/task/task.h"
#include "file/open_file.h"
#include "machine/machine.h"
#include "plan/nodes/node_map.h"
#include "sim/files/file_system.h"
#include "sim/network/network.h"
#include "sim/time/core_queue.h"
#include "sim/time/scheduler.h"

namespace nacre::sim {

struct JobSettings {
  machine::Machine machine;  ///< its count of nodes is that of the job's nodes
  plan::NodeMap nodes;
  bool phantom = false;                            ///< files and buffers have no bytes
  std::int64_t buffered_bytes_max = 16 << 10;      ///< NetworkOptions::buffered_bytes_max
  std::function<SimulatedTime()> delay = nullptr;  ///< as in NetworkOptions
  std::function<bool(int rank, std::int64_t bytes)> refuses_memory = nullptr;  ///< the same
  /// For memory that ranks of a node share, and phantom buffers.
  std::int64_t address_space_bytes = std::int64_t{16} << 30U;
  std::size_t stack_bytes = std::size_t{256} << 10U;  ///< of a rank
  /// Puts faults in front of the store of a rank. Null: no faults.
  std::function<std::shared_ptr<store::Store>(std::shared_ptr<store::Store> store, int rank)>
      with_faults = nullptr;
};

/// What a rank of the program works with.
class RankOfJob;

/// One job at a time in a process: the clock of the process shows the job's time as long as it
/// exists. Equal jobs run equally.
class Job {
 public:
  /// ErrorClass::no_mem: too little address space.
  [[nodiscard]] static Result<std::unique_ptr<Job>> make(JobSettings settings);

  /// The body of the program, on each rank. It may block.
  using Program = std::function<void(RankOfJob&)>;
  /// Runs `program` on all ranks. Returns an error if a rank has not ended before `time_max`, or
  /// ranks wait for each other, or messages do not match. The job is of no use then.
  [[nodiscard]] Status run(const Program& program, SimulatedTime time_max);

  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Network& network() { return network_; }
  [[nodiscard]] FileSystem& files() { return files_; }
  [[nodiscard]] const machine::Machine& machine() const { return machine_; }
  /// The store of the process of a rank.
  [[nodiscard]] std::shared_ptr<store::Store> make_store(int rank);

 private:
  Job(JobSettings settings, store::ReservedMemory memory);

  const JobSettings settings_;
  machine::Machine machine_;
  Scheduler scheduler_;
  ClockReplacement clock_;
  std::optional<CoreQueue> cores_;  // of the computer that emulates all nodes, if one does
  Network network_;
  FileSystem files_;
};

class RankOfJob {
 public:
  RankOfJob(Job& job, int rank)
      : job_(job),
        rank_(rank),
        store_(job.make_store(rank)),
        transport_(job.network().make_transport(rank)) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] Job& job() { return job_; }
  [[nodiscard]] SimulatedTime now() const { return job_.scheduler().now(); }

  /// Runs a collective task of all ranks to its end.
  template <class T>
  [[nodiscard]] T run(collective::Task<T> task) {
    return collective::run_to_end(std::move(task), *transport_);
  }
  /// A collective task that the rank drives while it does something else.
  template <class T>
  [[nodiscard]] std::unique_ptr<collective::Operation<T>> start(collective::Task<T> task) {
    return std::make_unique<collective::Operation<T>>(std::move(task), *transport_);
  }
  /// Opens a file on all ranks. `hints`: as an MPI_Info.
  [[nodiscard]] Result<std::shared_ptr<file::OpenFile>> open(const std::string& path,
                                                             const file::AccessMode& mode,
                                                             const file::InfoPairs& hints);
  /// Deletes a file, as MPI_File_delete: not collective.
  [[nodiscard]] Status remove(const std::string& path) { return store_->remove(path); }
  /// Returns when all ranks have called it.
  void barrier();

 private:
  Job& job_;
  int rank_;
  std::shared_ptr<store::Store> store_;
  std::unique_ptr<collective::Transport> transport_;
  std::uint64_t open_count_ = 0;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_JOB_JOB_H_
