// The choice among plans by predicted times.
#include "plan/decide/choice.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "machine/machine_file.h"
#include "plan/decide/choice_memory.h"
#include "plan/decide/decide.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

/// Ranks of equal load. A rank has `pieces` pieces of `piece` bytes, round robin with the other
/// ranks if they interleave, otherwise in a range of its own.
struct Load {
  int ranks;
  int nodes;
  std::int64_t piece;
  std::int64_t pieces = 1;
  bool interleaves = false;
};

AccessSummary summary_of(const Load& load, const StripeMap* stripes = nullptr) {
  AccessSummary summary;
  for (int rank = 0; rank < load.ranks; ++rank) {
    const std::int64_t stride = load.interleaves ? load.piece * load.ranks : load.piece;
    const std::int64_t step = load.interleaves ? load.piece : load.piece * load.pieces;
    const FileAccess access{{TypeMap::bytes(load.piece).resized(0, stride).value(), rank * step},
                            0,
                            load.piece * load.pieces};
    const MemoryAccess memory{nullptr, TypeMap::bytes(1), access.byte_count};
    fold(summary, summarize(access, memory, rank * load.nodes / load.ranks, stripes));
  }
  return summary;
}

std::shared_ptr<const StripeMap> stripes_on(int osts, std::int64_t stripe_bytes = mebibyte) {
  const Layout layout = plain_layout({.stripe_size = stripe_bytes, .stripe_count = osts});
  return std::make_shared<const StripeMap>(StripeMap::of(layout, osts).value());
}

CollectiveSettings settings_of(const char* machine_class, int osts = 0) {
  CollectiveSettings settings;
  settings.saturation_bytes = 32 * mebibyte;
  settings.machine =
      std::make_shared<const machine::Machine>(machine::shipped_machine(machine_class));
  if (osts > 0) settings.stripes = stripes_on(osts);
  settings.one_writer_per_node = settings.machine->one_writer != 0;
  return settings;
}

CollectiveSettings local_settings(std::int64_t cores) {
  CollectiveSettings settings = settings_of("local");
  machine::Machine machine = *settings.machine;
  machine.cores = cores;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  return settings;
}

/// The time of agreements if each of `aggregators` has OSTs of its own.
double agreement_by_ost(const std::vector<PredictedPlan>& plans, int aggregators) {
  const auto found = std::ranges::find_if(plans, [&](const PredictedPlan& one) {
    return one.plan.pattern == DomainPattern::osts && one.plan.aggregator_count == aggregators;
  });
  REQUIRE(found != plans.end());
  return found->prediction.of(Resource::agreement);
}

/// As Big Red: few requests on the way, each of which waits long.
machine::Machine big_red() {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte, .client_cost = 0.2};
  machine.ost_latency_us = 60'000;
  machine.rpc_bytes = 64 << 10;
  machine.wide_locks = 0;
  return machine;
}

CollectivePlan plan_for(const Load& load, const CollectiveSettings& settings,
                        Direction direction = Direction::write) {
  const AccessSummary summary = summary_of(load, settings.stripes.get());
  return decide(summary, settings, {direction, load.ranks, load.nodes});
}

}  // namespace

