// Compares the end times of requests with computed times.
#include "sim/lustre/request_model.h"

#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::sim {
namespace {

constexpr SimulatedTime millisecond = 1'000'000;
constexpr SimulatedTime late = 1'000'000 * millisecond;
constexpr std::int64_t kilobyte = 1000;

/// A machine whose OSTs move one kilobyte per millisecond.
Machine slow_osts() {
  Machine machine{.nodes = 4, .osts = 4};
  machine.ost.bandwidth = 1000 * kilobyte;
  return machine;
}

/// The time at which all of `rpcs`, sent at time 0, have ended.
SimulatedTime end_of(RequestModel& simulation, const std::vector<Rpc>& rpcs) {
  for (const Rpc& rpc : rpcs) static_cast<void>(simulation.submit(rpc, 0));
  SimulatedTime last = 0;
  while (const auto next = simulation.next()) {
    last = *next;
    static_cast<void>(simulation.advance(last));
  }
  return last;
}

SimulatedTime end_of(const Machine& machine, const std::vector<Rpc>& rpcs) {
  RequestModel simulation(machine);
  return end_of(simulation, rpcs);
}

std::vector<Rpc> repeated(const Rpc& rpc, int count) {
  return std::vector<Rpc>(static_cast<std::size_t>(count), rpc);
}

}  // namespace

TEST_CASE("a request without cost ends at once") {
  RequestModel simulation({.nodes = 1, .osts = 1});
  const Ticket ticket = simulation.submit({0, 0, 1 << 20}, 5);
  CHECK(simulation.advance(5) == std::vector{ticket});
  CHECK_FALSE(simulation.next());
}

TEST_CASE("requests to one OST are sequential, requests to several OSTs are concurrent") {
  const Machine machine = slow_osts();
  CHECK(end_of(machine, repeated({0, 0, 10 * kilobyte}, 3)) == 30 * millisecond);
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {0, 1, 10 * kilobyte}, {0, 2, 10 * kilobyte}}) ==
        10 * millisecond);
}

TEST_CASE("an OST may read faster than it writes") {
  Machine machine = slow_osts();
  const Rpc write{0, 0, 10 * kilobyte};
  const Rpc read{0, 0, 10 * kilobyte, true};
  CHECK(end_of(machine, {read}) == 10 * millisecond);
  machine.ost_read_bandwidth = 2 * machine.ost.bandwidth;
  CHECK(end_of(machine, {read}) == 5 * millisecond);
  CHECK(end_of(machine, {write}) == 10 * millisecond);
  machine.ost.client_cost = 0.5;
  CHECK(end_of(machine, {read, {1, 0, 10 * kilobyte, true}}) == (15 + 10) * millisecond / 2);
}

TEST_CASE("each additional concurrent node of an OST costs a part of a request") {
  Machine machine = slow_osts();
  machine.ost.client_cost = 0.5;
  // 1 + 0.5 * 2, 1 + 0.5 * 1, 1 times ten milliseconds
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {1, 0, 10 * kilobyte}, {2, 0, 10 * kilobyte}}) ==
        45 * millisecond);
  CHECK(end_of(machine, repeated({1, 0, 10 * kilobyte}, 3)) == 30 * millisecond);
}

TEST_CASE("latencies overlap, for as many requests as threads and the window of a node allow") {
  Machine machine = slow_osts();
  machine.ost_latency_us = 100'000;
  CHECK(end_of(machine, repeated({0, 0, 10 * kilobyte}, 4)) == (100 + 4 * 10) * millisecond);
  machine.rpcs_in_flight = 1;
  CHECK(end_of(machine, repeated({0, 0, 10 * kilobyte}, 4)) == 4 * (100 + 10) * millisecond);
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {1, 0, 10 * kilobyte}}) == 120 * millisecond);
  machine.ost_threads = 1;
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {1, 0, 10 * kilobyte}}) == 220 * millisecond);
}

TEST_CASE("requests share the links of servers, uplinks and nodes") {
  Machine machine = slow_osts();
  machine.osts_per_server = 2;  // OSTs 0 and 2 on one server, 1 and 3 on the other
  machine.server_link.bandwidth = 1000 * kilobyte;
  const std::vector<Rpc> one_server{{0, 0, 10 * kilobyte}, {1, 2, 10 * kilobyte}};
  const std::vector<Rpc> two_servers{{0, 0, 10 * kilobyte}, {1, 1, 10 * kilobyte}};
  CHECK(end_of(machine, one_server) == 30 * millisecond);
  CHECK(end_of(machine, two_servers) == 20 * millisecond);
  machine.osts_per_server = 0;
  machine.uplinks = 2;
  machine.uplink.bandwidth = 1000 * kilobyte;
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {2, 1, 10 * kilobyte}}) == 30 * millisecond);
  CHECK(end_of(machine, two_servers) == 20 * millisecond);
  machine.uplinks = 0;
  machine.node_link.bandwidth = 1000 * kilobyte;
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte}, {0, 1, 10 * kilobyte}}) == 30 * millisecond);
}

