// The names and sentences of a plan in reports, in the order of their enumerations.
#ifndef NACRE_PLAN_DECIDE_PLAN_WORDS_H_
#define NACRE_PLAN_DECIDE_PLAN_WORDS_H_

#include <string_view>

#include "plan/call/collective_plan.h"

namespace nacre::plan {

[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::string_view name_of(DomainPattern pattern);
[[nodiscard]] std::string_view name_of(WriteLocks locks);

/// A rule's name, the sentence that explains it, and what the user can do to change the choice.
struct ReasonWords {
  std::string_view name;
  std::string_view because;
  std::string_view otherwise;
};
[[nodiscard]] ReasonWords words_of(PlanReason reason);

/// Only cb_nodes changes the number of aggregators, so there is no `otherwise`.
struct CountWords {
  std::string_view name;
  std::string_view because;
};
[[nodiscard]] CountWords words_of(CountReason reason);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_PLAN_WORDS_H_
