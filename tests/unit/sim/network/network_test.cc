// What messages and copies cost: one alone, and two that meet.
#include "sim/network/network.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "collective/task/task.h"
#include "sim/lustre/request_model.h"

namespace nacre::sim {
namespace {

using collective::AllOf;
using collective::MessageId;
using collective::Task;
using collective::Transport;
using Bytes = std::vector<std::byte>;

constexpr SimulatedTime forever = std::numeric_limits<SimulatedTime>::max();

/// Two nodes of two ranks. A byte takes 1 ns between nodes, and 2 ns to copy.
machine::Machine slow_machine() {
  machine::Machine machine;
  machine.near_message_ns = 100;
  machine.far_message_ns = 1'000;
  machine.message_bandwidth = 1'000'000'000;
  machine.copy_bandwidth = 500'000'000;
  machine.memory_bandwidth = 2'000'000'000;
  return machine;
}

plan::NodeMap two_nodes() {
  const std::vector<plan::NodeMap::Run> runs{{1, 2}, {2, 2}};
  return plan::NodeMap::from_runs(runs);
}

struct World {
  explicit World(NetworkOptions its_options = {.nodes = two_nodes()},
                 const machine::Machine& its_machine = slow_machine())
      : options(std::move(its_options)), machine(its_machine) {}

  NetworkOptions options;
  machine::Machine machine;
  Scheduler scheduler;
  Network network{scheduler, machine, options,
                  store::ReservedMemory::reserve(std::int64_t{1} << 30U).value()};

  using Body = std::function<Task<SimulatedTime>(World&, Transport&)>;
  /// Runs each body on its rank. Returns the times that they return.
  std::vector<SimulatedTime> run(const std::vector<Body>& bodies) {
    std::vector<SimulatedTime> times(bodies.size());
    for (std::size_t rank = 0; rank < bodies.size(); ++rank) {
      scheduler.start("rank", [&, rank] {
        const auto transport = network.make_transport(static_cast<int>(rank));
        times[rank] = collective::run_to_end(bodies[rank](*this, *transport), *transport);
      });
    }
    REQUIRE_MESSAGE(scheduler.run(forever), scheduler.stuck());
    REQUIRE_MESSAGE(!network.failure(), network.failure().value_or(""));
    CHECK(network.unmatched_count() == 0);
    return times;
  }
};

Task<SimulatedTime> idle(World& world, Transport& /*transport*/) {
  co_return world.scheduler.now();
}

World::Body sending(int destination, std::size_t bytes) {
  return [=](World& world, Transport& transport) -> Task<SimulatedTime> {
    const Bytes data(bytes, std::byte{7});
    std::vector<MessageId> messages{transport.send(destination, data)};
    co_await AllOf{messages};
    co_return world.scheduler.now();
  };
}

World::Body receiving(const std::vector<int>& sources, std::size_t bytes) {
  return [=](World& world, Transport& transport) -> Task<SimulatedTime> {
    Bytes data(bytes * sources.size());
    std::vector<MessageId> messages;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      messages.push_back(transport.receive(sources[i], std::span(data).subspan(i * bytes, bytes)));
    }
    co_await AllOf{messages};
    CHECK(data == Bytes(data.size(), std::byte{7}));
    co_return world.scheduler.now();
  };
}

}  // namespace

