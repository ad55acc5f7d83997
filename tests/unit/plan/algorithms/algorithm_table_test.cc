// Every algorithm has one row in the table, and the row describes the plans of the algorithm.
#include "plan/algorithms/algorithm_table.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "plan/decide/decide.h"

namespace nacre::plan {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(NACRE_SOURCE_DIR "/" + path);
  REQUIRE_MESSAGE(file.good(), "there is no file ", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the rows are in the order of the enumeration, each with a name of its own") {
  std::set<std::string_view> names;
  int number = static_cast<int>(Algorithm::automatic);
  for (const AlgorithmRow* const row : algorithm_table()) {
    CHECK(static_cast<int>(row->algorithm) == ++number);
    CHECK(&row_of(row->algorithm) == row);
    CHECK(names.insert(row->name).second);
  }
}

TEST_CASE("the table of algorithms in docs/algorithms/README.md links to a page of each") {
  const std::string readme = text_of("docs/algorithms/README.md");
  for (const AlgorithmRow* const row : algorithm_table()) {
    const std::string link = "| [`" + std::string(row->name) + "`](";
    const std::size_t found = readme.find('\n' + link);
    REQUIRE_MESSAGE(found != std::string::npos, "add the row to docs/algorithms/README.md: ", link);
    const std::size_t begin = found + 1 + link.size();
    const std::string page = readme.substr(begin, readme.find(')', begin) - begin);
    CHECK_FALSE(text_of("docs/algorithms/" + page).empty());
  }
}

TEST_CASE("the differential tests run every algorithm that exchanges") {
  const std::string program = text_of("tests/conformance/differential/program.cc");
  for (const AlgorithmRow* const row : algorithm_table()) {
    CHECK_MESSAGE(
        (!row->exchanges() ||
         program.find('"' + std::string(row->name) + '"') != std::string::npos),
        "add to nacre_algorithm in tests/conformance/differential/program.cc: ", row->name);
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
  const RankGroups groups(std::vector<std::int32_t>{0, 1, 2, 3}, std::vector<std::int32_t>{0, 2});
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
