// The model of a slow store: latencies overlap, bytes are transferred one after another.
#include "testing/faults/slow_link.h"

#include <chrono>

#include <doctest/doctest.h>

namespace nacre::testing {
namespace {

using namespace std::chrono_literals;

const SlowLink::Time start = SlowLink::Time{} + 1h;

TEST_CASE("a transfer takes one latency plus the time of its bytes") {
  SlowLink link(500us, 1'000'000);
  CHECK(link.end_of(start, 2'000) == start + 2'500us);
  CHECK(link.end_of(start + 1s, 0) == start + 1s + 500us);
}

TEST_CASE("concurrent transfers share the bandwidth and overlap their latencies") {
  SlowLink link(10ms, 1'000'000);
  CHECK(link.end_of(start, 1'000) == start + 11ms);
  CHECK(link.end_of(start, 1'000) == start + 12ms);
  CHECK(link.end_of(start + 500us, 1'000) == start + 13ms);
}

TEST_CASE("each of several sequential transfers takes its latency and the time of its bytes") {
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
