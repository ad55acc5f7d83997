// SharedBandwidth: transfers that share a rate, such as the copies of the ranks of a node.
#ifndef NACRE_SIM_TIME_SHARED_BANDWIDTH_H_
#define NACRE_SIM_TIME_SHARED_BANDWIDTH_H_

#include <cstdint>
#include <map>
#include <utility>

#include "sim/time/busy_timeline.h"
#include "sim/time/scheduler.h"

namespace nacre::sim {

/// Processor sharing: all transfers of a moment progress at the same rate. A transfer costs
/// O(log transfers).
class SharedBandwidth {
 public:
  /// Bytes per second; 0: unlimited.
  struct Rates {
    double each = 0;  ///< of one transfer
    double all = 0;   ///< of all together
  };
  SharedBandwidth(Scheduler& scheduler, const Rates& rates)
      : scheduler_(scheduler), rates_(rates) {}

  /// Blocks the fiber that runs for the time of the transfer.
  void transfer(std::int64_t bytes);
  /// When there was a transfer.
  [[nodiscard]] const BusyTimeline& busy_times() const { return busy_; }

 private:
  void progress();
  void end_finished();
  void schedule_end();
  /// Bytes per nanosecond of each transfer.
  [[nodiscard]] double rate() const;

  Scheduler& scheduler_;
  Rates rates_;
  double progress_bytes_ = 0;  // of each transfer since the begin
  SimulatedTime since_ = 0;    // when progress_bytes_ was computed
  /// The transfers, by the progress at which they end and the order in which they came.
  std::map<std::pair<double, std::uint64_t>, FiberQueue> transfers_;
  std::uint64_t next_order_ = 0;
  std::uint64_t scheduled_ = 0;  // number of the last scheduled end; earlier ones do not count
  BusyTimeline busy_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_SHARED_BANDWIDTH_H_
