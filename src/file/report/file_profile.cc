#include "file/report/file_profile.h"

#include <algorithm>
#include <memory>

namespace nacre::file {
namespace {

using Groups = std::shared_ptr<const plan::RankGroups>;

bool are_same(const Groups& a, const Groups& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool is_same_plan(const PlanUse& a, const PlanUse& b) {
  plan::CollectivePlan moved = a.plan;
  moved.origin = b.plan.origin;
  moved.end = b.plan.end;
  moved.first_byte = b.plan.first_byte;
  return a.direction == b.direction && a.in_steps == b.in_steps && moved == b.plan &&
         are_same(a.groups, b.groups) && a.saturation_bytes == b.saturation_bytes;
}

}  // namespace

std::int64_t FileProfile::total_nanoseconds() const {
  std::int64_t total = open_nanoseconds + close_nanoseconds;
  for (const collective::Profile& profile : profiles_) total += profile.total_nanoseconds();
  for (const PlainCalls& calls : plain_calls_) total += calls.nanoseconds.get();
  return total;
}

PlanUse* FileProfile::note_plan(const PlanUse& call) {
  const auto found =
      std::ranges::find_if(plans_, [&](const PlanUse& use) { return is_same_plan(use, call); });
  if (found != plans_.end()) {
    found->calls += call.calls;
    found->bytes += call.bytes;
    found->nanoseconds += call.nanoseconds;
  } else if (plans_.size() < plans_max) {
    return &plans_.emplace_back(call);
  } else {
    other_plan_calls_ += call.calls;
  }
  return nullptr;
}

}  // namespace nacre::file
