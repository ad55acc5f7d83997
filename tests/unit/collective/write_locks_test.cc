// Either all aggregators hold a group lock while they write, or no aggregator does. Narrow locks
// are requested before the first write.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "collective/engine.h"
#include "plan/layout/stripe_options.h"
#include "random_access.h"
#include "store/forwarding.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::collective {
namespace {

using namespace fixtures;
using plan::Direction;

constexpr int rank_count = 4;
constexpr std::int64_t stripe = 64 << 10;

/// State that all opens of the file share.
struct Group {
  std::optional<int> refusing_rank;
  std::optional<int> rank_without_locks_ahead;
  std::optional<int> failing_rank;  // whose writes fail
  std::atomic<int> holders = 0;
  std::atomic<int> taken = 0;
  std::atomic<int> narrowed = 0;
  std::atomic<std::int64_t> locked_ahead = 0;  // bytes
  std::atomic<int> written_with = 0;           // writes under the lock
  std::atomic<int> written_without = 0;
};

class Held final : public store::FileLock {
 public:
  Held(Group& group, bool& holds) : group_(group), holds_(holds) {
    ++group_.holders;
    holds_ = true;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() override {
    --group_.holders;
    holds_ = false;
  }

 private:
  Group& group_;
  bool& holds_;
};

/// The open file of one rank.
class LockedFile final : public store::ForwardingFile {
 public:
  LockedFile(std::unique_ptr<store::StoreFile> file, Group& group, int rank)
      : ForwardingFile(std::move(file)), group_(group), rank_(rank) {}

  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    CHECK(number == 7);
    if (group_.refusing_rank == rank_) return Error{ErrorClass::io, EAGAIN, "another is held"};
    ++group_.taken;
    return std::unique_ptr<store::FileLock>(std::make_unique<Held>(group_, holds_));
  }
  Status narrow_locks() override {
    if (group_.refusing_rank == rank_) return Error{ErrorClass::io, ENOTTY, "there are none"};
    ++group_.narrowed;
    return {};
  }
  Status lock_ahead(std::span<const Extent> ranges) override {
    CHECK(group_.written_without == 0);
    if (group_.rank_without_locks_ahead == rank_) {
      return Error{ErrorClass::io, EOPNOTSUPP, "there are none ahead"};
    }
    for (const Extent& range : ranges) group_.locked_ahead += range.length;
    return {};
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    ++(holds_ ? group_.written_with : group_.written_without);
    if (group_.failing_rank == rank_) return {0, Error{ErrorClass::no_space, ENOSPC, "full"}};
    return ForwardingFile::write(pieces, offset);
  }

 private:
  Group& group_;
  int rank_;
  bool holds_ = false;
};

/// The store of one rank.
struct Rank final : FileSource {
  Rank(store::Store& store, Group& group, int rank)
      : opened(*store.open("f", {.read = true, .write = true}), group, rank),
        profiler(profile, Phase::plan) {}
  Result<store::StoreFile*> file() override { return &opened; }

  LockedFile opened;
  Profile profile;
  Profiler profiler;
  ViewMemory views;
  NodeRounds rounds;
  RankGroupCache groups;
  RepeatedAccess repeated;
  RankAccess access;
};

/// A layout of two stripes whose objects exist.
plan::CollectiveSettings settings_of(int aggregators, plan::WriteLocks locks) {
  plan::Layout layout = plan::parse_stripe_options("-c 2 -S 64k").value();
  layout.components.front().striping.objects = {{.ost = 0}, {.ost = 1}};
  plan::CollectiveSettings settings{.algorithm = plan::Algorithm::two_phase,
                                    .aggregator_count = aggregators,
                                    .cycle_bytes = stripe,
                                    .write_locks = locks};
  settings.stripes =
      std::make_shared<const plan::StripeMap>(plan::StripeMap::of(layout, 2).value());
  return settings;
}

/// A view of pieces of `bytes` bytes, dealt to the ranks round robin.
plan::TypeMap every_fourth(std::int64_t bytes) {
  return plan::TypeMap::bytes(bytes).resized(0, rank_count * bytes).value();
}

/// Every rank writes every fourth piece. `asks`: the ranks that pass a group lock.
std::vector<Outcome> write(Group& group, const plan::CollectiveSettings& settings,
                           const std::vector<bool>& asks) {
  constexpr std::int64_t piece = 1'000;
  constexpr std::int64_t count = 1'000;
  Random random(11);
  testing::MemoryStore store;
  create_file(store, "f", {});
  std::vector<std::unique_ptr<Rank>> ranks;
  Bytes expected(piece * count * rank_count);
  for (int i = 0; i < rank_count; ++i) {
    ranks.push_back(std::make_unique<Rank>(store, group, i));
    RankAccess& access = ranks.back()->access;
    access.file.view = {every_fourth(piece), i * piece};
    access.file.byte_count = piece * count;
    access.memory_type = plan::TypeMap::bytes(1);
    access.buffer = random_bytes(random, piece * count);
    overlay(expected, access);
  }
  testing::InProcessNetwork network({.rank_count = rank_count, .ranks_per_node = 1});
  auto outcomes = testing::run_polled<Outcome>(
      network,
      [&](int i) {
        Rank& rank = *ranks[static_cast<std::size_t>(i)];
        CollectiveCall call;
        call.direction = Direction::write;
        call.file = rank.access.file;
        call.memory = rank.access.memory();
        if (asks[static_cast<std::size_t>(i)]) call.group_lock = 7;
        const CollectiveFile file{
            rank, rank.views, rank.rounds, rank.groups, rank.repeated, rank.profiler, 0};
        return run_collective(network.transport(i), file, std::move(call), settings);
      },
      1);
  REQUIRE(outcomes.has_value());
  CHECK(group.holders == 0);
  if (group.failing_rank) return *std::move(outcomes);
  CHECK(*store.contents("f") == expected);
  return *std::move(outcomes);
}

/// Requires that no rank failed and that the lock was used as expected.
bool all_are(const std::vector<Outcome>& outcomes, plan::WriteLocks locks) {
  return std::ranges::all_of(outcomes, [&](const Outcome& outcome) {
    return !outcome.error && outcome.plan.write_locks == locks;
  });
}

}  // namespace

