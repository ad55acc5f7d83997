// The model of a slow store: latencies at once, bytes one after the other.
#include "testing/faults/slow_link.h"

#include <chrono>

#include <doctest/doctest.h>

namespace nacre::testing {
namespace {

using namespace std::chrono_literals;

const SlowLink::Time start = SlowLink::Time{} + 1h;

TEST_CASE("a transfer takes the time of its bytes and a latency") {
  SlowLink link(500us, 1'000'000);
  CHECK(link.end_of(start, 2'000) == start + 2'500us);
  CHECK(link.end_of(start + 1s, 0) == start + 1s + 500us);
}

TEST_CASE("transfers under way at once share the bandwidth and not the latency") {
  SlowLink link(10ms, 1'000'000);
  CHECK(link.end_of(start, 1'000) == start + 11ms);
  CHECK(link.end_of(start, 1'000) == start + 12ms);
  CHECK(link.end_of(start + 500us, 1'000) == start + 13ms);
}

TEST_CASE("one after the other they pay for both each time") {
  SlowLink link(10ms, 1'000'000);
  const SlowLink::Time first = link.end_of(start, 1'000);
  CHECK(link.end_of(first, 1'000) == start + 22ms);
}

TEST_CASE("without a bandwidth only the latency counts") {
  SlowLink link(7us, 0);
  CHECK(link.end_of(start, 1 << 30) == start + 7us);
  CHECK(link.end_of(start, 1 << 30) == start + 7us);
}

}  // namespace
}  // namespace nacre::testing
