// What accesses of a simulated Lustre cost: one alone, and two that meet; layouts and locks.
#include "sim/files/file_system.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/files/phantom_store.h"

namespace nacre::sim {
namespace {

using Bytes = std::vector<std::byte>;

constexpr SimulatedTime forever = std::numeric_limits<SimulatedTime>::max();
constexpr store::OpenOptions read_write{.read = true, .write = true, .create = true};

/// A byte takes 1 ns at an OST.
machine::Machine slow_machine() {
  machine::Machine machine;
  machine.nodes = 2;
  machine.osts = 2;
  machine.ost.bandwidth = 1'000'000'000;
  machine.ost_latency_us = 5;
  machine.stripe_size = 1 << 16;
  return machine;
}

struct World {
  explicit World(const machine::Machine& its_machine, CoreQueue* cores = nullptr)
      : machine(its_machine), files(scheduler, machine, ObjectStore(), cores) {}

  machine::Machine machine;
  Scheduler scheduler;
  FileSystem files;

  /// Runs `bodies` beside each other, each with the file "f" open on the node of its number.
  std::vector<SimulatedTime> run(
      const std::vector<std::function<void(store::StoreFile&)>>& bodies) {
    std::vector<SimulatedTime> ends(bodies.size());
    for (std::size_t node = 0; node < bodies.size(); ++node) {
      scheduler.start("process", [&, node] {
        const auto store = files.store_on(static_cast<std::int32_t>(node));
        const auto file = store->open("f", read_write);
        REQUIRE(file.ok());
        bodies[node](**file);
        ends[node] = scheduler.now();
      });
    }
    REQUIRE_MESSAGE(scheduler.run(forever), scheduler.stuck());
    return ends;
  }
};

constexpr SimulatedTime shortest_call = 1'000;

void write(store::StoreFile& file, std::int64_t offset, std::int64_t size) {
  const Bytes bytes(static_cast<std::size_t>(size), std::byte{1});
  const store::WritePiece piece{bytes.data(), size};
  const store::Transfer done = file.write({&piece, 1}, offset);
  CHECK_FALSE(done.error.has_value());
  CHECK(done.bytes == size);
}

void write_through(store::StoreFile& file, std::int64_t offset, std::int64_t size) {
  write(file, offset, size);
  CHECK(file.sync().ok());
}

void read(store::StoreFile& file, std::int64_t offset, std::int64_t size) {
  Bytes bytes(static_cast<std::size_t>(size));
  const store::ReadPiece piece{bytes.data(), size};
  const store::Transfer done = file.read({&piece, 1}, offset);
  CHECK_FALSE(done.error.has_value());
  CHECK(done.bytes == size);
}

}  // namespace

TEST_CASE("a flushed write takes the latency of its OST and the time of its bytes") {
  World world(slow_machine());
  const auto ends = world.run({[](store::StoreFile& file) { write_through(file, 0, 1'000); }});
  CHECK(ends[0] == 6'000 + shortest_call);
}

TEST_CASE("the client's part of a write takes time before the servers' part") {
  machine::Machine machine = slow_machine();
  machine.write_call_ns = 300;
  machine.write_bandwidth = 500'000'000;
  machine.open_us = 1;
  World world(machine);
  const auto ends = world.run({[](store::StoreFile& file) { write_through(file, 0, 1'000); }});
  CHECK(ends[0] == 1'000 + 300 + 2'000 + 6'000);
}

TEST_CASE("calls on nodes that one computer emulates wait for one of its cores") {
  machine::Machine machine = slow_machine();
  machine.write_call_ns = 1'000;
  machine.wide_locks = 0;
  const std::vector<std::function<void(store::StoreFile&)>> writes{
      [](store::StoreFile& file) { write(file, 0, 4'096); },
      [](store::StoreFile& file) { write(file, 8'192, 4'096); }};
  CHECK(World(machine).run(writes)[1] == 1'000);
  CoreQueue one_core(1);
  CHECK(World(machine, &one_core).run(writes) == std::vector<SimulatedTime>{1'000, 2'000});
  CoreQueue two_cores(2);
  CHECK(World(machine, &two_cores).run(writes)[1] == 1'000);
}

TEST_CASE("a write stays in the cache of its node") {
  World world(slow_machine());
  CHECK(world.run({[](store::StoreFile& file) { write(file, 0, 1'000); }})[0] == shortest_call);
}

TEST_CASE("a read of the longest request leaves bytes on the way, unless the file ends there") {
  constexpr std::int64_t longest = 1 << 20;
  machine::Machine machine = slow_machine();
  machine.stripe_size = longest;
  machine.rpc_bytes = longest / 8;
  machine.read_bytes = longest / 2;
  World world(machine);
  std::vector<SimulatedTime> reads;
  world.run({[&](store::StoreFile& file) {
    write_through(file, 0, 2 * longest);
    for (const std::int64_t offset : {std::int64_t{0}, longest}) {
      const SimulatedTime begin = world.scheduler.now();
      read(file, offset, longest);
      reads.push_back(world.scheduler.now() - begin);
    }
  }});
  CHECK(reads[0] == shortest_call + 5'000 + longest / 2);
  CHECK(reads[0] + reads[1] == shortest_call + 5'000 + 2 * longest);
}

TEST_CASE("two nodes that write to one OST wait for each other, to two OSTs not") {
  for (const bool same : {true, false}) {
    CAPTURE(same);
    machine::Machine machine = slow_machine();
    machine.stripe_count = 2;
    machine.wide_locks = 0;
    World world(machine);
    const std::int64_t offset = same ? 2 << 16 : 1 << 16;  // stripes lie on the OSTs in turn
    const auto ends =
        world.run({[](store::StoreFile& file) { write_through(file, 0, 50'000); },
                   [&](store::StoreFile& file) { write_through(file, offset, 50'000); }});
    CHECK(ends[0] == 55'000 + shortest_call);
    CHECK(ends[1] == (same ? 105'000 : 55'000) + shortest_call);
  }
}

TEST_CASE(
    "a conflicting write calls the lock of the other node back, which writes its cache first") {
  machine::Machine machine = slow_machine();
  machine.lock_latency_us = 10;
  World world(machine);
  const auto ends = world.run({[](store::StoreFile& file) { write(file, 0, 1'000); },
                               [&](store::StoreFile& file) {
                                 world.scheduler.sleep(100'000);
                                 write(file, 0, 1'000);
                               }});
  CHECK(ends[0] == shortest_call + 20'000);  // request and reply
  // The write-back, and four messages.
  CHECK(ends[1] == 100'000 + shortest_call + 6'000 + 40'000);
}

TEST_CASE("the writers of a node to one file take turns if the machine says so") {
  machine::Machine machine = slow_machine();
  machine.write_call_ns = 2'000;
  for (const std::int64_t one_writer : {0, 1}) {
    machine.one_writer = one_writer;
    World world(machine);
    const auto store = world.files.store_on(0);
    for (int i = 0; i < 3; ++i) {
      world.scheduler.start("process", [&] {
        const auto file = store->open("f", read_write);
        REQUIRE(file.ok());
        write(**file, 0, 10);
      });
    }
    CHECK(world.scheduler.run(forever));
    CHECK(world.scheduler.now() >= (one_writer != 0 ? 6'000 : 2'000));
    CHECK(world.files.contents("f").value() == Bytes(10, std::byte{1}));
  }
}

TEST_CASE("files of a machine without layouts are those of one computer") {
  machine::Machine machine = slow_machine();
  machine.ost = {};
  machine.ost_latency_us = 0;
  machine.stripe_count = 0;
  machine.write_call_ns = 2'000;
  machine.one_writer = 1;
  World world(machine);
  world.scheduler.start("process", [&] {
    store::OpenOptions options = read_write;
    options.layout_time = store::LayoutTime::later;  // as if the file system had layouts
    const auto file = world.files.store_on(0)->open("f", options);
    REQUIRE(file.ok());
    write(**file, 0, 10);
  });
  CHECK(world.scheduler.run(forever));
  const auto write_to_any = [](store::StoreFile& file) {
    CHECK(file.layouts() == nullptr);
    CHECK_FALSE(file.facts().has_layouts);
    CHECK(file.facts().one_writer_per_node);
    write(file, 0, 3 << 20);
    read(file, 0, 3 << 20);
  };
  const std::vector<std::function<void(store::StoreFile&)>> calls(2, write_to_any);
  const SimulatedTime end = 2'000 + shortest_call;  // the read's
  CHECK(World(machine).run(calls) == std::vector<SimulatedTime>{end, end});
  machine.one_computer = 1;
  CHECK(World(machine).run(calls) == std::vector<SimulatedTime>{end, end + 2'000});
}

TEST_CASE("a byte-range lock excludes other opens until it is released") {
  World world(slow_machine());
  const auto locking = [&](store::StoreFile& file) {
    const auto lock = file.lock({0, 10}, store::LockKind::exclusive);
    REQUIRE(lock.ok());
    world.scheduler.sleep(50);
  };
  const auto ends = world.run({locking, locking});
  CHECK(ends == std::vector<SimulatedTime>{50, 100});
}

TEST_CASE("a file gets the layout that its creator requests, and keeps it") {
  World world(slow_machine());
  world.scheduler.start("process", [&] {
    const auto store = world.files.store_on(0);
    store::OpenOptions options = read_write;
    options.layout = plan::plain_layout({.stripe_size = 1 << 17, .stripe_count = 2});
    const auto file = store->open("f", options);
    REQUIRE(file.ok());
    const auto layout = (*file)->layouts()->read();
    REQUIRE(layout.ok());
    REQUIRE(layout->has_value());
    CHECK((*layout)->components.front().striping.objects.size() == 2);
    CHECK((*layout)->components.front().striping.stripe_size == 1 << 17);
    CHECK((*file)->layouts()->set(plan::plain_layout({.stripe_count = 1})).ok());
    CHECK(*(*file)->layouts()->read() == *layout);
  });
  CHECK(world.scheduler.run(forever));
}

TEST_CASE("errors are those of a file system") {
  World world(slow_machine());
  world.scheduler.start("process", [&] {
    const auto store = world.files.store_on(0);
    CHECK(store->open("f", {.read = true}).error().error_class == ErrorClass::no_such_file);
    REQUIRE(store->open("f", read_write).ok());
    store::OpenOptions exclusive = read_write;
    exclusive.exclusive = true;
    CHECK(store->open("f", exclusive).error().error_class == ErrorClass::file_exists);
    CHECK(store->remove("f").ok());
    CHECK(store->remove("f").error().error_class == ErrorClass::no_such_file);
  });
  CHECK(world.scheduler.run(forever));
}

TEST_CASE("a phantom file has a size and no bytes") {
  const auto store = make_phantom_store();
  const auto file = store->open("f", read_write);
  REQUIRE(file.ok());
  const store::WritePiece out{nullptr, std::int64_t{1} << 40U};
  CHECK((*file)->write({&out, 1}, 5).bytes == out.size);
  CHECK((*file)->size().value() == out.size + 5);
  const store::ReadPiece in{nullptr, 100};
  CHECK((*file)->read({&in, 1}, out.size).bytes == 5);
}

}  // namespace nacre::sim
