// Range locks exclude other processes, can be released in part, and wait.
#include "sim/lustre/range_locks.h"

#include <thread>

#include <doctest/doctest.h>

namespace nacre::sim {
namespace {

constexpr LockOwner one{0, 1};
constexpr LockOwner other{1, 1};

bool never() { return false; }

}  // namespace

TEST_CASE("shared locks are compatible; exclusive locks conflict with locks of other processes") {
  RangeLocks locks;
  CHECK(locks.take({one, {0, 10}, false}, false, never));
  CHECK(locks.take({other, {5, 10}, false}, false, never));
  CHECK_FALSE(locks.take({other, {0, 2}, true}, false, never));
  CHECK(locks.take({one, {0, 2}, true}, false, never));
  CHECK_FALSE(locks.take({other, {1, 1}, false}, false, never));
  CHECK(locks.conflict({other, {0, 5}, false})->range == Extent{0, 2});
  CHECK(locks.conflict({one, {5, 5}, true}).has_value());
}

TEST_CASE("a released range is removed from a lock") {
  RangeLocks locks;
  REQUIRE(locks.take({one, {0, 30}, true}, false, never));
  locks.release(one, {10, 10});
  CHECK(locks.take({other, {10, 10}, true}, false, never));
  CHECK(locks.conflict({other, {9, 1}, true}).has_value());
  CHECK(locks.conflict({other, {20, 1}, true}).has_value());
}

TEST_CASE("a waiting process gets the lock at its release, or is interrupted") {
  RangeLocks locks;
  REQUIRE(locks.take({one, {0, 10}, true}, false, never));
  CHECK_FALSE(locks.take({other, {0, 1}, true}, true, [] { return true; }));
  std::thread waiter([&] { CHECK(locks.take({other, {0, 1}, true}, true, never)); });
  locks.release(one, {0, 10});
  waiter.join();
  CHECK(locks.conflict({one, {0, 1}, true}).has_value());
}

}  // namespace nacre::sim
