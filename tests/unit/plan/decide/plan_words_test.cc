// Every algorithm and every reason has a text.
#include "plan/decide/plan_words.h"

#include <set>
#include <string_view>

#include <doctest/doctest.h>

namespace nacre::plan {

TEST_CASE("every reason has a unique name, a sentence and a way to change the decision") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(PlanReason::cached); ++i) {
    const ReasonWords words = words_of(static_cast<PlanReason>(i));
    CHECK(names.insert(words.name).second);
    CHECK(words.because.ends_with('.'));
    CHECK(words.otherwise.ends_with('.'));
  }
}

TEST_CASE("every reason for a number of aggregators has a name of its own and a clause") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(CountReason::cost); ++i) {
    const CountWords words = words_of(static_cast<CountReason>(i));
    CHECK(names.insert(words.name).second);
    CHECK_FALSE(words.because.ends_with('.'));
  }
}

TEST_CASE("algorithms are called as the hint calls them") {
  CHECK(name_of(Algorithm::automatic) == "automatic");
  CHECK(name_of(Algorithm::direct) == "direct");
  CHECK(name_of(Algorithm::two_phase) == "two_phase");
  CHECK(name_of(Algorithm::dynamic_segmentation) == "dynamic_segmentation");
  CHECK(name_of(Algorithm::static_segmentation) == "static_segmentation");
}

}  // namespace nacre::plan
