// Locks are granted wide and called back on conflict. Conflicting locks never overlap.
#include "sim/lustre/extent_locks.h"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::sim {
namespace {

using Nodes = std::vector<std::int32_t>;

ExtentLocks::Lock writes(std::int32_t node, std::int64_t offset, std::int64_t length) {
  return {node, {offset, length}, true};
}
ExtentLocks::Lock reads(std::int32_t node, std::int64_t offset, std::int64_t length) {
  return {node, {offset, length}, false};
}

std::uint64_t wait_for(ExtentLocks& locks, const ExtentLocks::Lock& wanted) {
  const std::uint64_t request = locks.number_request();
  locks.wait_for(request, wanted);
  return request;
}

Nodes take(ExtentLocks& locks, const ExtentLocks::Lock& wanted) {
  const std::uint64_t request = locks.number_request();
  Nodes holders = locks.call_back(request, wanted);
  locks.end_call_back(request);
  locks.grant(wanted);
  return holders;
}

}  // namespace

TEST_CASE("a single node gets a lock on the whole object with its first access") {
  ExtentLocks locks(true);
  CHECK(take(locks, writes(0, 100, 10)).empty());
  CHECK(locks.covers(writes(0, 0, 1000)));
  CHECK(locks.covers(reads(0, 1 << 20, 10)));
  CHECK_FALSE(locks.covers(reads(1, 0, 1)));
}

TEST_CASE("conflicting locks are called back, and bound the next granted lock") {
  ExtentLocks locks(true);
  CHECK(take(locks, writes(0, 0, 100)).empty());
  CHECK(take(locks, writes(1, 100, 100)) == Nodes{0});
  CHECK(take(locks, writes(0, 0, 100)) == Nodes{1});
  locks.drop(0);
  CHECK(take(locks, writes(0, 0, 100)).empty());
  CHECK(take(locks, writes(1, 200, 50)) == Nodes{0});
  CHECK(take(locks, writes(2, 0, 100)) == Nodes{1});
  CHECK(locks.covers(writes(2, 0, 1000)));
}

TEST_CASE("ranges for which other nodes wait bound a granted lock") {
  ExtentLocks locks(true);
  wait_for(locks, writes(0, 100, 100));
  wait_for(locks, writes(1, 400, 100));
  const std::uint64_t at_the_begin = wait_for(locks, writes(2, 0, 50));
  CHECK(take(locks, writes(0, 100, 100)).empty());
  CHECK(locks.covers(writes(0, 50, 350)));
  CHECK_FALSE(locks.covers(writes(0, 50, 351)));
  CHECK_FALSE(locks.covers(writes(0, 49, 351)));
  locks.give_up(at_the_begin);
  CHECK(take(locks, writes(1, 400, 100)).empty());
  CHECK(locks.covers(writes(1, 400, 1000)));
}

TEST_CASE("a lock serves accesses until it is called back, and then excludes its node too") {
  ExtentLocks locks(true);
  CHECK(take(locks, writes(0, 0, 100)).empty());
  const ExtentLocks::Lock wanted = writes(1, 500, 100);
  const std::uint64_t request = wait_for(locks, wanted);
  CHECK(locks.covers(writes(0, 0, 100)));
  CHECK_FALSE(locks.is_free(wanted));
  CHECK(locks.call_back(request, wanted) == Nodes{0});
  CHECK_FALSE(locks.covers(writes(0, 0, 100)));
  CHECK_FALSE(locks.is_free(wanted));
  CHECK_FALSE(locks.is_free(writes(0, 0, 100)));
  const ExtentLocks::Lock other = writes(2, 700, 100);
  CHECK(locks.call_back(wait_for(locks, other), other).empty());  // it is called back already
  locks.end_call_back(request);
  CHECK(locks.is_free(wanted));
  CHECK(locks.is_free(writes(0, 0, 100)));
}

