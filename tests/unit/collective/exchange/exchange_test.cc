// The exchange with every pattern of domains: blocks dealt to the aggregators round robin, smaller
// and larger than the cycle, and stripes of files with one or two components.
#include "collective/exchange/exchange.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/algorithm_table.h"
#include "random_access.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::collective {
namespace {

using namespace fixtures;
using plan::Direction;

plan::CollectivePlan random_plan(Random& random, const std::vector<RankAccess>& ranks) {
  Extent bounds;
  for (const RankAccess& access : ranks) bounds = hull(bounds, plan::bounds(access.file));
  plan::CollectivePlan plan;
  plan.algorithm = plan::Algorithm::two_phase;
  plan.aggregator_count = static_cast<std::int32_t>(pick(random, 1, std::ssize(ranks)));
  plan.origin = std::max<std::int64_t>(0, bounds.offset - pick(random, 0, 10));
  plan.end = bounds.end();
  plan.first_byte = pick(random, 0, 1) == 0 ? bounds.offset : 0;
  plan.block_bytes = pick(random, 1, 500);
  plan.cycle_bytes = pick(random, 1, 1'000);
  plan.cycle_buffer_count = static_cast<std::uint8_t>(pick(random, 2, 5));
  plan.whole_rounds = pick(random, 0, 1) == 0;
  return plan;
}

plan::StripeMap random_map(Random& random) {
  const auto component = [&](std::int64_t begin, std::int64_t end) {
    const auto count = static_cast<std::int32_t>(pick(random, 1, 7));
    return plan::LayoutComponent{
        .begin = begin,
        .end = end,
        .striping = {.stripe_size = pick(random, 1, 200), .stripe_count = count}};
  };
  const std::int64_t middle = pick(random, 1, 2'000);
  plan::Layout layout;
  layout.is_composite = true;
  layout.components = {component(0, middle), component(middle, plan::layout_end_of_file)};
  return plan::StripeMap::of(layout, 4).value();
}

plan::FileDomains random_domains(Random& random, const plan::CollectivePlan& plan) {
  const Extent range{plan.origin, plan.end - plan.origin};
  const auto width = static_cast<std::int32_t>(pick(random, 1, 3));
  switch (pick(random, 0, 3)) {
    case 0:
      return plan::domains_of(plan, {});
    case 1:
      return plan::FileDomains::of_stripes(range, random_map(random), width, plan.aggregator_count,
                                           plan.cycle_bytes);
    case 2:
      return plan::FileDomains::of_osts(range, random_map(random), {width, plan::OstSharing::turns},
                                        plan.aggregator_count, plan.cycle_bytes);
    default:
      return plan::FileDomains::of_osts(range, random_map(random),
                                        {width, plan::OstSharing::ranges}, plan.aggregator_count,
                                        plan.cycle_bytes);
  }
}

struct Place {
  int ranks_per_node;
  int io_thread_count;
};

Task<ExchangeResult> begin_and_run(Transport& transport, const CollectiveFile& file,
                                   const ExchangePlan& exchange, const ExchangeAccess& access) {
  Task<Status> beginning = file.rounds.begin_call(transport, exchange, false);
  const Status begun = co_await beginning;
  CHECK(begun.ok());
  Task<ExchangeResult> running = run_exchange(transport, file, exchange, access);
  ExchangeResult result = co_await running;
  co_return result;
}

struct Pattern {
  const plan::CollectivePlan& plan;
  const plan::FileDomains& domains;
};

void run(std::vector<RankAccess>& ranks, const Pattern& pattern, Direction direction,
         const std::shared_ptr<testing::MemoryStore>& store, const Place& place) {
  testing::InProcessNetwork network(
      {static_cast<int>(ranks.size()), testing::SendMode::mixed, 3, place.ranks_per_node});
  std::vector<LazyFile> files;
  for (std::size_t i = 0; i < ranks.size(); ++i) files.emplace_back(store, "f");
  std::vector<plan::MemoryAccess> memories;
  std::vector<ExchangeAccess> accesses;
  std::vector<Profile> profiles(ranks.size());
  std::deque<Profiler> profilers;
  for (Profile& profile : profiles) profilers.emplace_back(profile, Phase::views);
  std::vector<ViewMemory> views(ranks.size());
  std::vector<NodeRounds> rounds(ranks.size());
  std::vector<RankGroupCache> groups(ranks.size());
  std::vector<RepeatedAccess> repeated(ranks.size());
  const auto nodes = plan::NodeMap::singles(static_cast<int>(ranks.size()));
  const auto aggregators = plan::Aggregators::over_nodes(pattern.plan.aggregator_count, 0, nodes);
  const ExchangePlan exchange{pattern.plan, aggregators, pattern.domains};
  std::vector<CollectiveFile> open_files;
  for (RankAccess& access : ranks) memories.push_back(access.memory());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    accesses.push_back(
        {direction, ranks[i].file, ranks[i].file, memories[i], profilers[i], immediate_copies()});
    open_files.push_back({files[i], views[i], rounds[i], groups[i], repeated[i], profilers[i],
                          place.io_thread_count});
  }
  const auto results = testing::run_polled<ExchangeResult>(
      network,
      [&](int rank) {
        const auto i = static_cast<std::size_t>(rank);
        return begin_and_run(network.transport(rank), open_files[i], exchange, accesses[i]);
      },
      7);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  CHECK(network.unmatched_count() == 0);
  for (const ExchangeResult& result : *results) CHECK(result.status.ok());
}

}  // namespace

TEST_CASE("random patterns: written and read back") {
  const std::uint64_t seed = 555;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(400); ++repeat) {
    CAPTURE(repeat);
    std::vector<RankAccess> ranks(static_cast<std::size_t>(pick(random, 1, 8)));
    for (RankAccess& access : ranks) access = random_access(random, 1'500, 3'000);
    if (std::all_of(ranks.begin(), ranks.end(),
                    [](const RankAccess& access) { return access.file.byte_count == 0; })) {
      continue;
    }
    const plan::CollectivePlan plan = random_plan(random, ranks);
    const plan::FileDomains domains = random_domains(random, plan);
    const Pattern pattern{plan, domains};
    Bytes expected = random_bytes(random, 5'000);
    const auto store = std::make_shared<testing::MemoryStore>();
    create_file(*store, "f", expected);
    expected = after_writes(std::move(expected), ranks);
    const Place place{.ranks_per_node = static_cast<int>(pick(random, 1, std::ssize(ranks))),
                      .io_thread_count = static_cast<int>(pick(random, 0, 3))};
    run(ranks, pattern, Direction::write, store, place);
    const Bytes found = *store->contents("f");
    accept_any_winner(expected, found, ranks);
    CHECK(found == expected);
    std::vector<Bytes> buffers;
    for (RankAccess& access : ranks) {
      const auto in_file = access.file_offsets();
      const auto in_memory = access.memory_offsets();
      for (std::byte& byte : access.buffer) byte ^= std::byte{0xff};
      buffers.push_back(access.buffer);
      for (std::size_t i = 0; i < in_file.size(); ++i) {
        buffers.back()[static_cast<std::size_t>(in_memory[i])] =
            expected[static_cast<std::size_t>(in_file[i])];
      }
    }
    run(ranks, pattern, Direction::read, store, place);
    for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(ranks[i].buffer == buffers[i]);
  }
}

}  // namespace nacre::collective
