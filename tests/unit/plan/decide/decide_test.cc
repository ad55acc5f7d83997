// The rules of the decision.
#include "plan/decide/decide.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/candidates.h"
#include "plan/layout/stripe_options.h"

namespace nacre::plan {
namespace {

FileAccess access_at(std::int64_t offset, std::int64_t bytes) {
  return {{TypeMap::bytes(1), offset}, 0, bytes};
}

FileAccess strided_access(std::int64_t offset, std::int64_t length, std::int64_t stride,
                          std::int64_t bytes) {
  return {{TypeMap::bytes(length).resized(0, stride).value(), offset}, 0, bytes};
}

MemoryAccess in_one_piece(const FileAccess& access) {
  return {nullptr, TypeMap::bytes(1), access.byte_count};
}

Participants writers(int ranks) { return {Direction::write, ranks, ranks}; }

AccessSummary summary_of(const std::vector<FileAccess>& accesses) {
  AccessSummary summary;
  for (const FileAccess& access : accesses) fold(summary, summarize(access, in_one_piece(access)));
  return summary;
}

}  // namespace

TEST_CASE("summaries fold in any order and ignore ranks without data") {
  const std::vector<FileAccess> accesses{access_at(100, 50), access_at(0, 0), access_at(10, 20)};
  const AccessSummary summary = summary_of(accesses);
  CHECK(summary.bounds == Extent{10, 140});
  CHECK(summary.bytes == 70);
  CHECK(summary.run_count == 2);
  CHECK(summary.span_bytes == 70);
  CHECK(summary.bytes_max == 50);
  CHECK(summary.rank_count == 2);
  CHECK(bool{summary.monotone});
  const AccessSummary back = summary_of({accesses[2], accesses[1], accesses[0]});
  CHECK(back.bounds == summary.bounds);
  CHECK(back.bytes == summary.bytes);
}

TEST_CASE("sums saturate") {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() - 5;
  CHECK(summary_of({access_at(0, huge), access_at(0, huge)}).bytes ==
        std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the rules of the decision") {
  const std::vector<FileAccess> small{strided_access(0, 8, 32, 800), strided_access(8, 8, 32, 800)};
  const std::vector<FileAccess> apart{access_at(0, 1'000), access_at(1'000, 1'000)};
  const std::vector<FileAccess> large{access_at(0, 1 << 20), access_at(1 << 20, 1 << 20)};
  CHECK(decide(summary_of({}), {Algorithm::two_phase}, writers(4)).reason == PlanReason::no_data);
  CHECK(decide(summary_of(small), {}, writers(2)).reason == PlanReason::interleaved);
  CHECK(decide(summary_of(small), {}, writers(2)).algorithm == Algorithm::two_phase);
  CHECK(decide(summary_of(apart), {}, writers(2)).reason == PlanReason::small_pieces);
  CHECK(decide(summary_of(apart), {}, writers(2)).algorithm == Algorithm::two_phase);
  CHECK(decide(summary_of(large), {}, writers(2)).reason == PlanReason::large_pieces);
  CHECK(decide(summary_of(large), {}, writers(2)).algorithm == Algorithm::direct);
  CHECK(decide(summary_of({small[0]}), {}, writers(2)).reason == PlanReason::single_rank);
  CHECK(decide(summary_of(small), {Algorithm::direct}, writers(2)).reason == PlanReason::hint);
  CHECK(decide(summary_of(large), {Algorithm::two_phase}, writers(2)).algorithm ==
        Algorithm::two_phase);
}

TEST_CASE("a view with decreasing offsets is direct, whatever the hint") {
  const std::vector<std::int64_t> lengths{4, 4};
  const std::vector<std::int64_t> offsets{10, 0};
  const TypeMap type = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  const AccessSummary summary = summary_of({FileAccess{{type, 0}, 0, 8}, access_at(0, 10)});
  CHECK_FALSE(bool{summary.monotone});
  const CollectivePlan plan = decide(summary, {Algorithm::two_phase}, writers(2));
  CHECK(plan.algorithm == Algorithm::direct);
  CHECK(plan.reason == PlanReason::unordered_view);
}

TEST_CASE("domains are aligned and cover the range; there are at most as many as ranks or units") {
  for (const std::int32_t wanted : {0, 1, 3, 7, 100}) {
    for (const int ranks : {1, 2, 5, 64}) {
      for (const std::int64_t length : {1, 100, 4'096, 100'000, 1 << 25}) {
        const AccessSummary summary = summary_of({access_at(5'000, length)});
        const CollectivePlan plan =
            decide(summary, {Algorithm::two_phase, wanted, 0, 4'096}, writers(ranks));
        CHECK(plan.origin == 4'096);
        CHECK(plan.end == 5'000 + length);
        CHECK(plan.block_bytes % 4'096 == 0);
        CHECK(plan.aggregator_count >= 1);
        CHECK(plan.aggregator_count <= ranks);
        CHECK(plan.aggregator_count <= (wanted == 0 ? ranks : wanted));
        CHECK(plan.cycle_bytes <= plan.block_bytes);
        CHECK(plan.origin + plan.block_bytes * plan.aggregator_count >= plan.end);
        CHECK(plan.origin + plan.block_bytes * (plan.aggregator_count - 1) < plan.end);
        CHECK(plan.round_count >= 1);
        CHECK(plan.round_count <= (plan.block_bytes + plan.cycle_bytes - 1) / plan.cycle_bytes);
      }
    }
  }
}

TEST_CASE("offsets near the end of 64 bits do not overflow") {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const AccessSummary summary = summary_of({access_at(0, 1), access_at(largest - 10, 10)});
  for (const std::int32_t aggregators : {1, 2, 3, 64}) {
    const CollectivePlan plan = decide(summary, {Algorithm::two_phase, aggregators}, writers(64));
    CHECK(plan.end == largest);
    const FileDomains domains = domains_of(plan, {});
    const DomainPlace place = domains.place_of(largest - 1);
    CHECK(place.domain == plan.aggregator_count - 1);
    CHECK(place.part.file.end() == largest);
    std::vector<FilePart> parts;
    domains.round_parts(place.domain, place.round, parts);
    CHECK(parts == std::vector<FilePart>{place.part});
  }
}

TEST_CASE("interleaved large pieces of several nodes are exchanged if nodes share objects") {
  AccessSummary own;
  own.bounds = {0, 8 << 20};
  own.bytes = own.bytes_max = 4 << 20;
  own.run_count = own.memory_run_count = 64;
  own.span_bytes = own.bounds.length;
  own.rank_count = 1;
  own.node = 0;
  own.node_bytes = own.bytes;
  AccessSummary other = own;
  other.node = 1;
  AccessSummary all = own;
  fold(all, other);
  CollectiveSettings striped;
  striped.stripes = std::make_shared<const StripeMap>(
      StripeMap::of(plain_layout({.stripe_size = 1 << 20, .stripe_count = 4}), 4).value());
  const Participants one_node{Direction::write, 2, 1};
  const Participants two_nodes{Direction::write, 2, 2};
  CHECK(decide(all, striped, two_nodes).reason == PlanReason::shared_objects);
  CHECK(decide(all, striped, two_nodes).algorithm == Algorithm::two_phase);
  CHECK_FALSE(moves_by_itself({own, striped, two_nodes}));
  CHECK(decide(all, striped, one_node).algorithm == Algorithm::direct);
  CHECK(moves_by_itself({own, striped, one_node}));
  CollectiveSettings unnamed;
  unnamed.stripes = std::make_shared<const StripeMap>(
      StripeMap::of(
          plain_layout({.stripe_size = 1 << 20, .object_size = 4 << 20, .stripe_count = 2}), 1)
          .value());
  unnamed.write_locks = WriteLocks::narrow;
  const CollectivePlan of_objects = decide(all, unnamed, two_nodes);
  CHECK(of_objects.reason == PlanReason::shared_objects);
  CHECK(of_objects.pattern == DomainPattern::even);
  CHECK(of_objects.write_locks == WriteLocks::usual);
  CHECK(decide(all, {}, two_nodes).algorithm == Algorithm::direct);
  CHECK(moves_by_itself({own, CollectiveSettings(), two_nodes}));

  all.bounds.length = 2 * all.span_bytes;  // consecutive ranges
  CHECK(decide(all, striped, two_nodes).reason == PlanReason::large_pieces);
  all.span_bytes = all.bounds.length = 1 << 20;  // both ranges in one stripe
  CHECK(decide(all, striped, two_nodes).reason == PlanReason::shared_objects);
  CHECK(decide(all, striped, one_node).reason == PlanReason::large_pieces);
  all.other_nodes = 0;  // the other node has no data
  CHECK(decide(all, striped, two_nodes).reason == PlanReason::large_pieces);
  CHECK(decide(all, striped, {Direction::read, 2, 2}).reason == PlanReason::large_pieces);
}

TEST_CASE("as many aggregators as the bytes of the call saturate") {
  const auto count = [](std::int64_t bytes, std::int64_t saturation, std::int64_t alignment) {
    const CollectiveSettings settings{.alignment_bytes = alignment, .saturation_bytes = saturation};
    const std::vector<FileAccess> accesses{strided_access(0, 8, 16, bytes / 2),
                                           strided_access(8, 8, 16, bytes / 2)};
    return decide(summary_of(accesses), settings, writers(100)).aggregator_count;
  };
  CHECK(count(1 << 20, 1 << 20, 1) == 1);
  CHECK(count(1 << 20, 1 << 18, 1) == 4);
  CHECK(count((1 << 20) + 16, 1 << 18, 1) == 5);
  CHECK(count(1 << 20, 1, 1) == 100);
  CHECK(count(1 << 20, 1, 1 << 18) ==
        4);  // bytes per aggregator are rounded up to the unit that writers should not share
}

TEST_CASE("a striped file: aggregators have whole stripes of some slots, divided evenly") {
  constexpr std::int64_t stripe = 1 << 20;
  constexpr std::int64_t half = 64 * stripe;
  const std::vector<FileAccess> accesses{strided_access(0, 8, 16, half),
                                         strided_access(8, 8, 16, half)};
  const AccessSummary summary = summary_of(accesses);
  const auto map_of = [](std::int32_t slots) {
    const Striping striping{.stripe_size = stripe, .stripe_count = slots};
    return std::make_shared<const StripeMap>(StripeMap::of(plain_layout(striping), 1).value());
  };
  CollectiveSettings settings{.alignment_bytes = 4096, .saturation_bytes = stripe};
  settings.stripes = map_of(8);
  CollectivePlan plan = decide(summary, settings, writers(5));
  CHECK(plan.pattern == DomainPattern::osts);
  CHECK(plan.aggregator_count == 4);  // with five, one aggregator would still have two slots
  CHECK(plan.count_reason == CountReason::osts);
  CHECK(plan.cycle_bytes % stripe == 0);
  CHECK(decide(summary, settings, {Direction::write, 20, 10}).aggregator_count == 16);
  CHECK(decide(summary, settings, {Direction::write, 20, 20}).aggregator_count == 8);
  settings.aggregator_count = 5;
  CHECK(decide(summary, settings, writers(5)).aggregator_count == 5);
  settings.pattern = DomainPattern::stripes;
  settings.osts_per_aggregator = 2;
  plan = decide(summary, settings, writers(5));
  CHECK(plan.pattern == DomainPattern::stripes);
  CHECK(plan.block_bytes == 2 * stripe);
  settings.pattern = DomainPattern::even;
  CHECK(decide(summary, settings, writers(5)).pattern == DomainPattern::even);
  settings.pattern = DomainPattern::automatic;
  settings.stripes = map_of(1);
  CHECK(decide(summary, settings, writers(5)).pattern == DomainPattern::even);
  settings.stripes = nullptr;
  CHECK(decide(summary, settings, writers(5)).pattern == DomainPattern::even);
}

TEST_CASE(
    "aggregators that share OSTs: as many as one node supports, whatever precedes most bytes") {
  constexpr std::int64_t stripe = 1 << 20;
  const std::vector<FileAccess> accesses{strided_access(2048, 8, 16, 512 * stripe),
                                         strided_access(2056, 8, 16, 512 * stripe)};
  const AccessSummary summary = summary_of(accesses);
  const Participants ranks{Direction::write, 256, 4};
  CollectiveSettings settings{.alignment_bytes = stripe, .saturation_bytes = stripe};
  const auto plan_for = [&](const std::string& options) {
    const Layout layout = parse_stripe_options(options).value();
    settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 8).value());
    return decide(summary, settings, ranks);
  };
  const CollectivePlan tail = plan_for("-E 1m -c 1 -S 1m -E -1 -c 8 -S 1m");
  CHECK(tail.aggregator_count == 32);
  CHECK(tail.aggregator_sets == 8);
  const CollectivePlan one = plan_for("-c 1 -S 1m");
  CHECK(one.aggregator_count == 8);
  CHECK(one.aggregator_sets == 1);
  CHECK(one.count_reason == CountReason::most);
  const CollectivePlan small_nodes = [&] {
    const Layout layout = parse_stripe_options("-c 4 -S 1m").value();
    settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 8).value());
    return decide(summary, settings, {Direction::write, 128, 64});
  }();
  CHECK(small_nodes.aggregator_count == 8);
  CHECK(small_nodes.aggregator_sets == 4);
  settings.aggregator_count = 32;
  CHECK(plan_for("-c 1 -S 1m").aggregator_count == 32);
}

TEST_CASE(
    "segmentation: one aggregator per group, with the range of the whole file or of its group") {
  const std::vector<FileAccess> accesses(4, strided_access(64, 8, 32, 4'000));
  const AccessSummary summary = summary_of(accesses);
  const RankGroups groups(std::vector<std::int32_t>{0, 1, 2, 3}, std::vector<std::int32_t>{0, 3});
  CollectiveSettings settings{Algorithm::dynamic_segmentation, 0, 1'024, 64};
  CollectivePlan plan = decide(summary, settings, writers(4));
  CHECK(plan.algorithm == Algorithm::dynamic_segmentation);
  row_of(plan).lay_out(plan, {summary, settings, writers(4), &groups});
  CHECK(plan.aggregator_count == 2);
  CHECK(domains_of(plan, settings).count() == 1);
  CHECK(domain_of(plan, 1) == 0);
  CHECK(plan.origin == 64);
  CHECK(plan.end == summary.bounds.end());
  CHECK(plan.round_count == (plan.end - plan.origin + 1'023) / 1'024);
  settings.algorithm = Algorithm::static_segmentation;
  plan = decide(summary, settings, writers(4));
  row_of(plan).lay_out(plan, {summary, settings, writers(4), &groups});
  CHECK(plan.whole_rounds);
  CHECK(plan.round_count == 4'000 / (1'024 / 3) + 1);
}

TEST_CASE("one writer per node at a time, several readers") {
  std::vector<FileAccess> accesses;
  for (int rank = 0; rank < 64; ++rank)
    accesses.push_back(strided_access(rank * 8, 8, 512, 1 << 20));
  const AccessSummary summary = summary_of(accesses);
  const CollectiveSettings in_turns{.one_writer_per_node = true};
  CHECK(decide(summary, {}, {Direction::write, 64, 1}).aggregator_count == 8);
  CHECK_FALSE(decide(summary, {}, {Direction::write, 64, 1}).writers_take_turns);
  CHECK(decide(summary, in_turns, {Direction::write, 64, 1}).aggregator_count == 2);
  CHECK(decide(summary, in_turns, {Direction::write, 64, 1}).writers_take_turns);
  CHECK_FALSE(decide(summary, in_turns, {Direction::read, 64, 1}).writers_take_turns);
  CHECK(decide(summary, in_turns, {Direction::write, 64, 16}).aggregator_count == 2);
  CHECK(decide(summary, {}, {Direction::write, 64, 16}).aggregator_count == 64);
  CHECK(decide(summary, {}, {Direction::read, 64, 1}).aggregator_count == 8);
  CHECK(decide(summary, {}, {Direction::read, 64, 1}).whole_rounds);
}

TEST_CASE("rounds are read whole if most of their bytes are wanted, by any number of ranks") {
  const std::vector<FileAccess> dense{strided_access(0, 8, 16, 1'000),
                                      strided_access(8, 8, 16, 1'000)};
  const std::vector<FileAccess> sparse{strided_access(0, 8, 64, 1'000),
                                       strided_access(8, 8, 64, 1'000)};
  const std::vector<FileAccess> same(4, strided_access(0, 8, 64, 1'000));
  const CollectiveSettings asked{Algorithm::two_phase};
  CHECK(decide(summary_of(dense), asked, {Direction::read, 2, 1}).whole_rounds);
  CHECK_FALSE(decide(summary_of(sparse), asked, {Direction::read, 2, 1}).whole_rounds);
  CHECK_FALSE(decide(summary_of(same), asked, {Direction::read, 4, 1}).whole_rounds);
}

TEST_CASE("cycle buffers: 8 MiB in total, three to eight buffers, at most one per round") {
  AccessSummary summary;
  summary.bounds = {0, 1 << 30};
  summary.bytes = summary.span_bytes = 1 << 30;
  summary.run_count = summary.memory_run_count = 1 << 20;
  summary.rank_count = 4;
  const auto buffers = [&](CollectiveSettings settings) {
    settings.algorithm = Algorithm::two_phase;
    settings.aggregator_count = 4;
    return decide(summary, settings, {Direction::write, 4, 1}).cycle_buffer_count;
  };
  CHECK(buffers({.cycle_bytes = 256 << 10}) == 8);
  CHECK(buffers({.cycle_bytes = 2 << 20}) == 4);
  CHECK(buffers({.cycle_bytes = 4 << 20}) == 3);
  CHECK(buffers({.cycle_bytes = 64 << 20}) == 3);
  CHECK(buffers({.cycle_bytes = 256 << 20}) == 2);
  CHECK(buffers({.cycle_bytes = 256 << 10, .one_writer_per_node = true}) == 2);
  CHECK(buffers({.cycle_bytes = 64 << 20, .cycle_buffer_count = 12}) == 12);
}

}  // namespace nacre::plan
