// What a plan says to people: the names and sentences of reports, in one table.
#ifndef NACRE_PLAN_DECIDE_PLAN_WORDS_H_
#define NACRE_PLAN_DECIDE_PLAN_WORDS_H_

#include <string_view>

#include "plan/call/collective_plan.h"

namespace nacre::plan {

[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::string_view name_of(DomainPattern pattern);
[[nodiscard]] std::string_view name_of(WriteLocks locks);

/// A reason's name, what it means as a sentence, and how a user would have it otherwise.
struct ReasonWords {
  std::string_view name;
  std::string_view because;
  std::string_view otherwise;
};
[[nodiscard]] ReasonWords words_of(PlanReason reason);

/// What otherwise would be is cb_nodes, always.
struct CountWords {
  std::string_view name;
  std::string_view because;
};
[[nodiscard]] CountWords words_of(CountReason reason);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_PLAN_WORDS_H_