TEST_CASE("the bytes of a write pass the links before the OST, those of a read after it") {
  Machine machine = slow_osts();
  machine.node_link.bandwidth = 1000 * kilobyte;
  const auto link_time_after_nine_ms = [&](bool reads) {
    RequestModel simulation(machine);
    static_cast<void>(simulation.submit({0, 0, 10 * kilobyte, reads}, 0));
    static_cast<void>(simulation.advance(9 * millisecond));
    return simulation.busy_times(StationKind::node_link).front().total();
  };
  CHECK(link_time_after_nine_ms(false) == 10 * millisecond);
  CHECK(link_time_after_nine_ms(true) == 0);
  // Two nodes: the OST reads for the second node while the first node's link is busy.
  CHECK(end_of(machine, {{0, 0, 10 * kilobyte, true}, {1, 0, 10 * kilobyte, true}}) ==
        30 * millisecond);
  // A thread of the OST is free again when the OST has read.
  machine.ost_threads = 1;
  CHECK(end_of(machine, repeated({0, 0, 10 * kilobyte, true}, 3)) == 40 * millisecond);
}

TEST_CASE("requests wait for what occupies a shared link of their node, in their direction") {
  Machine machine = slow_osts();
  machine.ost.bandwidth = 0;
  machine.node_link.bandwidth = 1000 * kilobyte;
  const auto end_behind = [&](LinkSide side, const std::vector<Rpc>& rpcs) {
    NodeLinks links(4);
    static_cast<void>(links.occupy(0, side, 0, 7 * millisecond));
    RequestModel simulation(machine);
    simulation.share_links(links);
    return end_of(simulation, rpcs);
  };
  const Rpc write{0, 0, 10 * kilobyte};
  const Rpc read{0, 0, 10 * kilobyte, true};
  CHECK(end_behind(LinkSide::out, {write}) == 17 * millisecond);
  CHECK(end_behind(LinkSide::in, {read}) == 17 * millisecond);
  CHECK(end_behind(LinkSide::in, {write}) == 10 * millisecond);
  CHECK(end_behind(LinkSide::out, {read}) == 10 * millisecond);
  CHECK(end_behind(LinkSide::out, {{1, 0, 10 * kilobyte}}) == 10 * millisecond);
  CHECK(end_behind(LinkSide::out, {write, write}) == 27 * millisecond);
}

TEST_CASE("what shares a link waits for one request of the node at a time") {
  Machine machine = slow_osts();
  machine.node_link.bandwidth = 1000 * kilobyte;
  NodeLinks links(4);
  RequestModel simulation(machine);
  simulation.share_links(links);
  static_cast<void>(simulation.submit({0, 0, 10 * kilobyte}, 0));
  static_cast<void>(simulation.submit({0, 1, 10 * kilobyte}, 0));
  CHECK(links.occupy(0, LinkSide::out, 1 * millisecond, 5 * millisecond) == 10 * millisecond);
  static_cast<void>(simulation.advance(10 * millisecond));
  CHECK(links.occupy(0, LinkSide::out, 11 * millisecond, 5 * millisecond) == 25 * millisecond);
  const std::vector<BusyTimeline> requests = simulation.busy_times(StationKind::node_link);
  CHECK(requests.front().total() == 20 * millisecond);
  CHECK(links.busy_times(0).total() == 30 * millisecond);
}

TEST_CASE("a late poll does not change the end times") {
  Machine machine = slow_osts();
  RequestModel simulation(machine);
  const Ticket first = simulation.submit({0, 0, 10 * kilobyte}, 0);
  const Ticket second = simulation.submit({0, 0, 10 * kilobyte}, 0);
  const Ticket delay = simulation.delay(15 * millisecond, 0);
  CHECK(simulation.advance(late) == std::vector{first, delay, second});
}

TEST_CASE("a hung OST continues where it stopped; a slow OST takes longer") {
  RequestModel simulation(slow_osts());
  simulation.set_slowness(0, 0, 0);
  const Ticket ticket = simulation.submit({0, 0, 10 * kilobyte}, 0);
  CHECK(simulation.advance(late).empty());
  simulation.set_slowness(0, 3, late);
  CHECK(simulation.next() == late + 30 * millisecond);
  CHECK(simulation.advance(late + 30 * millisecond) == std::vector{ticket});
}

}  // namespace nacre::sim
