#include "plan/nodes/grouping.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// Ranks in an order, cut into groups.
struct Cut {
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> begins;
};

Cut cut_by_accesses(std::span<const RankLoad> loads) {
  Cut cut;
  cut.order.resize(loads.size());
  std::iota(cut.order.begin(), cut.order.end(), 0);
  const auto load_of = [&](std::int32_t rank) { return loads[static_cast<std::size_t>(rank)]; };
  // Ranks without data come last, so that they never separate neighbours.
  const auto key = [&](std::int32_t rank) {
    const RankLoad load = load_of(rank);
    return std::pair(load.bytes == 0 ? largest : load.bounds.offset, load.bounds.end());
  };
  std::ranges::stable_sort(cut.order, std::less<>(), key);
  std::int64_t end = 0;
  for (std::size_t place = 0; place < cut.order.size(); ++place) {
    const RankLoad load = load_of(cut.order[place]);
    const bool joins = place > 0 && (load.bytes == 0 || load.bounds.offset < end);
    if (!joins) cut.begins.push_back(checked_cast<std::int32_t>(place));
    end = std::max(end, load.bounds.end());
  }
  return cut;
}

/// Rows of `length` ranks.
Cut cut_rows(std::size_t rank_count, std::int32_t length) {
  Cut cut;
  cut.order.resize(rank_count);
  std::iota(cut.order.begin(), cut.order.end(), 0);
  for (std::int64_t begin = 0; begin < std::ssize(cut.order); begin += length) {
    cut.begins.push_back(checked_cast<std::int32_t>(begin));
  }
  return cut;
}

bool is_grid_of(std::span<const std::int32_t> grid, std::size_t rank_count) {
  std::int64_t ranks = grid.empty() ? 0 : 1;
  for (const std::int32_t length : grid) {
    if (length < 1 || ranks > static_cast<std::int64_t>(rank_count) / length) return false;
    ranks *= length;
  }
  return ranks == static_cast<std::int64_t>(rank_count);
}

Cut cut_by_lists(std::span<const std::vector<std::int32_t>> lists, std::size_t rank_count) {
  Cut cut;
  std::vector<bool> taken(rank_count, false);
  const auto take = [&](std::int32_t rank) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= rank_count) return;
    if (taken[static_cast<std::size_t>(rank)]) return;
    taken[static_cast<std::size_t>(rank)] = true;
    cut.order.push_back(rank);
  };
  const auto begin_group = [&] {
    cut.begins.push_back(checked_cast<std::int32_t>(cut.order.size()));
  };
  for (const std::vector<std::int32_t>& list : lists) {
    begin_group();
    for (const std::int32_t rank : list) take(rank);
    if (cut.begins.back() == std::ssize(cut.order)) cut.begins.pop_back();
  }
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    if (taken[rank]) continue;
    begin_group();
    take(checked_cast<std::int32_t>(rank));
  }
  return cut;
}

Cut cut_initially(std::span<const RankLoad> loads, const InitialGroups& initial) {
  switch (initial.source) {
    case InitialGroups::Source::accesses:
      break;
    case InitialGroups::Source::grid:
      if (!is_grid_of(initial.grid, loads.size())) break;
      return cut_rows(loads.size(), initial.grid.back());
    case InitialGroups::Source::lists:
      return cut_by_lists(initial.lists, loads.size());
    case InitialGroups::Source::each:
      return cut_rows(loads.size(), 1);
  }
  return cut_by_accesses(loads);
}

/// Joins and splits the groups of a cut.
class Refinement {
 public:
  Refinement(std::span<const RankLoad> loads, Cut cut)
      : loads_(loads), cut_(std::move(cut)), sums_(cut_.order.size() + 1) {
    for (std::size_t place = 0; place < cut_.order.size(); ++place) {
      const std::int64_t bytes = load_at(place).bytes;
      sums_[place + 1] = saturating_add(sums_[place], bytes);
    }
  }

  RankGroups into(const GroupTarget& target) {
    const std::size_t ranks = cut_.order.size();
    if (target.count > 0) {
      split(0, ranks, target.count);
    } else {
      std::int64_t saturation = std::max<std::int64_t>(1, target.saturation_bytes);
      if (target.count_max > 0) {
        saturation = std::max(saturation, sums_[ranks] / target.count_max + 1);
      }
      split_large(saturation);
      join_small(saturation);
      if (target.count_max > 0 && std::ssize(begins_) > target.count_max) {
        begins_.clear();
        split(0, ranks, target.count_max);
      }
    }
    return RankGroups(cut_.order, begins_);
  }

 private:
  struct Places {
    std::size_t first;
    std::size_t last;
  };
  [[nodiscard]] const RankLoad& load_at(std::size_t place) const {
    return loads_[static_cast<std::size_t>(cut_.order[place])];
  }
  [[nodiscard]] std::int64_t bytes_of(std::size_t begin, std::size_t end) const {
    return sums_[end] - sums_[begin];
  }

  /// The places of a group.
  [[nodiscard]] Places group_at(std::span<const std::int32_t> begins, std::size_t group) const {
    const bool is_last = group + 1 == begins.size();
    return {static_cast<std::size_t>(begins[group]),
            is_last ? cut_.order.size() : static_cast<std::size_t>(begins[group + 1])};
  }

