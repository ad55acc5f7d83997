// Thresholds: the measured constants that decide a plan.
#ifndef NACRE_PLAN_CALL_THRESHOLDS_H_
#define NACRE_PLAN_CALL_THRESHOLDS_H_

#include <cstdint>

namespace nacre::plan {

/// In bytes unless a name says otherwise.
struct Thresholds {
  /// A rank accesses runs of at least this length by itself. A call costs about 2 us at any size, a
  /// copy runs at 4 to 10 GB/s (measured on tmpfs): from 32 KiB on the call is less than a third of
  /// the cost, and an exchange adds at least one copy.
  std::int64_t large_run_bytes = 32 << 10;

  /// The largest round, unless cb_buffer_size sets it.
  std::int64_t cycle_bytes_max = 4 << 20;
  /// An aggregator has at least this many rounds, so that the OSTs work while it gathers or hands
  /// out another one, unless rounds become shorter than cycle_bytes_min or a stripe. On the testbed
  /// 16 rounds write 32 MiB to 8 OSTs at 49 MiB/s, 4 rounds at 42 and 1 round at 39. Reads by one
  /// thread take about as long in 2 as in 16 rounds.
  std::int64_t rounds_min = 16;
  std::int64_t cycle_bytes_min = 256 << 10;
  /// Bytes that an aggregator keeps in flight. With a latency of 4 ms and 1 GB/s a server has 4 MB
  /// in flight while the aggregator fills another 4 MB.
  std::int64_t in_flight_bytes = 8 << 20;
  /// Cycle buffers of an aggregator. At least three keep a server busy: the aggregator fills one,
  /// one is in flight, one waits for its answer.
  std::int64_t cycle_buffer_count_min = 3;
  std::int64_t cycle_buffer_count_max = 8;

  /// Aggregators of one node, and of all nodes.
  std::int32_t aggregators_per_node_max = 8;
  std::int64_t aggregator_count_max = 1024;

  /// Bytes of the cycle buffers of one round on a node. They include buffers for aggregators on
  /// other nodes, in which the node gathers its messages. The second bound holds if cb_buffer_size
  /// is set.
  std::int64_t round_bytes_per_node_max = 64 << 20;
  std::int64_t requested_round_bytes_per_node_max = 256 << 20;
  /// The smallest round that these bounds may cause.
  std::int64_t relayed_cycle_bytes_min = 64 << 10;
};

/// File systems with servers: a call crosses a network.
inline constexpr Thresholds remote_thresholds{};

/// Local file systems: a write takes the time of a core, and the kernel admits one writer per file
/// while other writers spin (four writers: a quarter slower, four times the CPU time). Rounds fit
/// the caches: with 8 aggregators on 2 cores on tmpfs, 256 and 512 KiB were equally fast and 1 MiB
/// a tenth slower. The aggregator fills or empties one buffer while it writes or reads the other.
inline constexpr Thresholds local_thresholds{.cycle_bytes_max = 256 << 10,
                                             .rounds_min = 1,
                                             .cycle_bytes_min = 256 << 10,
                                             .in_flight_bytes = 0,
                                             .cycle_buffer_count_min = 2,
                                             .cycle_buffer_count_max = 2,
                                             .aggregator_count_max = 32};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_THRESHOLDS_H_
