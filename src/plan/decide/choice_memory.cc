#include "plan/decide/choice_memory.h"

#include <algorithm>
#include <span>

namespace nacre::plan {

CallShape shape_of(const AccessSummary& summary, const CollectiveSettings& settings,
                   const Participants& participants) {
  CallShape shape{summary, participants, settings.stripes.get()};
  shape.summary.bounds.offset = 0;
  shape.summary.node_bounds.offset = 0;
  return shape;
}

const Choice* ChoiceMemory::find(const CallShape& shape) const {
  const auto kept = std::span(entries_).first(count_);
  const auto found = std::ranges::find(kept, shape, &Entry::shape);
  return found == kept.end() ? nullptr : &found->choice;
}

void ChoiceMemory::keep(const CallShape& shape, const Choice& choice) {
  entries_[next_] = {shape, choice};
  next_ = (next_ + 1) % entries_.size();
  count_ = std::min(count_ + 1, entries_.size());
}

}  // namespace nacre::plan