TEST_CASE("a small call on many OSTs has an aggregator for each of them") {
  const CollectivePlan plan = plan_for({16, 8, 47'008, 42, true}, settings_of("lustre", 8));
  CHECK(plan.algorithm == Algorithm::two_phase);
  CHECK(plan.aggregator_count == 8);
  CHECK(plan.count_reason == CountReason::cost);
}

TEST_CASE("long pieces of several nodes on the same OSTs go through aggregators") {
  const Load contiguous{16, 8, 8 * mebibyte};
  for (const Direction direction : {Direction::write, Direction::read}) {
    const CollectivePlan plan = plan_for(contiguous, settings_of("lustre", 8), direction);
    CHECK(plan.algorithm == Algorithm::two_phase);
    // While one reader of an OST waits for an answer, the OST serves the other.
    CHECK(plan.aggregator_count == (direction == Direction::write ? 8 : 16));
    CHECK(plan.reason == PlanReason::cost);
  }
}

TEST_CASE("bytes that aggregators have written are read from their caches") {
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.keeps_written = true;
  const Load load{16, 8, 47'008, 42, true};
  AccessSummary summary = summary_of(load, settings.stripes.get());
  const Participants writers{Direction::write, load.ranks, load.nodes};
  const Participants readers{Direction::read, load.ranks, load.nodes};
  ChoiceMemory memory;
  const CollectivePlan cold = decide(summary, settings, readers, &memory);
  CHECK(cold.reason != PlanReason::cached);
  const CollectivePlan written = decide(summary, settings, writers, &memory);
  memory.note_caches(Direction::write, summary.bounds, written);
  const CollectivePlan read = decide(summary, settings, readers, &memory);
  CHECK(read.reason == PlanReason::cached);
  CHECK(read.aggregator_count == written.aggregator_count);
  CHECK(read.pattern == written.pattern);
  CHECK(read.block_bytes == written.block_bytes);
  const auto is_cached = [&] {
    return decide(summary, settings, readers, &memory).reason == PlanReason::cached;
  };
  SUBCASE("not bytes beside them") {
    summary.bounds.offset += 8;
    CHECK_FALSE(is_cached());
  }
  SUBCASE("not after others have written or read there") {
    const Extent first_byte{summary.bounds.offset, 1};
    SUBCASE("through aggregators") { memory.note_caches(Direction::write, first_byte, written); }
    SUBCASE("by themselves") {
      memory.note_caches(Direction::write, first_byte, {.reason = PlanReason::large_pieces});
    }
    SUBCASE("reading") { memory.note_caches(Direction::read, first_byte, cold); }
    CHECK_FALSE(is_cached());
  }
  SUBCASE("after the same bytes were read from caches") {
    memory.note_caches(Direction::read, summary.bounds, read);
    CHECK(is_cached());
  }
  SUBCASE("not after the size of the file was set") {
    memory.forget_writes();
    CHECK_FALSE(is_cached());
  }
  SUBCASE("not if a group lock covered them") {
    CollectivePlan locked = written;
    locked.write_locks = WriteLocks::group;
    memory.note_caches(Direction::write, summary.bounds, locked);
    CHECK_FALSE(is_cached());
  }
  SUBCASE("not on one node, whose ranks have one cache") {
    const Participants one_node{Direction::read, load.ranks, 1};
    CHECK(decide(summary, settings, one_node, &memory).reason != PlanReason::cached);
  }
  SUBCASE("not if a hint wants each rank to read by itself") {
    settings.algorithm = Algorithm::direct;
    CHECK_FALSE(is_cached());
  }
  SUBCASE("not on a file system whose clients do not cache") {
    settings.keeps_written = false;
    CHECK_FALSE(is_cached());
  }
}

TEST_CASE("direct writes that share pages with other processes of the node take longer") {
  CollectiveSettings settings = settings_of("orangefs", 4);
  settings.one_writer_per_node = false;
  settings.algorithm = Algorithm::direct;
  const auto seconds = [&](int nodes, Direction direction) {
    const AccessSummary summary = summary_of({4, nodes, 47'008, 89, true}, settings.stripes.get());
    const PlanInputs inputs{summary, settings, {direction, 4, nodes}};
    return predict(decide_by_rules(inputs), inputs).of(Resource::client);
  };
  const double one_node = seconds(1, Direction::write);
  const double four_nodes = seconds(4, Direction::write);
  const double reads = seconds(1, Direction::read);
  machine::Machine machine = *settings.machine;
  machine.shared_page_ns = 0;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  CHECK(one_node > 3 * seconds(1, Direction::write));
  CHECK(four_nodes == seconds(4, Direction::write));
  CHECK(reads == seconds(1, Direction::read));
}

TEST_CASE("reads are predicted by what OSTs read, and writes by what they write") {
  CollectiveSettings settings = settings_of("lustre", 8);
  machine::Machine machine = *settings.machine;
  machine.ost_read_bandwidth = 4 * machine.ost.bandwidth;
  const Load load{16, 8, 8 * mebibyte};
  const AccessSummary summary = summary_of(load, settings.stripes.get());
  const auto seconds_of_osts = [&](Direction direction) {
    const auto plans = compared_plans(summary, settings, {direction, load.ranks, load.nodes});
    return plans[choose(plans, direction)].prediction.of(Resource::ost);
  };
  const double write = seconds_of_osts(Direction::write);
  const double read = seconds_of_osts(Direction::read);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  CHECK(seconds_of_osts(Direction::write) == write);
  CHECK(seconds_of_osts(Direction::read) < 0.5 * read);
}

TEST_CASE("if few nodes have uneven numbers of OSTs, their ranks share the OSTs, but for locks") {
  CollectiveSettings settings = settings_of("lustre-flash", 4);
  machine::Machine links_as_slow_as_osts;
  links_as_slow_as_osts.node_link.bandwidth = links_as_slow_as_osts.ost.bandwidth = 1 << 30;
  for (const bool wide : {false, true}) {
    links_as_slow_as_osts.wide_locks = wide ? 1 : 0;
    settings.machine = std::make_shared<const machine::Machine>(links_as_slow_as_osts);
    const CollectivePlan plan = plan_for({9, 3, 47'008, 1000, true}, settings);
    CHECK(plan.pattern == DomainPattern::osts);
    CHECK(plan.aggregator_count == (wide ? 2 : 8));
  }
}

TEST_CASE("aggregators with stripes of their own do not wait in steps of whole stripes") {
  const CollectiveSettings settings = settings_of("lustre", 8);
  AccessSummary summary = summary_of({16, 8, 5 * mebibyte / 16}, settings.stripes.get());
  summary.in_steps = true;
  const Participants all{Direction::read, 16, 8};
  const auto agreement = [&] {
    const auto plans = compared_plans(summary, settings, all);
    return agreement_by_ost(plans, 8);
  };
  const double aligned = agreement();
  summary.bounds.offset += 1;
  CHECK(aligned < agreement());
}

TEST_CASE("to begin the exchanges of a file takes no longer where ranks wait for cores") {
  CollectiveSettings settings = settings_of("lustre", 8);
  AccessSummary summary = summary_of({16, 8, 20'480}, settings.stripes.get());
  const auto agreement = [&](std::int64_t near_message_ns, bool in_steps) {
    machine::Machine machine = machine::shipped_machine("lustre");
    machine.near_message_ns = near_message_ns;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    summary.in_steps = in_steps;
    const auto plans = compared_plans(summary, settings, {Direction::write, 16, 8});
    return agreement_by_ost(plans, 8);
  };
  const auto beginning = [&](std::int64_t near_message_ns) {
    return agreement(near_message_ns, false) - agreement(near_message_ns, true);
  };
  CHECK(beginning(70'000) == doctest::Approx(beginning(1'500)));
  CHECK(beginning(1'500) > beginning(1));
}

TEST_CASE("each read in steps waits for a narrow lock, and not every one for a wide lock") {
  CollectiveSettings settings = settings_of("lustre", 8);
  AccessSummary summary = summary_of({16, 8, 4096}, settings.stripes.get());
  summary.in_steps = true;
  machine::Machine machine = *settings.machine;
  const auto agreement = [&](std::int64_t wide, std::int64_t latency_us) {
    machine.wide_locks = wide;
    machine.lock_latency_us = latency_us;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const auto plans = compared_plans(summary, settings, {Direction::read, 16, 8});
    const auto found = std::ranges::find_if(plans, [](const PredictedPlan& one) {
      return one.plan.algorithm == Algorithm::static_segmentation && one.plan.aggregator_count == 8;
    });
    return found->prediction.of(Resource::agreement);
  };
  const auto locks = [&](std::int64_t wide) {
    constexpr double of_a_lock = 2e-3;  // two messages
    return (agreement(wide, 2000) - agreement(wide, 1000)) / of_a_lock;
  };
  CHECK(locks(0) == doctest::Approx(1));
  CHECK(locks(1) < 1);
  CHECK(locks(1) > 0);
}

TEST_CASE("no more nodes meet on an OST than have requests in flight") {
  CollectiveSettings settings = settings_of("lustre", 8);
  AccessSummary summary = summary_of({16, 8, 300'000}, settings.stripes.get());
  summary.in_steps = true;
  const auto time_of_osts = [&](std::int64_t read_ahead) {
    machine::Machine machine = machine::shipped_machine("lustre");
    machine.read_bytes = read_ahead;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const auto plans = compared_plans(summary, settings, {Direction::read, 16, 8});
    const auto direct = std::ranges::find(
        plans, Algorithm::direct, [](const PredictedPlan& one) { return one.plan.algorithm; });
    return direct->prediction.of(Resource::ost);
  };
  CHECK(time_of_osts(mebibyte) < time_of_osts(4 * mebibyte));
  CHECK(time_of_osts(4 * mebibyte) == doctest::Approx(time_of_osts(32 * mebibyte)).epsilon(0.1));
}

TEST_CASE("no write waits for the way to its OSTs if it is shorter than a row of stripes") {
  const auto agreement = [](std::int64_t piece) {
    const CollectiveSettings settings = settings_of("lustre", 8);
    const AccessSummary summary = summary_of({16, 8, piece}, settings.stripes.get());
    const auto plans = compared_plans(summary, settings, {Direction::write, 16, 8});
    return agreement_by_ost(plans, 8);
  };
  CHECK(agreement(7 * mebibyte / 16) + 1e-4 < agreement(8 * mebibyte / 16));
}

TEST_CASE("if links are the bottleneck, the last request keeps its OST busy after them") {
  CollectiveSettings settings = settings_of("lustre", 4);
  machine::Machine machine = machine::shipped_machine("lustre");
  const AccessSummary summary = summary_of({4, 1, 16 * mebibyte}, settings.stripes.get());
  const auto agreement = [&](std::int64_t link) {
    machine.node_link.bandwidth = link;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const auto plans = compared_plans(summary, settings, {Direction::write, 4, 1});
    return agreement_by_ost(plans, 4);
  };
  // A request of 4 MiB takes 0.4 ms on a link of 10 GiB/s, and 3.9 ms on an OST.
  CHECK(agreement(1 << 30) ==
        doctest::Approx(agreement(std::int64_t{10} << 30) + 3.5e-3).epsilon(0.1));
}

TEST_CASE("where locks are as narrow as writes, each small piece of a rank waits for its own") {
  // The ranks of a node interleave, the nodes do not.
  const Load load{16, 1, 256, 64, true};
  CollectiveSettings settings = settings_of("lustre", 8);
  machine::Machine machine = *settings.machine;
  const auto direct = [&](std::int64_t wide_locks) {
    machine.wide_locks = wide_locks;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const auto plans = compared_plans(summary_of(load, settings.stripes.get()), settings,
                                      {Direction::write, load.ranks, load.nodes});
    const auto found = std::ranges::find(
        plans, Algorithm::direct, [](const PredictedPlan& one) { return one.plan.algorithm; });
    REQUIRE(found != plans.end());
    return found->prediction.seconds;
  };
  const double requests = 16 * 64;
  const double of_a_rank = requests / 16 * 2e-6 * static_cast<double>(machine.lock_latency_us);
  CHECK(direct(0) == doctest::Approx(direct(1) + of_a_rank).epsilon(1e-3));
}

TEST_CASE("an aggregator waits for its OSTs in turn if a read has few stripes for each") {
  // 21 stripes of 1 MiB on 32 OSTs: of 16 aggregators some have two, on two OSTs.
  const CollectiveSettings settings = settings_of("lustre", 32);
  const auto agreement = [&](int stripes) {
    const auto plans = compared_plans(summary_of({stripes, 1, mebibyte}, settings.stripes.get()),
                                      settings, {Direction::read, 21, 21});
    return agreement_by_ost(plans, 16);
  };
  const double of_a_stripe =
      static_cast<double>(mebibyte) / static_cast<double>(settings.machine->ost.bandwidth);
  CHECK(agreement(21) > agreement(16) + 0.9 * of_a_stripe);
}

TEST_CASE("long pieces stay with their ranks where no OST is shared") {
  CHECK(plan_for({4, 1, 8 * mebibyte}, settings_of("lustre", 4)).algorithm == Algorithm::direct);
}

TEST_CASE("on a local file system aggregators write for more ranks than cores") {
  const Load load{8, 1, 47'008, 42, true};
  CHECK(plan_for(load, local_settings(2)).algorithm == Algorithm::two_phase);
  CHECK(plan_for(load, local_settings(8)).algorithm == Algorithm::direct);
  CHECK(plan_for(load, local_settings(2), Direction::read).algorithm == Algorithm::direct);
}

TEST_CASE("of nodes that share a host's cores, several aggregators unpack messages at once") {
  // Pieces of 96 bytes: some 12,000 of them come from other nodes.
  const Load small{16, 4, 96, 1'000, true};
  CHECK(plan_for(small, local_settings(16)).aggregator_count >= 4);
  CHECK(plan_for(small, local_settings(1)).aggregator_count <= 2);
}

TEST_CASE("pieces that fall on stripes stay with their ranks where each node has OSTs of its own") {
  const Load by_stripes{16, 8, mebibyte, 4, true};
  for (const Direction direction : {Direction::write, Direction::read}) {
    CHECK(plan_for(by_stripes, settings_of("lustre", 16), direction).algorithm ==
          Algorithm::direct);
  }
  // The pieces of a rank are on all OSTs in turn.
  CHECK(plan_for(by_stripes, settings_of("lustre", 5)).algorithm == Algorithm::two_phase);
}

TEST_CASE("reads that are a little faster by OST than directly or for groups go by OST") {
  const CollectivePlan by_ost{.algorithm = Algorithm::two_phase,
                              .pattern = DomainPattern::osts,
                              .aggregator_count = 4,
                              .aggregator_sets = 4,
                              .end = 64 * mebibyte,
                              .block_bytes = mebibyte};
  const PredictedPlan direct{{}, {.seconds = 1.0}};
  CHECK(choose({direct, {by_ost, {.seconds = 0.999}}}, Direction::read) == 1);
  CHECK(choose({direct, {by_ost, {.seconds = 1.001}}}, Direction::read) == 0);
  CHECK(choose({direct, {by_ost, {.seconds = 0.999}}}, Direction::write) == 0);
  const CollectivePlan in_groups{.algorithm = Algorithm::static_segmentation};
  const PredictedPlan groups{in_groups, {.seconds = 0.5}};
  CHECK(choose({direct, groups, {by_ost, {.seconds = 0.499}}}, Direction::read) == 2);
  CHECK(choose({direct, groups, {by_ost, {.seconds = 0.499}}}, Direction::write) == 1);
  const PredictedPlan groups_in_steps{in_groups, {.seconds = 0.5}, 0, {}, 1.15};
  CHECK(choose({direct, groups_in_steps, {by_ost, {.seconds = 0.574}}}, Direction::read) == 1);
}

TEST_CASE("readers that begin at the same OST go through the others in step") {
  const CollectiveSettings settings = settings_of("lustre-flash", 16);
  const auto agreements = [&](const Load& load) {
    const Candidate direct{Algorithm::direct, PlanReason::cost};
    const AccessSummary summary = summary_of(load, settings.stripes.get());
    const auto plans =
        compare_plans(direct, {summary, settings, {Direction::read, load.ranks, load.nodes}});
    return plans.front().prediction.of(Resource::agreement);
  };
  // Of pieces of 8 MiB the parts of all nodes begin at OST 0, of pieces of 4 MiB at OST 0 or 8.
  const double in_step = agreements({16, 8, 8 * mebibyte});
  const double in_halves = agreements({16, 8, 4 * mebibyte});
  // The link of a node carries 15 requests of 1 MiB before the last OST, in halves 7.
  const double request = 1.0 / (23 * 1024);
  CHECK(in_step > in_halves + 5 * request);
  // Each node has two OSTs of its own.
  const Load by_stripes{16, 8, mebibyte, 16, true};
  const Load by_long_stripes{16, 8, 2 * mebibyte, 8, true};
  CHECK(agreements(by_stripes) < agreements(by_long_stripes));
}

TEST_CASE("the link of a node with one reader is idle until the next answer comes") {
  CollectiveSettings settings = settings_of("lustre", 4);
  machine::Machine slow_links = *settings.machine;
  slow_links.node_link.bandwidth = slow_links.ost.bandwidth / 16;
  const auto agreement = [&](int ranks, std::int64_t latency_us) {
    slow_links.ost_latency_us = latency_us;
    settings.machine = std::make_shared<const machine::Machine>(slow_links);
    const Candidate direct{Algorithm::direct, PlanReason::cost};
    const AccessSummary summary = summary_of({ranks, 3, mebibyte, 2, true}, settings.stripes.get());
    const auto plans = compare_plans(direct, {summary, settings, {Direction::read, ranks, 3}});
    return plans.front().prediction.of(Resource::agreement);
  };
  const auto latencies = [&](int ranks) {
    constexpr std::int64_t millisecond_us = 1000;
    const double longer = agreement(ranks, 2 * millisecond_us) - agreement(ranks, millisecond_us);
    return longer / 1e-3;
  };
  CHECK(latencies(3) == doctest::Approx(2));
  CHECK(latencies(24) == doctest::Approx(1));
}

TEST_CASE("ranges are read in rounds of a row of stripes, so that few answers come at once") {
  CollectiveSettings settings = settings_of("lustre-flash");
  machine::Machine machine = *settings.machine;
  machine.node_link.bandwidth = 24 * mebibyte;
  machine.ost = {.bandwidth = 18 * mebibyte, .client_cost = 0};
  settings.machine = std::make_shared<const machine::Machine>(machine);
  const Participants all{Direction::read, 9, 3};
  const auto reading = [&](int osts, std::int64_t stripe_bytes, std::int64_t cycle_bytes) {
    settings.stripes = stripes_on(osts, stripe_bytes);
    settings.cycle_bytes = cycle_bytes;
    const AccessSummary summary = summary_of({9, 3, 7'000, 100, true}, settings.stripes.get());
    const PlanInputs inputs{summary, settings, all, nullptr, 9, {.pattern = DomainPattern::even}};
    const CollectivePlan plan = laid_out(Candidate{Algorithm::two_phase, PlanReason::cost}, inputs);
    return PredictedPlan{plan, predict(plan, inputs)};
  };
  constexpr std::int64_t kibibyte = 1 << 10;
  const auto round_of = [&](int osts, std::int64_t stripe_bytes) {
    return reading(osts, stripe_bytes, 0).plan.cycle_bytes;
  };
  CHECK(round_of(2, 64 * kibibyte) == 256 * kibibyte);
  CHECK(round_of(8, 64 * kibibyte) == 512 * kibibyte);
  CHECK(round_of(16, 64 * kibibyte) > 512 * kibibyte);  // a whole range
  // The answers to the last node are those of three readers: 2 MiB, or 0.75 MiB.
  const auto waits = [&](std::int64_t cycle_bytes) {
    return reading(4, 64 * kibibyte, cycle_bytes).prediction.of(Resource::agreement);
  };
  CHECK(waits(mebibyte) > 1.5 * waits(256 * kibibyte));
  // Where answers take long, 9 reads of 256 KiB would leave 4 OSTs idle meanwhile.
  machine.ost_latency_us = 60'000;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  CHECK(round_of(4, 64 * kibibyte) == 512 * kibibyte);
}

TEST_CASE("an aggregator waits for its OSTs in turn until its node reads ahead") {
  const CollectiveSettings settings = settings_of("lustre", 16);
  const Load load{16, 8, 16 * mebibyte};
  const AccessSummary summary = summary_of(load, settings.stripes.get());
  const auto plans = compared_plans(summary, settings, {Direction::read, load.ranks, load.nodes});
  // For two stripes of 1 MiB more, on OSTs of 1 GiB/s.
  CHECK(agreement_by_ost(plans, 4) > agreement_by_ost(plans, 16) + 1.8e-3);
}

TEST_CASE("a plan that keeps no resource busier need not be clearly faster") {
  CollectivePlan rule{.algorithm = Algorithm::two_phase, .aggregator_count = 4};
  Prediction predicted{.seconds = 1.0};
  predicted.of(Resource::ost) = 0.8;
  predicted.of(Resource::cores) = 0.2;
  Prediction other{.seconds = 0.95};
  other.of(Resource::ost) = 0.8;
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 1);
  other.of(Resource::client) = 0.2;
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 0);
}

TEST_CASE(
    "a resource that stays below the bottleneck may be busier, though the machine file errs") {
  CollectivePlan rule{.algorithm = Algorithm::direct};
  Prediction predicted{.seconds = 1.0};
  predicted.of(Resource::ost) = 0.8;
  Prediction other{.seconds = 0.95};
  other.of(Resource::ost) = 0.8;
  other.of(Resource::messages) = 0.09;
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 1);
  other.of(Resource::messages) = 0.11;
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 0);
  other.of(Resource::messages) = 0;
  other.of(Resource::agreement) = 0.01;  // nothing overlaps it
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 0);
  other.of(Resource::agreement) = 0.005;
  CHECK(choose({{rule, predicted}, {{}, other}}, Direction::read) == 1);
}

TEST_CASE("of equally fast plans one with an aggregator for each OST is chosen") {
  CollectivePlan four{.algorithm = Algorithm::two_phase, .aggregator_count = 4};
  CollectivePlan eight = four;
  eight.aggregator_count = eight.aggregator_sets = 8;
  eight.block_bytes = mebibyte;
  eight.end = 9 * mebibyte;
  CollectivePlan sixteen = eight;
  sixteen.aggregator_count = 16;
  const Prediction same{.seconds = 1.0};
  CHECK(choose({{four, same}, {eight, same}, {sixteen, same}}, Direction::read) == 1);
  CHECK(choose({{{}, same}, {eight, same}}, Direction::read) == 0);
  eight.end = 8 * mebibyte;  // it may touch seven, eight or nine stripes
  CHECK(choose({{four, same}, {eight, same}}, Direction::read) == 0);
  // Of writes, caches send the bytes of several calls at once, by more links.
  Prediction of_four = same;
  of_four.of(Resource::link) = 0.5;
  CHECK(choose({{four, of_four}, {eight, {.seconds = 1.02}}}, Direction::write) == 1);
  CHECK(choose({{four, of_four}, {eight, {.seconds = 1.1}}}, Direction::write) == 0);
  CHECK(choose({{four, same}, {eight, {.seconds = 1.02}}}, Direction::write) == 0);
}

TEST_CASE("each node has a group of its own where messages between nodes are dear") {
  CollectiveSettings settings = local_settings(1);
  machine::Machine machine = *settings.machine;
  machine.far_message_ns = 100'000;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  const CollectivePlan plan = plan_for({9, 3, 1000, 4'000, true}, settings);
  CHECK(row_of(plan).needs_groups());
  CHECK(plan.aggregator_count == 3);
  CHECK(plan.count_reason == CountReason::cost);
}

TEST_CASE("as long as the stripes are unknown the file counts as on one OST") {
  // As in the first calls to a file whose first component has no objects yet.
  const Load small{16, 8, 96, 72, true};
  const CollectiveSettings settings = settings_of("lustre");
  CHECK(plan_for(small, settings).algorithm == Algorithm::two_phase);
  const auto plans = compared_plans(summary_of(small), settings, {Direction::write, 16, 8});
  const auto direct = std::ranges::find(
      plans, Algorithm::direct, [](const PredictedPlan& one) { return one.plan.algorithm; });
  REQUIRE(direct != plans.end());
  CHECK(direct->prediction.of(Resource::locks) > 0.1);
}

TEST_CASE("hints leave less to choose") {
  const Load load{16, 8, 8 * mebibyte};
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.aggregator_count = 3;
  CHECK(plan_for(load, settings).aggregator_count == 3);
  CHECK(plan_for(load, settings).count_reason == CountReason::hint);
  settings.algorithm = Algorithm::direct;
  CHECK(plan_for(load, settings).algorithm == Algorithm::direct);
  CHECK(plan_for(load, settings).reason == PlanReason::hint);
}

TEST_CASE("the rules decide unless a plan is clearly faster") {
  CollectivePlan slow{.algorithm = Algorithm::direct};
  CollectivePlan fast{.algorithm = Algorithm::two_phase, .aggregator_count = 1};
  std::vector<PredictedPlan> plans{{slow, {.seconds = 1.0}}, {fast, {.seconds = 0.95}}};
  plans[1].prediction.of(Resource::cores) = 0.1;
  CHECK(choose(plans, Direction::read) == 0);
  plans[1].prediction.seconds = 0.8;
  CHECK(choose(plans, Direction::read) == 1);
}

TEST_CASE("of equally fast plans the one with idle resources is chosen") {
  Prediction busy{.seconds = 1.0};
  busy.of(Resource::link) = 0.9;
  busy.of(Resource::ost) = 1.0;
  Prediction idle = busy;
  idle.of(Resource::link) = 0.2;
  const std::vector<PredictedPlan> plans{
      {{}, {.seconds = 2.0}}, {{.aggregator_count = 4}, busy}, {{.aggregator_count = 8}, idle}};
  CHECK(choose(plans, Direction::read) == 2);
}

TEST_CASE("the number of compared plans does not grow with ranks and OSTs") {
  AccessSummary summary = summary_of({16, 8, mebibyte, 4, true});
  summary.rank_count = 1'000'000;
  const CollectiveSettings settings = settings_of("lustre", 2000);
  for (const Direction direction : {Direction::write, Direction::read}) {
    const Participants all{direction, 1'000'000, 10'000};
    CHECK(compared_plans(summary, settings, all).size() < 60);
  }
}

TEST_CASE("an equal call, whose choice is remembered, has the same plan") {
  for (const std::string machine_class : {"lustre", "lustre-flash", "local"}) {
    const int osts = machine_class == "local" ? 0 : 8;
    CollectiveSettings settings = settings_of(machine_class.c_str(), osts);
    machine::Machine machine = *settings.machine;
    machine.node_link.bandwidth = 100 * mebibyte;  // so that small calls need several nodes
    settings.machine = std::make_shared<const machine::Machine>(machine);
    for (const Direction direction : {Direction::write, Direction::read}) {
      for (const std::int64_t kibibytes : {1, 9, 80, 140, 3072}) {
        for (const bool interleaves : {false, true}) {
          CAPTURE(machine_class);
          CAPTURE(kibibytes);
          CAPTURE(interleaves);
          const Load load{16, 8, kibibytes << 10, 2, interleaves};
          const AccessSummary summary = summary_of(load, settings.stripes.get());
          const Participants all{direction, load.ranks, load.nodes};
          const CollectivePlan plan = plan_for(load, settings, direction);
          ChoiceMemory memory;
          CHECK(decide(summary, settings, all, &memory) == plan);
          CHECK(decide(summary, settings, all, &memory) == plan);
        }
      }
    }
  }
}

TEST_CASE("nodes share OSTs if one node cannot load an OST by itself") {
  machine::Machine machine = big_red();
  CollectiveSettings settings = settings_of("lustre", 16);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  const Load contiguous{16, 16, 16 * mebibyte};
  const CollectivePlan plan = plan_for(contiguous, settings);
  CHECK(plan.pattern == DomainPattern::stripes);
  CHECK(plan.block_bytes == 2 * mebibyte);
  CHECK(plan.aggregator_count == 16);
  CHECK(domains_of(plan, settings).count() == 16);

  SUBCASE("but not if locks would move with each piece") {
    machine.wide_locks = 1;
    machine.lock_latency_us = 1'000;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    CHECK(plan_for(contiguous, settings).pattern == DomainPattern::osts);
  }
  SUBCASE("but not to read: ranges of the file ask many OSTs at once") {
    const CollectivePlan reading = plan_for(contiguous, settings, Direction::read);
    CHECK(reading.pattern == DomainPattern::even);
    CHECK(reading.cycle_bytes == mebibyte);
  }
  SUBCASE("and ranges are read only where an answer takes long") {
    machine.ost_latency_us = 500;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    CHECK(plan_for(contiguous, settings, Direction::read).pattern == DomainPattern::osts);
  }
  SUBCASE("unless a hint sets the pattern") {
    settings.pattern = DomainPattern::osts;
    CHECK(plan_for(contiguous, settings).pattern == DomainPattern::osts);
  }
  SUBCASE("and equal calls have the same domains") {
    ChoiceMemory memory;
    const AccessSummary summary = summary_of(contiguous, settings.stripes.get());
    const Participants all{Direction::write, 16, 16};
    CHECK(decide(summary, settings, all, &memory) == plan);
    CHECK(decide(summary, settings, all, &memory) == plan);
  }
}

TEST_CASE("ranks read long pieces themselves where answers take long") {
  machine::Machine machine = big_red();
  machine.read_bytes = 512 << 10;
  CollectiveSettings settings = settings_of("lustre");
  settings.machine = std::make_shared<const machine::Machine>(machine);
  settings.stripes = stripes_on(24, 64 << 10);
  const Load contiguous{12, 12, 8 * mebibyte};
  CHECK(plan_for(contiguous, settings, Direction::read).algorithm == Algorithm::direct);
  CHECK(plan_for(contiguous, settings).algorithm == Algorithm::two_phase);
}

TEST_CASE("the figures without which another plan would be chosen are named") {
  const Load contiguous{16, 8, 8 * mebibyte};
  const CollectiveSettings settings = settings_of("lustre", 8);
  const auto figures_for = [&](const Load& load) {
    return deciding_figures(summary_of(load, settings.stripes.get()), settings,
                            {Direction::write, load.ranks, load.nodes});
  };
  CHECK(figures_for(contiguous) == std::vector<std::string_view>{"osts.bandwidth"});
  CHECK(figures_for({8, 1, 8 * mebibyte}).empty());
}

TEST_CASE("a machine adds no time where its figures are unknown") {
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>();
  const AccessSummary summary = summary_of({16, 8, mebibyte});
  for (const PredictedPlan& one : compared_plans(summary, settings, {Direction::write, 16, 8})) {
    CHECK(one.prediction.seconds == 0);
  }
}

TEST_CASE("equal calls are decided once, wherever they are in the file") {
  const CollectiveSettings settings = settings_of("lustre", 8);
  const Participants all{Direction::write, 16, 8};
  AccessSummary summary = summary_of({16, 8, 47'008, 42, true});
  ChoiceMemory memory;
  const CollectivePlan first = decide(summary, settings, all, &memory);
  const CallShape shape = shape_of(summary, settings, all);
  REQUIRE(memory.find(shape) != nullptr);
  CHECK(memory.find(shape)->aggregator_count == 8);
  summary.bounds.offset += 100 * mebibyte;
  summary.node_bounds.offset += 100 * mebibyte;
  CHECK(shape_of(summary, settings, all) == shape);
  const CollectivePlan second = decide(summary, settings, all, &memory);
  CHECK(second.aggregator_count == first.aggregator_count);
  CHECK(second.origin == first.origin + 100 * mebibyte);
  summary.bytes += 1;
  CHECK(memory.find(shape_of(summary, settings, all)) == nullptr);
  memory.forget();
  CHECK(memory.find(shape) == nullptr);
}

TEST_CASE("equal steps lead from call to call of equal size at equal distances") {
  AccessSummary summary = summary_of({4, 2, 1000});
  const auto steps_at = [&](ChoiceMemory& memory, std::int64_t offset,
                            Direction direction = Direction::read) {
    summary.bounds.offset = offset;
    return memory.count_steps(summary, direction);
  };
  const auto at = [&](ChoiceMemory& memory, std::int64_t offset,
                      Direction direction = Direction::read) {
    return steps_at(memory, offset, direction).count;
  };
  ChoiceMemory memory;
  CHECK(at(memory, 1'000) == 0);
  CHECK(at(memory, 6'000) == 1);
  CHECK(at(memory, 11'000) == 2);
  memory = {};
  CHECK(at(memory, 0) == 1);
  CHECK(at(memory, 5'000) == 1);
  CHECK(at(memory, 10'000) == 2);
  CHECK(at(memory, 15'000) == 2);
  SUBCASE("until the distance changes") {
    CHECK(at(memory, 21'000) == 1);
    CHECK(at(memory, 26'000) == 1);
    CHECK(at(memory, 31'000) == 2);
  }
  SUBCASE("until the size changes") {
    summary.bounds.length += 1;
    CHECK(at(memory, 20'000) == 0);
    CHECK(at(memory, 25'000) == 1);
    CHECK(at(memory, 30'000) == 2);
  }
  SUBCASE("until a write, and from write to write") {
    CHECK(at(memory, 20'000, Direction::write) == 0);
    CHECK(at(memory, 25'000, Direction::write) == 1);
    CHECK(at(memory, 30'000, Direction::write) == 2);
    CHECK(at(memory, 35'000) == 0);
  }
  SUBCASE("and begin at the start of the file only with the first read") {
    CHECK(at(memory, 0) == 0);
    CHECK(at(memory, 0, Direction::write) == 0);
    CHECK(at(memory, 0) == 1);
    ChoiceMemory after_header;
    after_header.break_steps();
    CHECK(at(after_header, 0) == 0);
    ChoiceMemory after_nothing;
    CHECK(after_nothing.count_steps({}, Direction::read).count == 0);
  }
  SUBCASE("also if the rank reads elsewhere, which breaks them once") {
    memory.break_steps();
    const ChoiceMemory::Steps broken = steps_at(memory, 20'000);
    CHECK(broken.count == 2);
    CHECK(broken.are_broken);
    CHECK_FALSE(steps_at(memory, 25'000).are_broken);
  }
  SUBCASE("but not in place or backward") {
    CHECK(at(memory, 15'000) == 0);
    CHECK(at(memory, 15'000) == 0);
    CHECK(at(memory, 10'000) == 0);
    CHECK(at(memory, 5'000) == 0);
  }
}

TEST_CASE("steps are read by one aggregator where answers take long, because it reads ahead") {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte, .client_cost = 0.2};
  machine.ost_latency_us = 60'000;
  machine.far_message_ns = 3'000;
  machine.write_call_ns = machine.read_call_ns = 20'000;
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  AccessSummary summary = summary_of({16, 8, 1'024, 8, true}, settings.stripes.get());
  const Participants all{Direction::read, 16, 8};
  summary.bounds.offset = 12'345;
  summary.in_steps = true;
  const CollectivePlan plan = decide(summary, settings, all);
  CHECK(plan.algorithm == Algorithm::two_phase);
  CHECK(plan.aggregator_count == 1);
  CHECK(plan.pattern == DomainPattern::even);
  CHECK(plan.round_count == 1);
  CHECK(plan.first_byte == 12'345);
  const auto seconds = [&] {
    const std::vector<PredictedPlan> plans = compared_plans(summary, settings, all);
    const auto is_plan = [&](const PredictedPlan& one) { return one.is_for(plan); };
    return std::ranges::find_if(plans, is_plan)->prediction.seconds;
  };
  const double in_steps = seconds();
  summary.in_steps = false;
  CHECK(seconds() > in_steps + 0.05);
}

TEST_CASE("calls in steps are read in ranges although rank 0 reads elsewhere between them") {
  machine::Machine machine;  // as the emulated ranger
  machine.node_link.bandwidth = machine.server_link.bandwidth = 31 * mebibyte;
  machine.osts_per_server = 6;
  machine.ost = {.bandwidth = 8 * mebibyte, .client_cost = 0.2};
  machine.ost_latency_us = 500;
  machine.rpc_bytes = 64 << 10;
  machine.read_bytes = 512 << 10;
  machine.lock_latency_us = 200;
  machine.wide_locks = 0;
  CollectiveSettings settings = settings_of("lustre");
  settings.stripes = stripes_on(8, 64 << 10);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  AccessSummary summary = summary_of({16, 8, 1'024, 21, true}, settings.stripes.get());
  summary.bounds.offset = 6'240;
  const Participants all{Direction::read, 16, 8};
  CHECK(decide(summary, settings, all).pattern == DomainPattern::osts);
  summary.in_broken_steps = true;
  const CollectivePlan plan = decide(summary, settings, all);
  CHECK(plan.pattern == DomainPattern::even);
  CHECK(plan.aggregator_count == 16);
  CHECK(plan.first_byte == 6'240);
}

TEST_CASE("nodes write back one call in steps while the next ones take place") {
  const CollectiveSettings settings = settings_of("lustre", 8);
  AccessSummary summary = summary_of({16, 8, 64 << 10, 64, true}, settings.stripes.get());
  const Participants all{Direction::write, 16, 8};
  const auto each_ost = [&] {
    const std::vector<PredictedPlan> plans = compared_plans(summary, settings, all);
    const auto is_wanted = [](const PredictedPlan& one) {
      return one.plan.pattern == DomainPattern::osts && one.plan.aggregator_count == 8;
    };
    const auto found = std::ranges::find_if(plans, is_wanted);
    REQUIRE(found != plans.end());
    return found->prediction;
  };
  const Prediction single = each_ost();
  summary.in_steps = true;
  const Prediction in_steps = each_ost();
  const double ost_latency = static_cast<double>(settings.machine->ost_latency_us) * 1e-6;
  CHECK(in_steps.of(Resource::agreement) < single.of(Resource::agreement) - ost_latency);
  // The OSTs are the bottleneck, and everything else takes place meanwhile.
  CHECK(in_steps.bottleneck() == Resource::ost);
  CHECK(in_steps.seconds == in_steps.of(Resource::ost));
}

TEST_CASE("nodes read a call in steps ahead while those before it take place") {
  CollectiveSettings settings = settings_of("lustre", 16);
  machine::Machine machine;
  machine.node_link.bandwidth = 24 * mebibyte;
  machine.ost = {.bandwidth = 18 * mebibyte, .client_cost = 0};
  machine.lock_latency_us = 640;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  AccessSummary summary = summary_of({16, 8, 1'024, 8, true}, settings.stripes.get());
  const Participants all{Direction::read, 16, 8};
  const auto by_ranges = [&](int aggregators) {
    const PlanInputs inputs{summary, settings,    all,
                            nullptr, aggregators, {.pattern = DomainPattern::even}};
    const Candidate candidate{Algorithm::two_phase, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs);
  };
  const Prediction single = by_ranges(4);
  CHECK(single.seconds > single.of(Resource::link) + single.of(Resource::agreement));
  summary.in_steps = true;
  const Prediction in_steps = by_ranges(4);
  // While a process waits for a lock, its node does not read ahead.
  CHECK(in_steps.of(Resource::link) > 0);
  CHECK(in_steps.seconds >= in_steps.of(Resource::link));
  CHECK(in_steps.seconds <= in_steps.of(Resource::link) + in_steps.of(Resource::agreement));
}

TEST_CASE(
    "a link that messages share is busy for their bytes too, which direct plans do not have") {
  CollectiveSettings settings = settings_of("lustre", 8);
  const Load load{16, 8, 8 * mebibyte};
  const AccessSummary summary = summary_of(load, settings.stripes.get());
  machine::Machine machine;
  machine.node_link.bandwidth = machine.message_bandwidth = 100 * mebibyte;
  machine.ost = {.bandwidth = 200 * mebibyte, .client_cost = 0.2};
  machine.wide_locks = 0;
  const auto predicted = [&](std::int64_t share_link, const Participants& all,
                             Algorithm algorithm) {
    machine.messages_share_link = share_link;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const std::vector<PredictedPlan> plans = compared_plans(summary, settings, all);
    const auto found = std::ranges::find_if(plans, [&](const PredictedPlan& one) {
      return one.plan.algorithm == algorithm &&
             (algorithm == Algorithm::direct ||
              (one.plan.pattern == DomainPattern::osts && one.plan.aggregator_count == 8));
    });
    REQUIRE(found != plans.end());
    return found->prediction;
  };
  for (const Direction direction : {Direction::write, Direction::read}) {
    const Participants all{direction, load.ranks, load.nodes};
    const Prediction apart = predicted(0, all, Algorithm::two_phase);
    CHECK(apart.of(Resource::link) == doctest::Approx(0.16));
    CHECK(apart.of(Resource::messages) == doctest::Approx(0.14));
    CHECK(apart.bottleneck() == Resource::link);
    const Prediction together = predicted(1, all, Algorithm::two_phase);
    CHECK(together.of(Resource::link) == doctest::Approx(0.3));
    CHECK(together.of(Resource::messages) == doctest::Approx(0.14));
    CHECK(together.seconds - together.of(Resource::agreement) == doctest::Approx(0.3));
    CHECK(predicted(1, all, Algorithm::direct).seconds ==
          predicted(0, all, Algorithm::direct).seconds);
  }
  const auto chosen = [&](std::int64_t share_link) {
    machine.messages_share_link = share_link;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    return decide(summary, settings, {Direction::write, load.ranks, load.nodes}).algorithm;
  };
  CHECK(chosen(0) == Algorithm::two_phase);
  CHECK(chosen(1) == Algorithm::direct);
}

TEST_CASE("ranges of reads in steps are at the same places in each call, others at whole blocks") {
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.algorithm = Algorithm::two_phase;
  settings.pattern = DomainPattern::even;
  settings.aggregator_count = 4;
  AccessSummary summary = summary_of({16, 8, 64 << 10, 8, true}, settings.stripes.get());
  summary.bounds.offset = 12'345;
  const auto plan_of = [&](Direction direction, bool in_steps) {
    summary.in_steps = in_steps;
    return decide(summary, settings, {direction, 16, 8});
  };
  const CollectivePlan in_steps = plan_of(Direction::read, true);
  CHECK(in_steps.origin == 12'345);
  CHECK(in_steps.block_bytes == summary.bounds.length / 4);
  for (const CollectivePlan& other :
       {plan_of(Direction::read, false), plan_of(Direction::write, true)}) {
    CHECK(other.origin == 12'288);
    CHECK(other.block_bytes % settings.alignment() == 0);
  }
}

TEST_CASE("reads in steps keep the OSTs of the next component busy, too") {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte, .client_cost = 0};
  machine.read_bytes = 512 << 10;
  AccessSummary summary = summary_of({16, 8, 1'024, 8, false});
  summary.in_steps = true;
  const Participants all{Direction::read, 16, 8};
  const auto ost_seconds = [&](std::int64_t next_component) {
    Layout layout;
    layout.is_composite = true;
    layout.components = {
        {.end = next_component, .striping = {.stripe_size = mebibyte, .stripe_count = 1}},
        {.begin = next_component, .striping = {.stripe_size = mebibyte, .stripe_count = 8}}};
    CollectiveSettings settings = settings_of("lustre");
    settings.machine = std::make_shared<const machine::Machine>(machine);
    settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 8).value());
    settings.algorithm = Algorithm::static_segmentation;
    const PlanInputs inputs{summary, settings, all, nullptr, 4};
    const Candidate candidate{Algorithm::static_segmentation, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::ost);
  };
  CHECK(ost_seconds(mebibyte) < 0.6 * ost_seconds(64 * mebibyte));
}

TEST_CASE("each read in steps occupies a thread of an OST for the whole latency") {
  machine::Machine machine = big_red();
  machine.read_bytes = 512 << 10;
  CollectiveSettings settings = settings_of("lustre");
  settings.stripes = stripes_on(8, 64 << 10);
  AccessSummary summary = summary_of({16, 8, 8'788});
  summary.in_steps = true;
  const Participants all{Direction::read, 16, 8};
  const auto predicted = [&](int aggregators, std::int64_t threads) {
    machine.ost_threads = threads;
    settings.machine = std::make_shared<const machine::Machine>(machine);
    const PlanInputs inputs{summary, settings,    all,
                            nullptr, aggregators, {.pattern = DomainPattern::even}};
    const Candidate candidate{Algorithm::two_phase, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs);
  };
  // 16 requests, and 2.1 for pieces that lie on two stripes, of 60 ms each, by 8 OSTs of 16
  // threads.
  CHECK(predicted(16, 16).of(Resource::ost) == doctest::Approx(18.1 / 8 / 16 * 0.06).epsilon(0.01));
  CHECK(predicted(8, 16).seconds > predicted(4, 16).seconds);
  CHECK(predicted(8, 64).seconds < predicted(4, 64).seconds);
}

TEST_CASE("calls of whole stripes in steps lead each node to the same OSTs") {
  const CollectiveSettings settings = settings_of("lustre", 48);
  const auto seconds_of_a_byte = [&](std::int64_t piece) {
    const Load load{16, 8, piece};
    AccessSummary summary = summary_of(load, settings.stripes.get());
    summary.in_steps = true;
    const PlanInputs inputs{summary, settings, {Direction::read, load.ranks, load.nodes}};
    const CollectivePlan direct = laid_out(Candidate{Algorithm::direct, PlanReason::hint}, inputs);
    const double busy = predict(direct, inputs).of(Resource::ost);
    return busy / static_cast<double>(summary.bytes);
  };
  // 16 stripes a call: a node comes to 6 of the 48 OSTs. Of 15 stripes it comes to all of them.
  CHECK(1.5 * seconds_of_a_byte(mebibyte) < seconds_of_a_byte(15 * mebibyte / 16));
}

TEST_CASE("the link of the node with the most bytes bounds direct accesses") {
  machine::Machine machine;
  machine.node_link.bandwidth = mebibyte;
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  AccessSummary summary = summary_of({16, 8, mebibyte});
  const auto link_seconds = [&] {
    const PlanInputs inputs{summary, settings, {Direction::read, 16, 8}, nullptr, 0};
    const Candidate candidate{Algorithm::direct, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::link);
  };
  CHECK(link_seconds() == doctest::Approx(2));
  summary.most_of_others = 8 * mebibyte;
  CHECK(link_seconds() == doctest::Approx(8));
}

TEST_CASE("the rank with the most bytes copies them alone") {
  const CollectiveSettings settings = settings_of("lustre-flash", 8);
  AccessSummary summary = summary_of({64, 8, 4096, 256, true}, settings.stripes.get());
  const auto cores_of_two_phase = [&] {
    const auto plans = compared_plans(summary, settings, {Direction::write, 64, 8});
    const auto found = std::ranges::find(
        plans, Algorithm::two_phase, [](const PredictedPlan& one) { return one.plan.algorithm; });
    REQUIRE(found != plans.end());
    return found->prediction.of(Resource::cores);
  };
  const double even = cores_of_two_phase();
  summary.bytes_max = summary.bytes / 8;  // all bytes of its node
  const double alone = cores_of_two_phase();
  CHECK(alone > even);
  const auto bandwidth = static_cast<double>(settings.machine->copy_bandwidth);
  CHECK(alone >= static_cast<double>(summary.bytes_max) / bandwidth);
}

TEST_CASE("writers of a local file take turns, whichever of them has the most bytes") {
  const CollectiveSettings settings = settings_of("memory");
  AccessSummary summary = summary_of({16, 1, mebibyte});
  const auto client_seconds = [&](Direction direction) {
    const PlanInputs inputs{summary, settings, {direction, 16, 1}, nullptr, 0};
    const Candidate candidate{Algorithm::direct, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::client);
  };
  const double written = client_seconds(Direction::write);
  const double read = client_seconds(Direction::read);
  summary.bytes_max = 8 * mebibyte;
  CHECK(client_seconds(Direction::write) == doctest::Approx(written));
  CHECK(client_seconds(Direction::read) == doctest::Approx(8 * read));
}

TEST_CASE("aggregators of nodes that are parts of a host do not write in turn") {
  CollectiveSettings settings = settings_of("memory");
  machine::Machine machine = *settings.machine;
  machine.cores = 2;
  settings.machine = std::make_shared<const machine::Machine>(machine);
  const AccessSummary summary = summary_of({16, 8, 1'024, 64, true});
  const auto client_seconds = [&](int nodes) {
    const PlanInputs inputs{summary, settings, {Direction::write, 16, nodes}, nullptr, 8};
    const Candidate candidate{Algorithm::two_phase, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::client);
  };
  CHECK(client_seconds(2) == doctest::Approx(client_seconds(1)));
  CHECK(client_seconds(8) > 1.1 * client_seconds(1));
}

TEST_CASE("calls in steps keep their groups") {
  const CollectiveSettings settings = settings_of("memory");
  AccessSummary summary = summary_of({16, 4, 1'024, 64, true});
  const auto agreement = [&](Algorithm algorithm) {
    const PlanInputs inputs{summary, settings, {Direction::write, 16, 4}, nullptr, 4};
    const Candidate candidate{algorithm, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::agreement);
  };
  const auto difference = [&] {
    return agreement(Algorithm::dynamic_segmentation) - agreement(Algorithm::two_phase);
  };
  CHECK(difference() > 0);
  summary.in_steps = true;
  CHECK(difference() == doctest::Approx(0));
}

TEST_CASE("a group that moves its bytes in one round writes what follows each other at once") {
  const CollectiveSettings settings = settings_of("memory");
  const AccessSummary summary = summary_of({16, 4, 1'024, 64, true});
  const auto client_seconds = [&](Algorithm algorithm) {
    const PlanInputs inputs{summary, settings, {Direction::write, 16, 4}, nullptr, 4};
    const Candidate candidate{algorithm, PlanReason::hint};
    const CollectivePlan plan = laid_out(candidate, inputs);
    CHECK(plan.round_count == 1);
    return predict(plan, inputs).of(Resource::client);
  };
  CHECK(client_seconds(Algorithm::static_segmentation) ==
        doctest::Approx(client_seconds(Algorithm::dynamic_segmentation)));
}

TEST_CASE("groups that interleave read the pieces of each other too") {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte, .client_cost = 0};
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  const Participants all{Direction::read, 16, 8};
  const auto ost_seconds = [&](const AccessSummary& summary) {
    settings.algorithm = Algorithm::static_segmentation;
    const PlanInputs inputs{summary, settings, all, nullptr, 16};
    const Candidate candidate{Algorithm::static_segmentation, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::ost);
  };
  const AccessSummary interleaved = summary_of({16, 8, 1'024, 1'024, true});
  const AccessSummary apart = summary_of({16, 8, 1'024, 1'024, false});
  CHECK(ost_seconds(interleaved) == doctest::Approx(16 * ost_seconds(apart)).epsilon(0.1));
}

TEST_CASE("groups of whole rows of a grid of ranks do not read each other's pieces") {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte, .client_cost = 0};
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  settings.algorithm = Algorithm::static_segmentation;
  const Participants all{Direction::read, 16, 8};
  // 4 rows of 4 ranks, 2 ranks on a node.
  AccessSummary summary = summary_of({16, 8, 1'024, 1'024, true});
  const std::int64_t row = summary.bounds.length / 4;
  summary.span_bytes = 16 * row;
  summary.node_bounds.length = row;
  summary.span_of_others = 7 * row;
  const auto ost_seconds = [&](int groups) {
    const PlanInputs inputs{summary, settings, all, nullptr, groups};
    const Candidate candidate{Algorithm::static_segmentation, PlanReason::hint};
    return predict(laid_out(candidate, inputs), inputs).of(Resource::ost);
  };
  CHECK(ost_seconds(4) == doctest::Approx(ost_seconds(2)));
  CHECK(ost_seconds(8) == doctest::Approx(2 * ost_seconds(4)));
}

TEST_CASE("one read of a group bridges the gaps of a round and waits for one answer") {
  machine::Machine machine;
  machine.ost = {.bandwidth = 12 * mebibyte};
  machine.ost_latency_us = 60'000;
  CollectiveSettings settings = settings_of("lustre", 8);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  settings.algorithm = Algorithm::static_segmentation;
  const Participants all{Direction::read, 16, 8};
  const AccessSummary summary = summary_of({16, 8, 1'024, 8, true});
  const PlanInputs inputs{summary, settings, all, nullptr, 8};
  const Candidate candidate{Algorithm::static_segmentation, PlanReason::hint};
  CHECK(predict(laid_out(candidate, inputs), inputs).of(Resource::agreement) < 0.07);
}

TEST_CASE("of equal predictions, reads have static segmentation and writes dynamic") {
  const AccessSummary summary = summary_of({16, 8, 1'024, 64, true});
  const CollectiveSettings settings = settings_of("lustre", 8);
  const auto first_segmentation = [&](Direction direction) {
    const std::vector<PredictedPlan> plans = compared_plans(summary, settings, {direction, 16, 8});
    const auto is_segmentation = [](const PredictedPlan& one) {
      return one.plan.algorithm == Algorithm::static_segmentation ||
             one.plan.algorithm == Algorithm::dynamic_segmentation;
    };
    return std::ranges::find_if(plans, is_segmentation)->plan.algorithm;
  };
  CHECK(first_segmentation(Direction::read) == Algorithm::static_segmentation);
  CHECK(first_segmentation(Direction::write) == Algorithm::dynamic_segmentation);
}

TEST_CASE("equal calls in components with other stripes are decided apart") {
  Layout layout;
  layout.is_composite = true;
  layout.components = {
      {.end = 64 * mebibyte, .striping = {.stripe_size = mebibyte, .stripe_count = 1}},
      {.begin = 64 * mebibyte, .striping = {.stripe_size = mebibyte, .stripe_count = 8}}};
  CollectiveSettings settings = settings_of("lustre");
  settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 8).value());
  const Participants all{Direction::write, 16, 8};
  AccessSummary summary = summary_of({16, 8, 47'008, 42, true});
  ChoiceMemory memory;
  const std::int32_t in_head = decide(summary, settings, all, &memory).aggregator_count;
  summary.bounds.offset += 128 * mebibyte;
  summary.node_bounds.offset += 128 * mebibyte;
  const std::int32_t behind = decide(summary, settings, all, &memory).aggregator_count;
  CHECK(in_head < behind);
  CHECK(behind == 8);
}

TEST_CASE("domains begin at the stripes of the component that a call accesses") {
  Layout layout;
  layout.is_composite = true;
  layout.components = {
      {.end = 128 * mebibyte, .striping = {.stripe_size = 64 << 10, .stripe_count = 8}},
      {.begin = 128 * mebibyte, .striping = {.stripe_size = 4 * mebibyte, .stripe_count = 8}}};
  CollectiveSettings settings = settings_of("lustre");
  settings.alignment_bytes = 4 * mebibyte;
  settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 8).value());
  AccessSummary summary = summary_of({16, 8, 1'024, 8, true});
  for (const std::int64_t place : {std::int64_t{3} * mebibyte, 131 * mebibyte}) {
    summary.bounds.offset = place;
    const CollectivePlan plan = decide(summary, settings, {Direction::write, 16, 8});
    CHECK(plan.origin == (place < 128 * mebibyte ? place : 128 * mebibyte));
  }
}

TEST_CASE("a memory keeps the last calls") {
  ChoiceMemory memory;
  CallShape shape;
  for (shape.summary.bytes = 0; shape.summary.bytes < 100; ++shape.summary.bytes) {
    memory.keep(shape, Choice{{Algorithm::direct, PlanReason::cost}, shape.summary.bytes});
  }
  shape.summary.bytes = 99;
  REQUIRE(memory.find(shape) != nullptr);
  CHECK(memory.find(shape)->aggregator_count == 99);
  shape.summary.bytes = 10;
  CHECK(memory.find(shape) == nullptr);
}

namespace {

/// A memory of one call, predicted to take 1 s directly, because of its client, and 1.5 s through
/// aggregators.
struct Learner {
  Learner() { remember(); }
  void remember(double unit = 1.0) {
    Prediction direct{.seconds = unit};
    direct.of(Resource::client) = unit;
    Prediction aggregated{.seconds = 1.5 * unit};
    aggregated.of(Resource::client) = 0.1 * unit;
    aggregated.of(Resource::cores) = 1.5 * unit;
    memory.keep(shape,
                {{{.algorithm = Algorithm::direct}, direct},
                 {{.algorithm = Algorithm::two_phase, .aggregator_count = 2}, aggregated}},
                0);
  }
  /// The rules say two_phase, and direct is predicted to be faster.
  void remember_against_rules() {
    memory.forget();
    memory.keep(shape,
                {{{.algorithm = Algorithm::two_phase, .aggregator_count = 2}, {.seconds = 1.5}},
                 {{.algorithm = Algorithm::direct}, {.seconds = 1.0}}},
                1);
  }
  void read_in_steps() {
    shape.participants.direction = Direction::read;
    shape.summary.in_steps = true;
  }
  void calls(int count, double seconds) {
    for (int i = 0; i < count; ++i) memory.learn(shape, seconds);
  }
  [[nodiscard]] Algorithm algorithm() { return memory.find(shape)->candidate.algorithm; }

  CallShape shape;
  ChoiceMemory memory;
};

}  // namespace

namespace {

/// The plans of a call like that of Learner, elsewhere on the stripes: first direct, then through
/// aggregators.
std::vector<PredictedPlan> plans_of(double direct_seconds, double aggregated_seconds) {
  return {{{.algorithm = Algorithm::direct}, {.seconds = direct_seconds}},
          {{.algorithm = Algorithm::two_phase, .aggregator_count = 2},
           {.seconds = aggregated_seconds}}};
}

CallShape elsewhere(CallShape shape) {
  shape.nodes_per_slot += 1;
  return shape;
}

std::size_t steadied(const ChoiceMemory& memory, const CallShape& shape,
                     std::vector<PredictedPlan> plans, std::size_t chosen) {
  return memory.steadied(shape, plans, chosen);
}

}  // namespace

TEST_CASE("a call elsewhere on the stripes keeps the plan unless another is clearly faster") {
  const Learner learner;
  const CallShape other = elsewhere(learner.shape);
  CHECK(steadied(learner.memory, other, plans_of(1.0, 0.9), 1) == 0);
  CHECK(steadied(learner.memory, other, plans_of(1.0, 0.5), 1) == 1);
  CallShape larger = other;
  larger.summary.bytes += 1;
  CHECK(steadied(learner.memory, larger, plans_of(1.0, 0.9), 1) == 1);
}

TEST_CASE("calls in steps keep the plan across components unless another is clearly faster") {
  const StripedRegion component{};
  for (const bool in_steps : {false, true}) {
    Learner learner;
    learner.shape.summary.in_steps = in_steps;
    learner.memory.keep(learner.shape, plans_of(1.0, 1.5), 0);
    CallShape other = learner.shape;
    other.region = &component;
    CHECK(steadied(learner.memory, other, plans_of(1.0, 0.9), 1) == (in_steps ? 0 : 1));
    CHECK(steadied(learner.memory, other, plans_of(1.0, 0.5), 1) == 1);
    other.stripes = stripes_on(4);  // of a layout that has got components since
    CHECK(steadied(learner.memory, other, plans_of(1.0, 0.9), 1) == (in_steps ? 0 : 1));
  }
}

TEST_CASE("where steps begin, a plan that is slightly faster is taken") {
  const Learner learner;
  CallShape in_steps = learner.shape;
  in_steps.summary.in_steps = true;
  CHECK(steadied(learner.memory, in_steps, plans_of(1.0, 0.99), 1) == 0);
  CHECK(steadied(learner.memory, in_steps, plans_of(1.0, 0.96), 1) == 1);
}

TEST_CASE("a call elsewhere on the stripes has the plan that equal pieces were seen to need") {
  Learner learner;
  learner.calls(4, 6.0);
  REQUIRE(learner.algorithm() == Algorithm::two_phase);
  CallShape shape = learner.shape;
  for (int calls = 0; calls < 3; ++calls) {
    shape = elsewhere(shape);
    std::vector<PredictedPlan> plans = plans_of(1.0, 1.5);
    const std::size_t chosen = learner.memory.steadied(shape, plans, 0);
    CHECK(chosen == 1);
    CHECK(plans[chosen].plan.reason == PlanReason::observed);
    learner.memory.keep(shape, plans, chosen);
  }
}

TEST_CASE("a plan that is safe does not help one that is not clearly faster than the rules'") {
  const auto plan_of = [](double seconds, double messages) {
    Prediction prediction{.seconds = seconds};
    prediction.of(Resource::client) = seconds;
    prediction.of(Resource::messages) = messages;
    return PredictedPlan{{}, prediction};
  };
  const std::vector<PredictedPlan> plans{plan_of(1.0, 0), plan_of(0.98, 0), plan_of(0.95, 0.9)};
  CHECK(choose({plans[0], plans[2]}, Direction::read) == 0);
  CHECK(choose(plans, Direction::read) == 1);
}

TEST_CASE("with the figures of a class, plans that move more bytes must gain more") {
  const auto plan_of = [](double seconds, double ost) {
    Prediction prediction{.seconds = seconds};
    prediction.of(Resource::ost) = ost;
    return PredictedPlan{{}, prediction};
  };
  const std::vector<PredictedPlan> plans{plan_of(1.0, 0.1), plan_of(0.5, 0.4)};
  CHECK(choose(plans, Direction::read) == 1);
  CHECK(choose(plans, Direction::read, Figures::of_class) == 0);
  CHECK(choose({plans[0], plan_of(0.1, 0.1)}, Direction::read, Figures::of_class) == 1);
}

TEST_CASE("the figures of a class are doubted where files have stripes") {
  machine::Machine machine{.is_of_class = true};
  const auto figures = [&](std::shared_ptr<const StripeMap> stripes) {
    return figures_of({.stripes = std::move(stripes),
                       .machine = std::make_shared<const machine::Machine>(machine)});
  };
  CHECK(figures(stripes_on(4)) == Figures::of_class);
  CHECK(figures(nullptr) == Figures::measured);
  machine.is_of_class = false;
  CHECK(figures(stripes_on(4)) == Figures::measured);
}

TEST_CASE("of many shapes, those that are used stay known") {
  const auto shape = [](std::int64_t bytes) {
    CallShape one;
    one.summary.bytes = bytes;
    return one;
  };
  ChoiceMemory memory;
  for (std::int64_t bytes = 1; bytes <= 100; ++bytes) {
    memory.keep(shape(bytes), Choice{.aggregator_count = bytes});
    REQUIRE(memory.find(shape(1)) != nullptr);
  }
  CHECK(memory.find(shape(1))->aggregator_count == 1);
  CHECK(memory.find(shape(2)) == nullptr);
  CHECK(memory.find(shape(60))->aggregator_count == 60);
  CHECK(memory.find(shape(100))->aggregator_count == 100);
}

TEST_CASE("calls that take as long as predicted keep their plan") {
  Learner learner;
  learner.calls(20, 1.9);
  CHECK(learner.algorithm() == Algorithm::direct);
}

TEST_CASE("the first call and single slow calls change no plan") {
  Learner learner;
  learner.calls(1, 100.0);
  learner.calls(1, 1.0);
  learner.calls(20, 100.0);
  CHECK(learner.algorithm() == Algorithm::direct);
}

TEST_CASE("calls that take far longer than predicted change the plan") {
  Learner learner;
  learner.calls(3, 6.0);
  CHECK(learner.algorithm() == Algorithm::direct);
  CHECK_FALSE(learner.memory.is_settled(learner.shape));
  learner.calls(1, 6.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
  CHECK(learner.memory.find(learner.shape)->candidate.reason == PlanReason::observed);
  learner.calls(20, 2.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
  CHECK(learner.memory.is_settled(learner.shape));
}

TEST_CASE("reads in steps are judged later, when nodes read ahead") {
  Learner learner;
  learner.read_in_steps();
  learner.remember();
  learner.calls(7, 6.0);
  CHECK(learner.algorithm() == Algorithm::direct);
  learner.calls(1, 6.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
}

TEST_CASE("a plan that proves slower is left for good") {
  Learner learner;
  learner.calls(4, 6.0);
  learner.calls(4, 7.0);
  CHECK(learner.algorithm() == Algorithm::direct);
  learner.calls(20, 30.0);
  CHECK(learner.algorithm() == Algorithm::direct);
}

TEST_CASE("a plan that proves clearly slower is left after its second call") {
  Learner learner;
  learner.calls(4, 6.0);
  learner.calls(1, 8.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
  learner.calls(1, 8.0);
  CHECK(learner.algorithm() == Algorithm::direct);
}

TEST_CASE("one slow call of a new plan is no reason to leave it") {
  Learner learner;
  learner.calls(4, 6.0);
  learner.calls(2, 7.0);
  learner.calls(20, 2.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
}

TEST_CASE("the first call of a new plan may also set up views and memory") {
  constexpr double millisecond = 1e-3;
  for (const double first : {13.5, 14.5}) {
    CAPTURE(first);
    Learner learner;
    learner.memory.forget();
    learner.remember(millisecond);
    learner.calls(4, 6 * millisecond);
    learner.calls(1, first * millisecond);
    CHECK(learner.algorithm() == (first < 14 ? Algorithm::two_phase : Algorithm::direct));
  }
}

TEST_CASE("a plan that proves far slower is left at once") {
  Learner learner;
  learner.calls(4, 6.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
  learner.calls(1, 13.0);
  CHECK(learner.algorithm() == Algorithm::direct);
  CHECK(learner.memory.is_settled(learner.shape));
}

TEST_CASE("if predictions are wrong beyond reason, the rules decide") {
  Learner by_rules;
  by_rules.calls(20, 50.0);
  CHECK(by_rules.algorithm() == Algorithm::direct);
  for (const double then : {40.0, 60.0}) {
    Learner learner;
    learner.remember_against_rules();
    learner.calls(3, 50.0);
    CHECK(learner.algorithm() == Algorithm::direct);
    learner.calls(1, 50.0);
    CHECK(learner.algorithm() == Algorithm::two_phase);
    CHECK(learner.memory.find(learner.shape)->candidate.reason == PlanReason::observed);
    learner.calls(20, then);
    CHECK(learner.algorithm() == (then < 50 ? Algorithm::two_phase : Algorithm::direct));
  }
}

TEST_CASE("if predictions are wrong beyond reason, storage is slower, and another plan faster") {
  Learner learner;
  Prediction direct{.seconds = 1.0};
  direct.of(Resource::ost) = 0.5;
  Prediction two_phase{.seconds = 2.0};
  two_phase.of(Resource::ost) = 0.1;
  for (const bool in_steps : {false, true}) {
    CAPTURE(in_steps);
    learner.memory.forget();
    learner.shape.participants.direction = Direction::read;
    learner.shape.summary.in_steps = in_steps;
    learner.memory.keep(learner.shape,
                        {{{.algorithm = Algorithm::direct}, direct},
                         {{.algorithm = Algorithm::two_phase, .aggregator_count = 2}, two_phase}},
                        0);
    learner.calls(4, 50.0);
    CHECK(learner.algorithm() == Algorithm::two_phase);
  }
}

TEST_CASE(
    "reads in steps are judged by their mean, as read-ahead makes single ones short or long") {
  Learner learner;
  learner.read_in_steps();
  learner.remember();
  const auto alternate = [&](int count, double seconds) {
    for (int i = 0; i < count; ++i) learner.calls(1, i % 2 == 0 ? 0.0 : 2 * seconds);
  };
  alternate(8, 6.0);
  CHECK(learner.algorithm() == Algorithm::two_phase);
  SUBCASE("a faster plan is kept although single calls are long") {
    alternate(20, 4.0);
    CHECK(learner.algorithm() == Algorithm::two_phase);
    CHECK(learner.memory.is_settled(learner.shape));
  }
  SUBCASE("a slower one is left") {
    alternate(8, 8.0);
    CHECK(learner.algorithm() == Algorithm::direct);
  }
  SUBCASE("a far slower one is left before all its calls are seen") {
    learner.calls(3, 60.0);
    CHECK(learner.algorithm() == Algorithm::direct);
  }
}

TEST_CASE("reads in steps keep their plan if none is predicted to be faster on slower storage") {
  Learner learner;
  learner.read_in_steps();
  learner.remember_against_rules();
  learner.calls(20, 50.0);
  CHECK(learner.algorithm() == Algorithm::direct);
}

TEST_CASE("a change must be worthwhile") {
  Learner learner;
  learner.calls(20, 2.1);  // the aggregators are predicted to take 1.5 s
  CHECK(learner.algorithm() == Algorithm::direct);
}

}  // namespace nacre::plan
