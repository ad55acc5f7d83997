// CostModel: predicts the time of a collective access under a plan, from the figures of a machine.
#ifndef NACRE_PLAN_DECIDE_COST_MODEL_H_
#define NACRE_PLAN_DECIDE_COST_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/collective_plan.h"

namespace nacre::plan {

/// What a call keeps busy.
enum class Resource : std::uint8_t {
  cores,     ///< of the busiest node: copies and pieces
  memory,    ///< of the busiest node
  messages,  ///< of the busiest node, to and from other nodes
  client,    ///< the busiest process that accesses the file
  link,      ///< of the busiest node, to the servers; with the messages that share it
  uplink,
  server,
  ost,
  locks,      ///< transfers of locks between nodes, on the busiest OST
  agreement,  ///< messages and requests that nothing else overlaps
};
inline constexpr std::array<std::string_view, 10> resource_names{
    "cores",  "memory", "messages", "client", "link",
    "uplink", "server", "ost",      "locks",  "agreement"};
static_assert(resource_names.size() == static_cast<std::size_t>(Resource::agreement) + 1);

/// Of the whole call, in seconds.
struct Prediction {
  double seconds = 0;
  std::array<double, resource_names.size()> busy{};  ///< by Resource

  [[nodiscard]] double& of(Resource resource) { return busy[static_cast<std::size_t>(resource)]; }
  [[nodiscard]] double of(Resource resource) const {
    return busy[static_cast<std::size_t>(resource)];
  }
  [[nodiscard]] Resource bottleneck() const;
  /// Of the busiest of links, uplinks, servers and OSTs.
  [[nodiscard]] double of_storage() const;
  /// The time of the call if these are all slower by `factor`.
  [[nodiscard]] double seconds_on_slower_storage(double factor) const;
};

/// Where a call finds the bytes.
enum class BytesIn : std::uint8_t {
  servers,
  caches,  ///< of the nodes of the aggregators
};

/// `plan` is complete, or that of segmentation before the groups are known.
/// `inputs.settings.machine` is not null.
///
/// The ranks gather data for a round while the file system moves the round before it, so the call
/// takes as long as the busier of the two, plus one round of the other. A resource of the file
/// system is as busy as its most loaded part.
[[nodiscard]] Prediction predict(const CollectivePlan& plan, const PlanInputs& inputs,
                                 BytesIn place = BytesIn::servers);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_COST_MODEL_H_
