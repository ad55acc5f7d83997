#include "plan/decide/write_locks.h"

#include <algorithm>

#include "plan/algorithms/algorithm_table.h"
#include "plan/domains/osts_touched.h"

namespace nacre::plan {
namespace {

/// Domains end at the ends of stripes, apart from the begin and the end of the plan.
bool keeps_pages_apart(const CollectivePlan& plan, const StripeMap& stripes) {
  constexpr std::int64_t page_bytes_max = 64 << 10;
  const bool by_stripes =
      plan.pattern == DomainPattern::stripes || plan.pattern == DomainPattern::osts;
  return by_stripes && std::ranges::all_of(stripes.regions(), [](const StripedRegion& region) {
           return region.stripe_size % page_bytes_max == 0 &&
                  region.extent.offset % page_bytes_max == 0;
         });
}

bool several_nodes_write(const Participants& participants) {
  return participants.direction == Direction::write && participants.node_count > 1;
}

bool knows_osts(const CollectiveSettings& settings) {
  return settings.stripes != nullptr && settings.stripes->names_osts();
}

/// Whether several aggregators, perhaps of several nodes, write to one OST.
bool writers_share_osts(const CollectivePlan& plan, const CollectiveSettings& settings,
                        const Participants& participants) {
  return several_nodes_write(participants) && knows_osts(settings) &&
         row_of(plan).domains == DomainsOf::file &&
         share_osts(domains_of(plan, settings), *settings.stripes);
}

/// The metadata server refuses locks that it must not widen, so that writes to its component fail.
bool is_partly_on_mdt(const StripeMap& stripes) {
  return std::ranges::any_of(
      stripes.regions(), [](const StripedRegion& region) { return region.osts.front() == on_mdt; });
}

/// What keeps aggregators that share OSTs from the locks `wish`; empty if nothing does.
std::string_view obstacle_of(WriteLocks wish, const CollectivePlan& plan, const StripeMap& stripes,
                             const Participants& participants) {
  if (wish != WriteLocks::group) {
    return is_partly_on_mdt(stripes)
               ? "the metadata server has a part of the file, and grants no such locks"
               : std::string_view();
  }
  if (!participants.may_hold_group_lock) {
    return "calls of other threads, or nonblocking and split calls, would wait for the group lock";
  }
  if (!keeps_pages_apart(plan, stripes)) {
    return "the domains of the aggregators do not end at stripes of whole pages (nacre_pattern)";
  }
  if (!stripes.knows_osts({0, layout_end_of_file})) {
    return "the group lock would create all objects of the file, of which some do not exist yet";
  }
  return {};
}

}  // namespace

WriteLocks write_locks_for(const CollectivePlan& plan, const CollectiveSettings& settings,
                           const Participants& participants) {
  const WriteLocks wish = settings.write_locks;
  if (wish == WriteLocks::usual || !writers_share_osts(plan, settings, participants)) {
    return WriteLocks::usual;
  }
  return obstacle_of(wish, plan, *settings.stripes, participants).empty() ? wish
                                                                          : WriteLocks::usual;
}

std::string_view write_locks_obstacle(const CollectivePlan& plan,
                                      const CollectiveSettings& settings,
                                      const Participants& participants) {
  const WriteLocks wish = settings.write_locks;
  if (wish == WriteLocks::usual || plan.write_locks == wish) return {};
  const bool is_alone =
      plan.reason == PlanReason::no_data || plan.reason == PlanReason::single_rank;
  if (is_alone || !several_nodes_write(participants)) return {};
  if (!knows_osts(settings)) return "the file has no OSTs, or they are unknown";
  if (row_of(plan).domains != DomainsOf::file) {
    return plan.reason == PlanReason::unordered_view
               ? "a view whose offsets decrease is written without aggregators"
               : "only the aggregators of two_phase have such locks (nacre_algorithm)";
  }
  if (!writers_share_osts(plan, settings, participants)) return {};
  return obstacle_of(wish, plan, *settings.stripes, participants);
}

}  // namespace nacre::plan
