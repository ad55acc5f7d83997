#include "plan/algorithms/rounds.h"

#include <algorithm>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/domains/file_domains.h"

namespace nacre::plan {
namespace {

/// What the OSTs of a region can read while a request waits for its answer.
std::int64_t bytes_of_latency(const CollectiveSettings& settings, const StripedRegion& region) {
  if (settings.machine == nullptr) return 0;
  const double seconds = static_cast<double>(settings.machine->ost_latency_us) * 1e-6;
  const auto bandwidth = static_cast<double>(settings.machine->reading_ost().bandwidth);
  return saturating_multiply<std::int64_t>(region.slot_count(),
                                           static_cast<std::int64_t>(seconds * bandwidth));
}

}  // namespace

std::int64_t wanted_cycle_bytes(const CollectiveSettings& settings, const Extent& bytes) {
  const std::int64_t cycle =
      settings.cycle_bytes > 0 ? settings.cycle_bytes : settings.thresholds().cycle_bytes_max;
  const std::int64_t alignment = settings.alignment_of(bytes);
  return cycle < alignment ? cycle : round_down(cycle, alignment);
}

void divide_into_rounds(CollectivePlan& plan, const CollectiveSettings& settings) {
  if (settings.cycle_bytes > 0) return;
  const Thresholds& thresholds = settings.thresholds();
  const std::int64_t share = divide_up(plan.end - plan.origin, plan.aggregator_count);
  const std::int64_t alignment = settings.alignment_of({plan.origin, plan.end - plan.origin});
  const std::int64_t part = round_up(divide_up(share, thresholds.rounds_min), alignment);
  std::int64_t least = thresholds.cycle_bytes_min;
  if (plan.pattern != DomainPattern::even) least = std::max(least, plan.block_bytes);
  plan.cycle_bytes = std::clamp(part, std::min(least, plan.cycle_bytes), plan.cycle_bytes);
}

void limit_rounds_to_rows(CollectivePlan& plan, const CollectiveSettings& settings) {
  // Measured on the testbed only, whose kernel splits longer reads.
  constexpr std::int64_t shortest = 256 << 10;
  constexpr std::int64_t longest = 1 << 20;
  if (settings.cycle_bytes > 0) return;
  std::int64_t round = longest;
  const StripedRegion* const region =
      settings.main_region_of({plan.origin, plan.end - plan.origin});
  if (region != nullptr) {
    const std::int64_t meanwhile = bytes_of_latency(settings, *region) / plan.aggregator_count;
    round = std::max(region->row_bytes(), round_up(meanwhile, region->stripe_size));
  }
  plan.cycle_bytes = std::min(plan.cycle_bytes, std::clamp(round, shortest, longest));
}

void fit_rounds_to_domains(CollectivePlan& plan, const CollectiveSettings& settings) {
  plan.cycle_bytes = std::max(plan.cycle_bytes, divide_up(plan.block_bytes, round_count_max));
  plan.cycle_bytes = std::min(plan.cycle_bytes, plan.block_bytes);
  plan.round_count = domains_of(plan, settings).round_count();
}

void fit_rounds_to_stripes(CollectivePlan& plan, const CollectiveSettings& settings) {
  const std::int64_t range = plan.end - plan.origin;
  const std::int64_t share = round_up(divide_up(range, plan.aggregator_count), plan.block_bytes);
  plan.cycle_bytes = std::max(plan.cycle_bytes, divide_up(range, round_count_max));
  plan.cycle_bytes = std::min(plan.cycle_bytes, share);
  if (plan.cycle_bytes > plan.block_bytes) {
    plan.cycle_bytes = round_down(plan.cycle_bytes, plan.block_bytes);
  }
  plan.round_count = domains_of(plan, settings).round_count();
}

void set_cycle_buffers(CollectivePlan& plan, const CollectiveSettings& settings) {
  const Thresholds& thresholds = settings.thresholds();
  std::int64_t count = settings.cycle_buffer_count;
  if (count == 0) {
    count = std::clamp(divide_up(thresholds.in_flight_bytes, plan.cycle_bytes),
                       thresholds.cycle_buffer_count_min, thresholds.cycle_buffer_count_max);
    count = std::min(count, std::max<std::int64_t>(2, plan.round_count));
  }
  plan.cycle_buffer_count = checked_cast<std::uint8_t>(count);
}

}  // namespace nacre::plan