TEST_CASE("a message between nodes takes its latency and the time of its bytes") {
  World world;
  const auto times = world.run({sending(2, 8'000), idle, receiving({0}, 8'000), idle});
  CHECK(times[2] == 9'000);
  CHECK(times[0] == 0);  // buffered
  CHECK(world.network.counts().far == 1);
  CHECK(world.network.counts().far_bytes == 8'000);
  CHECK(world.network.message_times(0).total() == 8'000);
  CHECK(world.network.message_times(1).total() == 8'000);
}

TEST_CASE("a message inside a node takes its latency and the time of a copy") {
  World world;
  const auto times = world.run({sending(1, 500), receiving({0}, 500), idle, idle});
  CHECK(times[1] == 1'100);
  CHECK(world.network.counts().near == 1);
}

TEST_CASE("the send of a long message completes when the message has arrived") {
  World world;
  const auto times = world.run({sending(2, 1'000'000), idle, receiving({0}, 1'000'000), idle});
  CHECK(times[2] == 1'001'000);
  CHECK(times[0] == 1'001'000);
}

TEST_CASE("a late message holds up whoever waits for it, and no other message") {
  World world({.nodes = two_nodes(),
               .delay = [left = 50'000]() mutable { return std::exchange(left, 0); }});
  const auto times =
      world.run({sending(2, 8'000), sending(3, 500), receiving({0}, 8'000), receiving({1}, 500)});
  CHECK(times[2] == 59'000);
  CHECK(times[3] < 10'000);
}

TEST_CASE("memory of a node is refused to the ranks that the options name") {
  std::int64_t asked = 0;
  World world({.nodes = two_nodes(), .refuses_memory = [&](int rank, std::int64_t bytes) {
                 asked = bytes;
                 return rank == 1;
               }});
  constexpr auto unnamed = store::SharedMemory::Kind::unnamed;
  const auto made = world.network.make_transport(0)->create_shared_memory(unnamed, 1, 5'000, "");
  REQUIRE(made.ok());
  CHECK(asked == 5'000);
  const auto attach = [&](int rank) {
    return world.network.make_transport(rank)->attach_shared_memory(made->address(), 5'000, "");
  };
  CHECK_FALSE(attach(1).ok());
  CHECK(attach(2).ok());
  const auto refused = world.network.make_transport(1)->create_shared_memory(unnamed, 2, 5'000, "");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().error_class == ErrorClass::no_mem);
}

TEST_CASE("two messages to one node share its link") {
  World world;
  const auto times = world.run(
      {sending(2, 8'000), sending(3, 8'000), receiving({0}, 8'000), receiving({1}, 8'000)});
  CHECK(times[2] == 9'000);
  CHECK(times[3] == 17'000);
}

TEST_CASE("a message waits for what occupies the links of its nodes") {
  World world;
  static_cast<void>(world.network.links().occupy(0, LinkSide::out, 0, 3'000));
  static_cast<void>(world.network.links().occupy(0, LinkSide::in, 0, 100'000));
  static_cast<void>(world.network.links().occupy(1, LinkSide::in, 0, 9'000));
  const auto times = world.run({sending(2, 8'000), idle, receiving({0}, 8'000), idle});
  CHECK(times[2] == 17'000);
  CHECK(world.network.links().busy_times(1).total() == 17'000);
  CHECK(world.network.message_times(1).total() == 8'000);
}

TEST_CASE("a message and the requests of a node wait for each other where they share its link") {
  for (const bool share : {false, true}) {
    CAPTURE(share);
    World world;
    machine::Machine machine = slow_machine();
    machine.node_link.bandwidth = machine.message_bandwidth;
    RequestModel requests(machine);
    if (share) requests.share_links(world.network.links());
    const auto submit = [&](const Rpc& rpc) {
      static_cast<void>(requests.submit(rpc, world.scheduler.now()));
      return *requests.next();
    };
    const Rpc write{.node = 0, .ost = 0, .bytes = 5'000};
    CHECK(submit(write) == 5'000);
    world.scheduler.at(5'000, [&] {
      CHECK(requests.advance(5'000).size() == 1);
      CHECK(submit(write) == (share ? 18'000 : 10'000));
    });
    const auto times = world.run({sending(2, 8'000), idle, receiving({0}, 8'000), idle});
    CHECK(times[2] == (share ? 14'000 : 9'000));
  }
}

TEST_CASE("messages between nodes that one computer emulates occupy two of its cores each") {
  const std::vector<World::Body> bodies{sending(2, 8'000), receiving({3}, 8'000),
                                        receiving({0}, 8'000), sending(1, 8'000)};
  CHECK(World().run(bodies)[1] == 9'000);
  CoreQueue two_cores(2);
  const auto times = World({.nodes = two_nodes(), .cores = &two_cores}).run(bodies);
  CHECK(times[2] == 9'000);
  CHECK(times[1] == 17'000);
  CoreQueue four_cores(4);
  CHECK(World({.nodes = two_nodes(), .cores = &four_cores}).run(bodies)[1] == 9'000);
}

TEST_CASE("messages between two ranks arrive in the order in which they were sent") {
  World world;
  const World::Body sends = [](World& here, Transport& transport) -> Task<SimulatedTime> {
    const Bytes first(20'000, std::byte{1});
    const Bytes second(10, std::byte{2});
    std::vector<MessageId> messages{transport.send(2, first), transport.send(2, second)};
    co_await AllOf{messages};
    co_return here.scheduler.now();
  };
  const World::Body receives = [](World& here, Transport& transport) -> Task<SimulatedTime> {
    Bytes first(20'000);
    Bytes second(10);
    std::vector<MessageId> messages{transport.receive(0, first), transport.receive(0, second)};
    co_await AllOf{messages};
    CHECK(first == Bytes(20'000, std::byte{1}));
    CHECK(second == Bytes(10, std::byte{2}));
    co_return here.scheduler.now();
  };
  world.run({sends, idle, receives, idle});
}

TEST_CASE("messages of different files never match") {
  World world;
  Bytes received(7);  // the fibers do not wait for it
  world.scheduler.start("sender", [&] {
    const auto one = world.network.make_transport(0, 1);
    const auto two = world.network.make_transport(0, 2);
    const Bytes first(3, std::byte{1});
    const Bytes second(4, std::byte{2});
    static_cast<void>(one->send(1, first));
    static_cast<void>(two->send(1, second));
  });
  world.scheduler.start("receiver", [&] {
    const auto two = world.network.make_transport(1, 2);
    const auto one = world.network.make_transport(1, 1);
    static_cast<void>(two->receive(0, std::span(received).first(4)));
    static_cast<void>(one->receive(0, std::span(received).last(3)));
  });
  CHECK(world.scheduler.run(forever));
  CHECK_FALSE(world.network.failure().has_value());
  CHECK(world.network.unmatched_count() == 0);
  CHECK(received.front() == std::byte{2});
  CHECK(received.back() == std::byte{1});
}

TEST_CASE("a receive of another length than its message is a failure") {
  World world;
  const auto sender = world.network.make_transport(0);
  const auto receiver = world.network.make_transport(1);
  Bytes data(4);
  static_cast<void>(sender->send(1, data));
  static_cast<void>(receiver->receive(0, std::span(data).first(3)));
  CHECK(world.network.failure() == "rank 0 sends 4 bytes, rank 1 expects 3");
}

TEST_CASE("the bytes of a rank's messages are counted, and apart those without data") {
  World world({.nodes = two_nodes(), .phantom = true});
  const std::span<std::byte> buffer = world.network.phantom_buffer(5'000).value();
  const World::Body sends = [&](World& here, Transport& transport) -> Task<SimulatedTime> {
    const Bytes plan(300);
    Bytes packed(1'000);
    std::uint64_t no_marks = 0;
    const collective::Coverage nothing({&no_marks, 1}, 64, 1);
    here.network.copies(0).pack(nothing, buffer.data(), packed);
    std::vector<MessageId> messages{transport.send(2, packed), transport.send(2, plan),
                                    transport.send(2, buffer), transport.send(2, packed)};
    co_await AllOf{messages};
    co_return here.scheduler.now();
  };
  const World::Body receives = [&](World& here, Transport& transport) -> Task<SimulatedTime> {
    Bytes first(1'000);
    Bytes second(300);
    Bytes last(1'000);
    std::vector<MessageId> messages{transport.receive(0, first), transport.receive(0, second),
                                    transport.receive(0, buffer), transport.receive(0, last)};
    co_await AllOf{messages};
    co_return here.scheduler.now();
  };
  world.run({sends, idle, receives, idle});
  for (const int rank : {0, 2}) {
    CAPTURE(rank);
    const RankTraffic traffic = world.network.traffic(rank);
    CHECK(traffic.messages == 4);
    CHECK(traffic.peers == 1);
    CHECK(traffic.bytes == 7'300);
    CHECK(traffic.control_bytes == 1'300);  // the plan, and the last, which was not packed again
  }
  CHECK(world.network.traffic(1).bytes == 0);
}

TEST_CASE("copies share the memory of a node, and none is faster than a core") {
  Scheduler scheduler;
  SharedBandwidth memory(scheduler, {.each = 500'000'000, .all = 1'000'000'000});
  std::vector<SimulatedTime> ends(3);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    scheduler.start("rank", [&, i] {
      memory.transfer(i == 2 ? 1'000 : 3'000);
      ends[i] = scheduler.now();
    });
  }
  CHECK(scheduler.run(forever));
  CHECK(ends[2] == 3'000);  // a third of 1 byte/ns each
  CHECK(ends[0] == 7'000);  // 2,000 bytes are left, at 0.5 bytes/ns
  CHECK(ends[1] == 7'000);
  CHECK(memory.busy_times().total() == 7'000);
}

TEST_CASE("copies on nodes that one computer emulates wait for one of its cores") {
  CoreQueue one_core(1);
  World world({.nodes = two_nodes(), .phantom = true, .cores = &one_core});
  const World::Body copies = [](World& here, Transport& transport) -> Task<SimulatedTime> {
    std::uint64_t no_marks = 0;
    const collective::Coverage nothing({&no_marks, 1}, 64, 1);
    Bytes packed(1'000);
    here.network.copies(transport.rank()).pack(nothing, packed.data(), packed);
    co_return here.scheduler.now();
  };
  const auto times = world.run({copies, idle, copies, idle});
  CHECK(times[0] == 2'000);
  CHECK(times[2] == 4'000);
  CHECK(world.network.copy_times(1).total() == 2'000);
}

TEST_CASE("helper threads run beside the rank, no more of them than allowed") {
  World world;
  int running = 0;
  int running_max = 0;
  const World::Body starts = [&](World& here, Transport& transport) -> Task<SimulatedTime> {
    for (int i = 0; i < 6; ++i) {
      transport.run_in_helper_thread(
          [&] {
            running_max = std::max(running_max, ++running);
            here.scheduler.sleep(10);
            --running;
            return false;
          },
          2);
    }
    co_return here.scheduler.now();
  };
  CHECK(world.run({starts, idle, idle, idle})[0] == 0);
  CHECK(running_max == 2);
  CHECK(world.scheduler.now() == 30);
}

}  // namespace nacre::sim
