// Who may hold a group lock, and who waits for it.
#include "testbed/group_lock.h"

#include <cerrno>

#include <doctest/doctest.h>

#include "testbed/errno_result.h"

namespace nacre::testbed {
namespace {

bool never() { return false; }
bool always() { return true; }

}  // namespace

TEST_CASE("nodes hold one by the same number") {
  GroupLock lock;
  CHECK(lock.pass(0, never).value() == false);
  CHECK(errno_of(lock.take(0, 0)) == EINVAL);
  REQUIRE(lock.take(0, 5).ok());
  REQUIRE(lock.take(0, 5).ok());
  CHECK(errno_of(lock.take(1, 6)) == EBUSY);
  REQUIRE(lock.take(1, 5).ok());
  CHECK(lock.pass(0, never).value());
  CHECK(lock.pass(1, never).value());
  CHECK(lock.pass(2, always).error().system_errno == EINTR);

  CHECK(errno_of(lock.give(2, 5)) == EINVAL);
  CHECK(errno_of(lock.give(1, 6)) == EINVAL);
  REQUIRE(lock.give(1, 5).ok());
  CHECK(lock.pass(1, always).error().system_errno == EINTR);
  REQUIRE(lock.give(0, 5).ok());
  CHECK(lock.pass(0, never).value());
  REQUIRE(lock.give(0, 5).ok());
  CHECK(lock.pass(1, never).value() == false);
  CHECK(lock.take(1, 6).ok());
}

TEST_CASE("what a node holds goes with its last open") {
  GroupLock lock;
  lock.note_open(0);
  lock.note_open(0);
  lock.note_open(1);
  REQUIRE(lock.take(0, 5).ok());
  lock.note_close(0);
  lock.note_close(1);
  CHECK(lock.pass(0, never).value());
  lock.note_close(0);
  CHECK(lock.pass(1, never).value() == false);
}

}  // namespace nacre::testbed
