// Special write locks are requested only if they have a benefit. A group lock is requested only if
// no page has two writers.
#include "plan/decide/write_locks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "base/rounding.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/decide.h"
#include "plan/layout/stripe_options.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t page = 64 << 10;

/// Settings for a file striped by `options` whose objects exist.
CollectiveSettings settings_of(const std::string& options) {
  Layout layout = parse_stripe_options(options).value();
  std::int32_t ost = 0;
  for (LayoutComponent& component : layout.components) {
    component.flags |= component_instantiated;
    for (int i = 0; i < component.striping.stripe_count; ++i) {
      component.striping.objects.push_back({.ost = ost++ % 4});
    }
  }
  CollectiveSettings settings{.algorithm = Algorithm::two_phase, .write_locks = WriteLocks::group};
  settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, 4).value());
  return settings;
}

constexpr AccessSummary interleaved{.bounds = {1000, 64 << 20},
                                    .bytes = 64 << 20,
                                    .run_count = 64 << 10,
                                    .memory_run_count = 64,
                                    .span_bytes = std::int64_t{8} * (64 << 20),
                                    .bytes_max = 8 << 20,
                                    .rank_count = 8};

constexpr Participants eight_nodes{Direction::write, 8, 8, true};

WriteLocks locks_of(const CollectiveSettings& settings,
                    const Participants& participants = eight_nodes) {
  return decide(interleaved, settings, participants).write_locks;
}

std::string obstacle_to(const CollectiveSettings& settings,
                        const Participants& participants = eight_nodes) {
  const CollectivePlan plan = decide(interleaved, settings, participants);
  return std::string(write_locks_obstacle(plan, settings, participants));
}

bool gains(const CollectiveSettings& settings) { return locks_of(settings) == WriteLocks::group; }

}  // namespace

TEST_CASE("a group lock is requested if aggregators share OSTs") {
  CollectiveSettings settings = settings_of("-c 2 -S 64k");
  settings.aggregator_count = 8;
  CHECK(gains(settings));
  settings.sharing = OstSharing::ranges;
  CHECK(gains(settings));
  settings.pattern = DomainPattern::stripes;
  CHECK(gains(settings));
  settings.pattern = DomainPattern::even;
  CHECK_FALSE(gains(settings));
}

TEST_CASE("no group lock if each OST has one writer") {
  CollectiveSettings settings = settings_of("-c 4 -S 64k");
  settings.aggregator_count = 4;
  CHECK_FALSE(gains(settings));
  settings.aggregator_count = 2;
  CHECK_FALSE(gains(settings));
}

TEST_CASE("no group lock if it would create objects, or without stripes") {
  CollectiveSettings settings{
      .algorithm = Algorithm::two_phase, .aggregator_count = 8, .write_locks = WriteLocks::group};
  CHECK_FALSE(gains(settings));
  const Layout unmade = parse_stripe_options("-c 2 -S 64k").value();
  settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(unmade, 4).value());
  CHECK_FALSE(gains(settings));
}

TEST_CASE("no group lock if a rank may not hold it, on one node, or for reads") {
  CollectiveSettings settings = settings_of("-c 2 -S 64k");
  settings.aggregator_count = 8;
  CHECK(locks_of(settings, {Direction::write, 8, 8, false}) == WriteLocks::usual);
  CHECK(locks_of(settings, {Direction::write, 8, 1, true}) == WriteLocks::usual);
  CHECK(locks_of(settings, {Direction::read, 8, 8, true}) == WriteLocks::usual);
}

TEST_CASE("narrow locks have fewer conditions") {
  CollectiveSettings settings = settings_of("-c 2 -S 64k");
  settings.aggregator_count = 8;
  settings.write_locks = WriteLocks::narrow;
  const Participants busy{Direction::write, 8, 8, false};
  CHECK(locks_of(settings, busy) == WriteLocks::narrow);
  settings.pattern = DomainPattern::even;
  CHECK(locks_of(settings, busy) == WriteLocks::narrow);
  settings.pattern = DomainPattern::osts;
  settings.aggregator_count = 2;
  CHECK(locks_of(settings, busy) == WriteLocks::usual);
}

TEST_CASE("a file with a part on the metadata server gets no narrow locks") {
  for (const WriteLocks locks : {WriteLocks::narrow, WriteLocks::ahead}) {
    CollectiveSettings settings = settings_of("-E 64k -L mdt -E -1 -c 2 -S 64k");
    settings.aggregator_count = 8;
    settings.write_locks = locks;
    CHECK(locks_of(settings) == WriteLocks::usual);
    CHECK(obstacle_to(settings).find("metadata server") != std::string::npos);
  }
}

TEST_CASE("what keeps a plan from the requested locks is said") {
  CollectiveSettings settings = settings_of("-c 2 -S 64k");
  settings.aggregator_count = 8;
  for (const WriteLocks locks : {WriteLocks::narrow, WriteLocks::ahead, WriteLocks::group}) {
    settings.write_locks = locks;
    settings.algorithm = Algorithm::two_phase;
    CHECK(obstacle_to(settings).empty());
    settings.algorithm = Algorithm::direct;
    CHECK(obstacle_to(settings).find("two_phase") != std::string::npos);
    CHECK(obstacle_to(settings, {Direction::write, 8, 1, true}).empty());
    CHECK(obstacle_to(settings, {Direction::read, 8, 8, true}).empty());
  }
  CollectivePlan plan{.algorithm = Algorithm::direct, .reason = PlanReason::single_rank};
  CHECK(write_locks_obstacle(plan, settings, eight_nodes).empty());
  plan.reason = PlanReason::no_data;
  CHECK(write_locks_obstacle(plan, settings, eight_nodes).empty());
  plan.reason = PlanReason::unordered_view;
  CHECK(write_locks_obstacle(plan, settings, eight_nodes).find("decrease") !=
        std::string_view::npos);
  settings.stripes = nullptr;
  CHECK(obstacle_to(settings).find("no OSTs") != std::string::npos);
  settings.write_locks = WriteLocks::usual;
  CHECK(obstacle_to(settings).empty());
}

TEST_CASE("with a group lock no page of 64 KiB has two writers") {
  for (const char* const options :
       {"-c 2 -S 64k", "-C 3 -S 192k", "-E 1m -c 1 -S 64k -E 8m -c 3 -S 128k -E -1 -c 2 -S 1m"}) {
    for (const std::int32_t count : {3, 5, 8}) {
      for (const DomainPattern pattern : {DomainPattern::osts, DomainPattern::stripes}) {
        CollectiveSettings settings = settings_of(options);
        settings.aggregator_count = count;
        settings.pattern = pattern;
        const CollectivePlan plan = decide(interleaved, settings, eight_nodes);
        if (plan.write_locks != WriteLocks::group) continue;
        CAPTURE(options);
        CAPTURE(count);
        const FileDomains domains = domains_of(plan, settings);
        for (std::int64_t at = round_down(plan.origin, page); at < plan.end; at += page) {
          const std::int64_t first = std::max(at, plan.origin);
          const std::int64_t last = std::min(at + page, plan.end) - 1;
          CHECK(domains.place_of(first).domain == domains.place_of(last).domain);
        }
      }
    }
  }
}

}  // namespace nacre::plan
