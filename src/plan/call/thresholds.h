// Thresholds: every measured constant that the choice of a plan goes by.
#ifndef NACRE_PLAN_CALL_THRESHOLDS_H_
#define NACRE_PLAN_CALL_THRESHOLDS_H_

#include <cstdint>

namespace nacre::plan {

/// Bytes unless a name says otherwise.
struct Thresholds {
  /// A rank moves its own runs of at least this length. A call costs about 2 us whatever its size
  /// and a copy runs at 4 to 10 GB/s (measured on tmpfs): from 32 KiB on, the call is less than a
  /// third of the cost, while an exchange adds at least one more copy.
  std::int64_t large_run_bytes = 32 << 10;
  /// Writing from memory runs of at least this length costs no more than writing from one run.
  std::int64_t large_memory_run_bytes = 4 << 10;

  /// The largest round, unless cb_buffer_size sets it.
  std::int64_t cycle_bytes_max = 4 << 20;
  /// Bytes that an aggregator keeps in flight: with a latency of 4 ms at 1 GB/s a server has 4 MB
  /// under way while the aggregator fills as many.
  std::int64_t in_flight_bytes = 8 << 20;
  /// Cycle buffers of an aggregator. A server is kept busy by three at least: the aggregator fills
  /// one, one is under way, one waits for its answer.
  std::int64_t cycle_buffer_count_min = 3;
  std::int64_t cycle_buffer_count_max = 8;

  /// Aggregators of one node, and of all nodes.
  std::int32_t aggregators_per_node_max = 8;
  std::int64_t aggregator_count_max = 1024;

  /// Cycle buffers that one round of all aggregators takes on a node, those of aggregators on other
  /// nodes included: a node gathers what it sends them. The second bound holds where
  /// cb_buffer_size asks for more.
  std::int64_t round_bytes_per_node_max = 64 << 20;
  std::int64_t requested_round_bytes_per_node_max = 256 << 20;
  /// A round between nodes is not cut below this.
  std::int64_t relayed_cycle_bytes_min = 64 << 10;
};

/// File systems with servers: a call crosses a network.
inline constexpr Thresholds remote_thresholds{};

/// Local file systems: a write costs a core's time, and the kernel admits one writer of a file at a
/// time while others spin (four writers: a quarter slower at four times the CPU time). Rounds stay
/// in the caches: with 8 aggregators on 2 cores on tmpfs, 256 and 512 KiB ran alike and 1 MiB a
/// tenth slower. The aggregator fills or empties one buffer while it moves the other.
inline constexpr Thresholds local_thresholds{.cycle_bytes_max = 256 << 10,
                                             .in_flight_bytes = 0,
                                             .cycle_buffer_count_min = 2,
                                             .cycle_buffer_count_max = 2,
                                             .aggregator_count_max = 32};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_THRESHOLDS_H_
