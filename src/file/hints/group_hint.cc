#include "file/hints/group_hint.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/split.h"

namespace nacre::file {
namespace {

using Source = plan::InitialGroups::Source;

// More ranks than any job has; a mistyped number still needs only a few MiB.
constexpr std::int32_t rank_limit = 1 << 20;

std::optional<std::int32_t> number(std::string_view text) {
  const auto value = parse_number<std::int32_t>(text);
  return value && *value >= 0 && *value < rank_limit ? value : std::nullopt;
}

std::optional<std::vector<std::int32_t>> parse_grid(std::string_view text) {
  std::vector<std::int32_t> lengths;
  for (const std::string_view part : split(text, 'x')) {
    const auto length = number(part);
    if (!length || *length == 0) return std::nullopt;
    lengths.push_back(*length);
  }
  return lengths;
}

struct RankRange {
  std::int32_t first;
  std::int32_t last;
};

/// "3" or "4-7".
std::optional<RankRange> parse_range(std::string_view text) {
  const std::vector<std::string_view> ends = split(text, '-');
  const auto first = number(ends.front());
  const auto last = number(ends.back());
  if (!first || !last || ends.size() > 2 || *last < *first) return std::nullopt;
  return RankRange{*first, *last};
}

/// Each rank is in one list at most.
std::optional<std::vector<std::vector<std::int32_t>>> parse_lists(std::string_view text) {
  std::vector<std::vector<std::int32_t>> lists;
  std::vector<bool> is_listed;  // by rank
  for (const std::string_view list : split(text, '/')) {
    lists.emplace_back();
    for (const std::string_view part : split(list, '+')) {
      const auto range = parse_range(part);
      if (!range) return std::nullopt;
      const auto end = static_cast<std::size_t>(range->last) + 1;
      if (is_listed.size() < end) is_listed.resize(end);
      for (std::int32_t rank = range->first; rank <= range->last; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        if (is_listed[at]) return std::nullopt;
        is_listed[at] = true;
        lists.back().push_back(rank);
      }
    }
  }
  return lists;
}

}  // namespace

std::string_view group_hint_grammar() {
  return "automatic, each, a grid of ranks such as 4x4, or groups of ranks such as 0-3/4-7+9, each "
         "rank in one group at most";
}

Result<plan::InitialGroups> parse_groups(std::string_view text) {
  plan::InitialGroups groups;
  if (text == "automatic") return groups;
  if (text == "each") {
    groups.source = Source::each;
    return groups;
  }
  if (text.find('x') != std::string_view::npos) {
    if (auto grid = parse_grid(text)) {
      groups.source = Source::grid;
      groups.grid = *std::move(grid);
      return groups;
    }
  } else if (auto lists = parse_lists(text)) {
    groups.source = Source::lists;
    groups.lists = *std::move(lists);
    return groups;
  }
  return Error{ErrorClass::info_value, 0,
               "\"" + std::string(text) + "\" is not " + std::string(group_hint_grammar())};
}

}  // namespace nacre::file
