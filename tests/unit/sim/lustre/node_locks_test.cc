// Group locks of nodes, waiting for them, and narrow locks.
#include "sim/lustre/node_locks.h"

#include <cerrno>

#include <doctest/doctest.h>

#include "sim/lustre/errno_result.h"

namespace nacre::sim {
namespace {

bool never() { return false; }
bool always() { return true; }

}  // namespace

TEST_CASE("nodes hold a group lock together with the same number") {
  NodeLocks locks;
  CHECK(locks.pass(0, never).value() == LockWish::wide);
  CHECK(errno_of(locks.acquire_group(0, 5)) == EINVAL);  // not open
  locks.note_open(0);
  locks.note_open(1);
  CHECK(errno_of(locks.acquire_group(0, 0)) == EINVAL);
  REQUIRE(locks.acquire_group(0, 5).ok());
  REQUIRE(locks.acquire_group(0, 5).ok());
  CHECK(errno_of(locks.acquire_group(1, 6)) == EBUSY);
  REQUIRE(locks.acquire_group(1, 5).ok());
  CHECK(locks.pass(0, never).value() == LockWish::none);
  CHECK(locks.pass(1, never).value() == LockWish::none);
  CHECK(locks.pass(2, always).error().system_errno == EINTR);

  CHECK(errno_of(locks.release_group(2, 5)) == EINVAL);
  CHECK(errno_of(locks.release_group(1, 6)) == EINVAL);
  REQUIRE(locks.release_group(1, 5).ok());
  CHECK(locks.pass(1, always).error().system_errno == EINTR);
  REQUIRE(locks.release_group(0, 5).ok());
  CHECK(locks.pass(0, never).value() == LockWish::none);
  REQUIRE(locks.release_group(0, 5).ok());
  CHECK(locks.pass(1, never).value() == LockWish::wide);
  CHECK(locks.acquire_group(1, 6).ok());
}

TEST_CASE("narrow locks stay set for a node until its last close") {
  NodeLocks locks;
  locks.note_open(0);
  locks.narrow(0);
  CHECK(locks.pass(0, never).value() == LockWish::narrow);
  CHECK(locks.pass(1, never).value() == LockWish::wide);
  locks.note_close(0);
  CHECK(locks.pass(0, never).value() == LockWish::wide);
}

TEST_CASE("a node sees its cached size until its last close") {
  NodeLocks locks;
  locks.believe_size(0, 100);  // not open
  CHECK(locks.seen_size(0, 10) == 10);
  locks.note_open(0);
  locks.believe_size(0, 100);
  CHECK(locks.seen_size(0, 10) == 100);
  CHECK(locks.seen_size(0, 200) == 200);
  CHECK(locks.seen_size(1, 10) == 10);
  locks.believe_size(0, 0);
  CHECK(locks.seen_size(0, 10) == 10);
  locks.believe_size(0, 100);
  locks.note_close(0);
  CHECK(locks.seen_size(0, 10) == 10);
}

TEST_CASE("the last close of a node releases its group locks") {
  NodeLocks locks;
  locks.note_open(0);
  locks.note_open(0);
  locks.note_open(1);
  REQUIRE(locks.acquire_group(0, 5).ok());
  locks.note_close(0);
  locks.note_close(1);
  CHECK(locks.pass(0, never).value() == LockWish::none);
  locks.note_close(0);
  CHECK(locks.pass(1, never).value() == LockWish::wide);
}

}  // namespace nacre::sim