TEST_CASE("all aggregators hold the group lock while they write") {
  Group group;
  CHECK(all_are(write(group, settings_of(4, plan::WriteLocks::group), {true, true, true, true}),
                plan::WriteLocks::group));
  CHECK(group.taken == 4);
  CHECK(group.written_with > 0);
  CHECK(group.written_without == 0);
}

TEST_CASE("if one aggregator is refused the group lock, no aggregator holds it") {
  for (int rank = 0; rank < rank_count; ++rank) {
    Group group;
    group.refusing_rank = rank;
    const std::vector<Outcome> outcomes =
        write(group, settings_of(4, plan::WriteLocks::group), {true, true, true, true});
    CHECK(all_are(outcomes, plan::WriteLocks::usual));
    CHECK(outcomes.front().locks_refusal.find("another is held") != std::string::npos);
    CHECK(group.written_with == 0);
  }
}

TEST_CASE("after a failed write no aggregator holds the group lock") {
  for (int rank = 0; rank < rank_count; ++rank) {
    Group group;
    group.failing_rank = rank;
    const std::vector<Outcome> outcomes =
        write(group, settings_of(4, plan::WriteLocks::group), {true, true, true, true});
    for (const Outcome& outcome : outcomes) {
      REQUIRE(outcome.error.has_value());
      CHECK(outcome.error->error_class == ErrorClass::no_space);
    }
    CHECK(group.taken == 4);
  }
}

TEST_CASE("the group lock is not requested if one rank passes none, or objects have one writer") {
  Group group;
  CHECK(all_are(write(group, settings_of(4, plan::WriteLocks::group), {true, true, false, true}),
                plan::WriteLocks::usual));
  CHECK(all_are(write(group, settings_of(2, plan::WriteLocks::group), {true, true, true, true}),
                plan::WriteLocks::usual));
  CHECK(group.taken == 0);
}

TEST_CASE("all aggregators request narrow locks, also if a rank passes no group lock") {
  Group group;
  const plan::CollectiveSettings settings = settings_of(4, plan::WriteLocks::narrow);
  CHECK(all_are(write(group, settings, {true, false, true, true}), plan::WriteLocks::narrow));
  CHECK(group.narrowed == 4);
  CHECK(group.taken == 0);
  group.refusing_rank = 2;
  const std::vector<Outcome> outcomes = write(group, settings, {true, true, true, true});
  CHECK(all_are(outcomes, plan::WriteLocks::usual));
  CHECK(outcomes.front().locks_refusal.find("there are none") != std::string::npos);
}

TEST_CASE("aggregators lock their whole domains ahead of the first write") {
  Group group;
  const plan::CollectiveSettings settings = settings_of(4, plan::WriteLocks::ahead);
  const std::vector<Outcome> outcomes = write(group, settings, {true, true, true, true});
  CHECK(all_are(outcomes, plan::WriteLocks::ahead));
  CHECK(group.narrowed == 4);
  CHECK(group.locked_ahead == outcomes.front().plan.end - outcomes.front().plan.origin);
}

TEST_CASE("if a rank gets no locks ahead, narrow locks are left, if all aggregators have them") {
  Group group;
  const plan::CollectiveSettings settings = settings_of(4, plan::WriteLocks::ahead);
  group.rank_without_locks_ahead = 1;
  const std::vector<Outcome> outcomes = write(group, settings, {true, true, true, true});
  CHECK(all_are(outcomes, plan::WriteLocks::narrow));
  CHECK(outcomes.front().locks_refusal.find("none ahead") != std::string::npos);
  Group without;
  without.refusing_rank = 2;
  CHECK(all_are(write(without, settings, {true, true, true, true}), plan::WriteLocks::usual));
}

}  // namespace nacre::collective
