#include "plan/decide/ost_shares.h"

#include <algorithm>

#include "base/rounding.h"

namespace nacre::plan {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

OstShares::OstShares(const Division& division)
    : of_(division),
      sets_(std::min(division.aggregators, divide_up(division.slots, division.slots_each_min))) {}

std::int64_t OstShares::set_of(std::int64_t aggregator) const {
  return aggregator * sets_ / of_.aggregators;
}

std::int64_t OstShares::first_of(std::int64_t set) const {
  return divide_up(set * of_.aggregators, sets_);
}

std::int64_t OstShares::node_of(std::int64_t aggregator) const {
  return of_.keeps_sets ? set_of(aggregator) * of_.nodes / sets_
                        : aggregator * of_.nodes / of_.aggregators;
}

double OstShares::share_of(std::int64_t aggregator) const {
  const std::int64_t set = set_of(aggregator);
  const std::int64_t slots = of_.slots / sets_ + (set < of_.slots % sets_ ? 1 : 0);
  return ratio(slots, of_.slots) / static_cast<double>(first_of(set + 1) - first_of(set));
}

double OstShares::of_fullest_aggregator() const {
  double fullest = 0;
  for (std::int64_t set = 0; set < sets_; ++set) {
    fullest = std::max(fullest, share_of(first_of(set)));
  }
  return fullest;
}

double OstShares::of_fullest_node() const {
  if (of_.aggregators % sets_ == 0 && of_.slots % sets_ == 0) {
    const std::int64_t units = of_.keeps_sets ? sets_ : of_.aggregators;
    return ratio(divide_up(units, std::min(units, of_.nodes)), units);
  }
  double fullest = 0;
  double share = 0;
  for (std::int64_t i = 0; i < of_.aggregators; ++i) {
    if (i > 0 && node_of(i) != node_of(i - 1)) share = 0;
    share += share_of(i);
    fullest = std::max(fullest, share);
  }
  return fullest;
}

std::int64_t OstShares::nodes_of_a_set() const {
  std::int64_t most = 1;
  for (std::int64_t set = 0; !of_.keeps_sets && set < sets_; ++set) {
    most = std::max(most, node_of(first_of(set + 1) - 1) - node_of(first_of(set)) + 1);
  }
  return most;
}

}  // namespace nacre::plan
