#include "file/file_profile.h"

#include <algorithm>

namespace nacre::file {
namespace {

bool is_same_plan(const PlanUse& a, const PlanUse& b) {
  return a.direction == b.direction && a.plan.algorithm == b.plan.algorithm &&
         a.plan.reason == b.plan.reason && a.plan.aggregator_count == b.plan.aggregator_count &&
         a.plan.block_bytes == b.plan.block_bytes && a.plan.cycle_bytes == b.plan.cycle_bytes &&
         a.plan.cycle_buffer_count == b.plan.cycle_buffer_count &&
         a.plan.round_count == b.plan.round_count;
}

}  // namespace

void FileProfile::note_plan(const PlanUse& call) {
  const auto found =
      std::ranges::find_if(plans_, [&](const PlanUse& use) { return is_same_plan(use, call); });
  if (found != plans_.end()) {
    found->calls += call.calls;
    found->bytes += call.bytes;
    found->nanoseconds += call.nanoseconds;
  } else if (plans_.size() < plans_max) {
    plans_.push_back(call);
  } else {
    other_plan_calls_ += call.calls;
  }
}

}  // namespace nacre::file
