// Counters: the traffic of each OST and of each node.
#ifndef NACRE_SIM_LUSTRE_COUNTERS_H_
#define NACRE_SIM_LUSTRE_COUNTERS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan/direction.h"
#include "sim/lustre/request_model.h"

namespace nacre::sim {

/// The traffic of one OST or of one node.
struct Traffic {
  std::int64_t bytes_written = 0;
  std::int64_t bytes_read = 0;
  std::int64_t requests = 0;
  std::int64_t lock_grants = 0;
  std::int64_t lock_callbacks = 0;    ///< revocations because another node needed the lock
  std::int64_t queue_us = 0;          ///< OST only: time that requests waited for a thread
  std::set<std::int32_t> peers = {};  ///< nodes that sent requests to an OST; OSTs of a node
};

/// Not thread-safe.
class Counters {
 public:
  explicit Counters(const Machine& machine)
      : osts_(static_cast<std::size_t>(machine.osts)),
        nodes_(static_cast<std::size_t>(machine.nodes)) {}

  void count_request(const Rpc& rpc, plan::Direction direction);
  void count_grant(std::int32_t node, std::int32_t ost);
  void count_callback(std::int32_t node, std::int32_t ost);
  /// Of all requests so far.
  [[nodiscard]] std::int64_t bytes() const;
  void set_queue_time(std::int32_t ost, SimulatedTime queued);
  /// {"osts": {"bytes_written": [...], ...}, "nodes": {...}}: a number for each OST and node.
  [[nodiscard]] std::string json() const;

 private:
  [[nodiscard]] Traffic& of_ost(std::int32_t ost) { return osts_[static_cast<std::size_t>(ost)]; }
  [[nodiscard]] Traffic& of_node(std::int32_t node) {
    return nodes_[static_cast<std::size_t>(node)];
  }

  std::vector<Traffic> osts_;
  std::vector<Traffic> nodes_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_COUNTERS_H_