  void split_large(std::int64_t saturation) {
    for (std::size_t group = 0; group < cut_.begins.size(); ++group) {
      const auto [begin, end] = group_at(cut_.begins, group);
      split(begin, end, aggregators_for(bytes_of(begin, end), saturation));
    }
  }

  /// Into `count` groups, or as many as there are ranks.
  void split(std::size_t begin, std::size_t end, std::int64_t count) {
    const auto parts = static_cast<std::size_t>(
        std::clamp<std::int64_t>(count, 1, checked_cast<std::int64_t>(end - begin)));
    std::size_t last = begin;
    begins_.push_back(checked_cast<std::int32_t>(begin));
    for (std::size_t part = 1; part < parts; ++part) {
      last = place_to_cut({last + 1, end - (parts - part)}, {begin, end}, part, parts);
      begins_.push_back(checked_cast<std::int32_t>(last));
    }
  }

  /// A place of `allowed` that leaves `part` of `parts` of the bytes of `group` before it. Of the
  /// places that miss this by at most an eighth of a part, the place with the widest gap between
  /// the first bytes of its neighbours.
  [[nodiscard]] std::size_t place_to_cut(Places allowed, Places group, std::size_t part,
                                         std::size_t parts) const {
    const double share =
        static_cast<double>(bytes_of(group.first, group.last)) / static_cast<double>(parts);
    const double wanted =
        static_cast<double>(sums_[group.first]) + share * static_cast<double>(part);
    const auto miss = [&](std::size_t place) {
      return std::abs(static_cast<double>(sums_[place]) - wanted);
    };
    if (share == 0) {
      const std::size_t even = group.first + (group.last - group.first) * part / parts;
      return std::clamp(even, allowed.first, allowed.last);
    }
    const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(allowed.first);
    const auto end = sums_.begin() + static_cast<std::ptrdiff_t>(allowed.last) + 1;
    const auto low = std::lower_bound(begin, end, wanted - share / 8);
    std::size_t best = std::min(static_cast<std::size_t>(low - sums_.begin()), allowed.last);
    if (best > allowed.first && miss(best - 1) < miss(best)) --best;
    for (std::size_t place = best + 1; place <= allowed.last && miss(place) <= share / 8; ++place) {
      const bool wider = gap_before(place) > gap_before(best);
      const bool nearer = gap_before(place) == gap_before(best) && miss(place) < miss(best);
      if (wider || nearer || miss(best) > share / 8) best = place;
    }
    return best;
  }

  [[nodiscard]] std::int64_t gap_before(std::size_t place) const {
    return load_at(place).bounds.offset - load_at(place - 1).bounds.offset;
  }

  /// Joins neighbours as long as their sum comes nearer to `saturation`. A small last group joins
  /// the group before it.
  void join_small(std::int64_t saturation) {
    std::vector<std::int32_t> joined;
    std::int64_t sum = 0;
    for (std::size_t group = 0; group < begins_.size(); ++group) {
      const auto [begin, end] = group_at(begins_, group);
      const std::int64_t bytes = bytes_of(begin, end);
      if (group == 0 || !belong_together(sum, bytes, saturation)) {
        joined.push_back(begins_[group]);
        sum = 0;
      }
      sum = saturating_add(sum, bytes);
    }
    if (joined.size() > 1 && sum < saturation / 2) joined.pop_back();
    begins_ = std::move(joined);
  }

  static bool belong_together(std::int64_t sum, std::int64_t bytes, std::int64_t saturation) {
    if (sum == 0 || bytes == 0) return true;
    const std::int64_t missing = saturation - sum;
    if (missing <= 0) return false;
    return bytes <= missing || bytes - missing <= missing;
  }

  std::span<const RankLoad> loads_;
  Cut cut_;
  std::vector<std::int64_t> sums_;  // bytes of the places before each
  std::vector<std::int32_t> begins_;
};

}  // namespace

std::int64_t aggregators_for(std::int64_t bytes, std::int64_t saturation_bytes) {
  return std::max<std::int64_t>(1, divide_up(bytes, saturation_bytes));
}

RankGroups group_ranks(std::span<const RankLoad> loads, const InitialGroups& initial,
                       const GroupTarget& target) {
  return Refinement(loads, cut_initially(loads, initial)).into(target);
}

RankGroups spread_over(const NodeMap& nodes, const RankGroups& groups) {
  std::vector<std::int32_t> aggregators_on(static_cast<std::size_t>(nodes.node_count()));
  std::vector<std::int32_t> firsts;  // places in the groups
  for (int group = 0; group < groups.count(); ++group) {
    const auto so_far = [&](int place) -> std::int32_t& {
      return aggregators_on[static_cast<std::size_t>(nodes.node_of(groups.rank_at(group, place)))];
    };
    int best = 0;
    for (int place = 1; place < groups.size_of(group) && so_far(best) > 0; ++place) {
      if (so_far(place) < so_far(best)) best = place;
    }
    ++so_far(best);
    firsts.push_back(best);
  }
  if (std::ranges::count(firsts, 0) == std::ssize(firsts)) return groups;
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> begins;
  for (int group = 0; group < groups.count(); ++group) {
    begins.push_back(checked_cast<std::int32_t>(order.size()));
    for (int place = 0; place < groups.size_of(group); ++place) {
      order.push_back(groups.rank_at(group, place));
    }
    const auto begin = order.begin() + begins.back();
    std::iter_swap(begin, begin + firsts[static_cast<std::size_t>(group)]);
  }
  return {order, begins};
}

}  // namespace nacre::plan
