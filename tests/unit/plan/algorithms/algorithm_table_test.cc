// Every algorithm has one row, and what a row says holds for the plans that it lays out.
#include "plan/algorithms/algorithm_table.h"

#include <filesystem>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include "plan/decide/decide.h"

namespace nacre::plan {

TEST_CASE("every algorithm but automatic has one row, in the order of the enumeration") {
  std::set<std::string_view> names;
  int number = static_cast<int>(Algorithm::automatic);
  for (const AlgorithmRow* const row : algorithm_table()) {
    CHECK(static_cast<int>(row->algorithm) == ++number);
    CHECK(&row_of(row->algorithm) == row);
    CHECK(names.insert(row->name).second);
  }
  CHECK(number == static_cast<int>(Algorithm::static_segmentation));
}

TEST_CASE("every algorithm has a page of documentation") {
  for (const AlgorithmRow* const row : algorithm_table()) {
    // The two segmentations share one.
    const std::string_view page = row->needs_groups() ? "segmentation" : row->name;
    CAPTURE(page);
    const std::filesystem::path docs = NACRE_SOURCE_DIR "/docs/algorithms";
    CHECK(std::filesystem::exists(docs / (std::string(page) + ".md")));
  }
}

TEST_CASE("a plan has aggregators, domains and rounds if and only if its algorithm exchanges") {
  AccessSummary summary;
  summary.bounds = {0, 1 << 20};
  summary.bytes = summary.span_bytes = 1 << 20;
  summary.bytes_max = 1 << 18;
  summary.run_count = summary.memory_run_count = 4096;
  summary.rank_count = 4;
  const Participants participants{Direction::write, 4, 2};
  const RankGroups groups({0, 1, 2, 3}, std::vector<std::int32_t>{0, 2});
  for (const AlgorithmRow* const row : algorithm_table()) {
    CAPTURE(row->name);
    const CollectiveSettings settings{.algorithm = row->algorithm};
    CollectivePlan plan = decide(summary, settings, participants);
    CHECK(plan.algorithm == row->algorithm);
    if (row->needs_groups()) {
      row_of(plan).lay_out(plan, {summary, settings, participants, &groups});
      CHECK(plan.aggregator_count == groups.count());
    }
    CHECK((plan.aggregator_count > 0) == row->exchanges());
    CHECK((plan.round_count > 0) == row->exchanges());
    if (!row->exchanges()) continue;
    CHECK(domains_of(plan, settings).count() == (row->needs_groups() ? 1 : plan.aggregator_count));
    CHECK(domain_of(plan, plan.aggregator_count - 1) ==
          (row->needs_groups() ? 0 : plan.aggregator_count - 1));
  }
}

}  // namespace nacre::plan
