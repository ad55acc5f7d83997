#include "file/report/file_profile.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace nacre::file {

std::int64_t FileProfile::total_nanoseconds() const {
  std::int64_t total = open_nanoseconds + close_nanoseconds;
  for (const collective::Profile& profile : profiles_) total += profile.total_nanoseconds();
  for (const PlainCalls& calls : plain_calls_) total += calls.nanoseconds.get();
  return total;
}

std::int64_t PlanUse::nanoseconds() const {
  // The counters of processors may differ.
  const double positive = static_cast<double>(std::max<std::int64_t>(ticks, 0));
  return std::llround(positive * nanoseconds_per_tick());
}

PlanUse* FileProfile::note_other_plan(const PlannedCall& call) {
  const auto found =
      std::ranges::find_if(plans_, [&](const PlanUse& use) { return use.is_of(call); });
  if (found != plans_.end()) {
    found->add(call);
    last_plan_ = &*found;
    return last_plan_;
  }
  if (plans_.size() == plans_max) {
    ++other_plan_calls_;
    return nullptr;
  }
  last_plan_ = &plans_.emplace_back(PlanUse{.direction = call.direction,
                                            .plan = call.plan,
                                            .in_steps = call.in_steps,
                                            .groups = call.groups,
                                            .summary = call.summary,
                                            .saturation_bytes = call.saturation_bytes,
                                            .calls = 1,
                                            .bytes = call.bytes,
                                            .ticks = call.ticks});
  return last_plan_;
}

}  // namespace nacre::file