TEST_CASE("a lock is not extended over one of its node that is called back") {
  ExtentLocks locks(true);
  const std::uint64_t behind = wait_for(locks, writes(1, 100, 10));
  CHECK(take(locks, writes(0, 0, 10)).empty());  // up to 100
  locks.give_up(behind);
  const ExtentLocks::Lock wanted = writes(1, 50, 10);
  CHECK(locks.call_back(wait_for(locks, wanted), wanted) == Nodes{0});
  const ExtentLocks::Lock apart = writes(0, 200, 10);
  CHECK(locks.is_free(apart));
  locks.grant(apart);
  CHECK(locks.covers(writes(0, 100, 10)));
  CHECK_FALSE(locks.covers(writes(0, 99, 10)));
}

TEST_CASE("requests that conflict are next in the order in which they came, also equal ones") {
  ExtentLocks locks(true);
  const ExtentLocks::Lock range = writes(0, 0, 100);
  const std::uint64_t first = wait_for(locks, range);
  const std::uint64_t second = wait_for(locks, reads(1, 50, 100));
  const std::uint64_t third = wait_for(locks, range);
  const std::uint64_t apart = wait_for(locks, writes(2, 200, 100));
  CHECK(locks.is_next(first));
  CHECK_FALSE(locks.is_next(second));
  CHECK_FALSE(locks.is_next(third));
  CHECK(locks.is_next(apart));
  locks.give_up(first);
  CHECK(locks.is_next(second));
  CHECK_FALSE(locks.is_next(third));
}

TEST_CASE("narrow locks have the requested range, and adjacent locks merge") {
  ExtentLocks locks(false);
  CHECK(take(locks, writes(0, 100, 100)).empty());
  CHECK_FALSE(locks.covers(writes(0, 99, 10)));
  CHECK(take(locks, writes(1, 0, 100)).empty());
  CHECK(take(locks, writes(0, 200, 100)).empty());
  CHECK(locks.covers(writes(0, 150, 100)));
}

TEST_CASE("a lock ahead of a write conflicts with what others hold or wait for") {
  ExtentLocks locks(true);
  CHECK_FALSE(locks.conflicts(writes(1, 0, 10)));
  locks.grant({0, {0, 100}, true, true});
  CHECK(locks.conflicts(writes(1, 99, 10)));
  CHECK_FALSE(locks.conflicts(writes(1, 100, 10)));
  CHECK_FALSE(locks.conflicts(writes(0, 0, 10)));
  wait_for(locks, writes(2, 200, 10));
  CHECK(locks.conflicts(writes(1, 205, 1)));
}

TEST_CASE("readers share locks") {
  ExtentLocks locks(true);
  CHECK(take(locks, reads(0, 0, 10)).empty());
  CHECK(take(locks, reads(1, 0, 10)).empty());
  CHECK(locks.covers(reads(0, 5, 1000)));
  CHECK(take(locks, writes(2, 5, 1)) == Nodes{0, 1});
  CHECK_FALSE(locks.covers(reads(0, 0, 1)));
}

TEST_CASE("a new lock never conflicts with granted locks") {
  const std::uint64_t seed = 20261122;
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    ExtentLocks locks(round % 2 == 0);
    for (int step = 0; step < 30; ++step) {
      const ExtentLocks::Lock wanted{
          static_cast<std::int32_t>(random() % 4),
          {static_cast<std::int64_t>(random() % 50), static_cast<std::int64_t>(1 + random() % 20)},
          random() % 2 == 0};
      if (!locks.covers(wanted)) take(locks, wanted);
      CHECK(locks.covers(wanted));
      for (std::int32_t other = 0; other < 4; ++other) {
        if (other == wanted.node) continue;
        for (std::int64_t at = wanted.extent.offset; at < wanted.extent.end(); ++at) {
          CHECK_FALSE(locks.covers(writes(other, at, 1)));
          if (wanted.exclusive) CHECK_FALSE(locks.covers(reads(other, at, 1)));
        }
      }
    }
  }
}

}  // namespace nacre::sim
