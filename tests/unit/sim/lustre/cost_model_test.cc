// The requests, locks and errors that accesses cause at the OSTs. No test waits for a time.
#include "sim/lustre/cost_model.h"

#include <cerrno>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/lustre/errno_result.h"
#include "sim/time/scheduler.h"

namespace nacre::sim {
namespace {

constexpr ObjectName object{0, 1};
const Machine machine{.nodes = 2, .rpc_bytes = 1000, .dirty_bytes = 4000, .osts = 1};

/// An access to bytes whose offsets in the object and in the file are equal.
Status write(CostModel& costs, OpenHandle& handle, const Extent& extent) {
  const ObjectAccess access{object, extent, extent};
  return costs.write({&handle}, {{&access, 1}});
}
Status read(CostModel& costs, OpenHandle& handle, const Extent& extent) {
  const ObjectAccess access{object, extent, extent};
  return costs.read({&handle}, {{&access, 1}});
}
Status flush(CostModel& costs, OpenHandle& handle) { return costs.flush({&handle}, {&object, 1}); }

bool counts(CostModel& costs, const std::string& what) {
  return costs.counters_json().find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("adjacent pieces are sent as one request") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto handle = costs.open(0, false);
  for (std::int64_t at = 0; at < 2500; at += 100) REQUIRE(write(costs, *handle, {at, 100}).ok());
  CHECK(counts(costs, R"("requests":[2])"));
  REQUIRE(flush(costs, *handle).ok());
  CHECK(counts(costs, R"({"osts":{"bytes_written":[2500],"bytes_read":[0],"requests":[3])"));
  REQUIRE(read(costs, *handle, {0, 1500}).ok());
  CHECK(counts(costs, R"("bytes_read":[1500],"requests":[5])"));
  costs.reset_counters();
  CHECK(counts(costs, R"("bytes_written":[0])"));
}

TEST_CASE("pieces of an object that do not follow each other are sent in one request") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto one = costs.open(0, false);
  const auto other = costs.open(0, false);
  for (std::int64_t at = 0; at < 800; at += 200) {
    REQUIRE(write(costs, *one, {at, 100}).ok());
    REQUIRE(write(costs, *other, {3000 + at, 100}).ok());
  }
  CHECK(counts(costs, R"("requests":[0])"));
  REQUIRE(flush(costs, *one).ok());
  CHECK(counts(costs, R"({"osts":{"bytes_written":[800],"bytes_read":[0],"requests":[1])"));
}

TEST_CASE("a node gathers the pieces of each object of an OST by themselves") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto handle = costs.open(0, false);
  constexpr ObjectName other{0, 2};
  for (std::int64_t at = 0; at < 800; at += 100) {
    REQUIRE(write(costs, *handle, {at, 100}).ok());
    const ObjectAccess access{other, {at, 100}, {at, 100}};
    REQUIRE(costs.write({handle.get()}, {{&access, 1}}).ok());
  }
  CHECK(counts(costs, R"("requests":[0])"));
  REQUIRE(flush(costs, *handle).ok());
  CHECK(counts(costs, R"({"osts":{"bytes_written":[800],"bytes_read":[0],"requests":[1])"));
  const std::vector<ObjectName> both{object, other};
  REQUIRE(costs.flush({handle.get()}, both).ok());
  CHECK(counts(costs, R"({"osts":{"bytes_written":[1600],"bytes_read":[0],"requests":[2])"));
}

TEST_CASE("direct writes are sent at once") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto handle = costs.open(0, true);
  REQUIRE(write(costs, *handle, {0, 100}).ok());
  CHECK(counts(costs, R"("requests":[1])"));
}

TEST_CASE("what a call costs beside the model is taken off the latencies") {
  constexpr SimulatedTime us = 1000;
  Machine slow = machine;
  slow.ost_latency_us = 500;
  slow.lock_latency_us = 200;
  Scheduler scheduler;
  ObjectStore objects;
  CostModel costs(slow, objects, scheduler);
  SimulatedTime before = 0;
  const auto passed = [&] { return scheduler.now() - std::exchange(before, scheduler.now()); };
  scheduler.start("client", [&] {
    const auto handle = costs.open(0, true);
    REQUIRE(write(costs, *handle, {0, 100}).ok());  // asks for a lock
    CHECK(passed() == (2 * 200 + 500) * us);
    REQUIRE(write(costs, *handle, {0, 100}).ok());
    CHECK(passed() == 500 * us);

    costs.deduct(100 * us);
    REQUIRE(write(costs, *handle, {0, 100}).ok());
    CHECK(passed() == 400 * us);
    costs.drop_locks();
    REQUIRE(write(costs, *handle, {0, 100}).ok());
    CHECK(passed() == (2 * 200 - 100 + 400) * us);
    REQUIRE(costs.delay({handle.get()}, 70 * us).ok());
    CHECK(passed() == 70 * us);

    costs.deduct(1000 * us);  // more than the latencies
    costs.drop_locks();
    REQUIRE(write(costs, *handle, {0, 100}).ok());
    CHECK(passed() == 0);
  });
  CHECK(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
}

TEST_CASE("a conflicting access of another node calls a lock back, and the dirty data is sent") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto here = costs.open(0, false);
  const auto there = costs.open(1, false);
  REQUIRE(write(costs, *here, {0, 100}).ok());
  REQUIRE(write(costs, *here, {5000, 100}).ok());
  CHECK(counts(costs, R"("lock_grants":[1],"lock_callbacks":[0])"));
  CHECK(counts(costs, R"("requests":[0])"));  // one request will have both pieces
  REQUIRE(read(costs, *there, {0, 10}).ok());
  CHECK(counts(costs, R"("lock_grants":[2],"lock_callbacks":[1])"));
  CHECK(counts(costs, R"("bytes_written":[200],"bytes_read":[10])"));
  CHECK(counts(costs, R"("clients":[2])"));
}

TEST_CASE("locks that conflict with none are granted at the same time") {
  constexpr SimulatedTime us = 1000;
  Machine narrow = machine;
  narrow.lock_latency_us = 10;
  narrow.wide_locks = 0;
  Scheduler scheduler;
  ObjectStore objects;
  CostModel costs(narrow, objects, scheduler);
  for (std::int32_t node = 0; node < 2; ++node) {
    scheduler.start("client", [&, node] {
      const auto handle = costs.open(node, false);
      REQUIRE(write(costs, *handle, {node * 5000, 100}).ok());
      CHECK(scheduler.now() == 2 * 10 * us);
      REQUIRE(read(costs, *handle, {50'000, 100}).ok());  // of all nodes
      CHECK(scheduler.now() == 4 * 10 * us);
    });
  }
  CHECK(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
}

TEST_CASE("a callback waits for reads under the same lock only") {
  constexpr SimulatedTime us = 1000;
  const auto time_of_read = [](std::int64_t wide_locks) {
    Machine slow = machine;
    slow.ost_latency_us = 500;
    slow.lock_latency_us = 10;
    slow.wide_locks = wide_locks;
    Scheduler scheduler;
    ObjectStore objects;
    CostModel costs(slow, objects, scheduler);
    SimulatedTime passed = 0;
    scheduler.start("holder", [&] {
      const auto handle = costs.open(0, false);
      REQUIRE(write(costs, *handle, {0, 100}).ok());
      REQUIRE(flush(costs, *handle).ok());
      REQUIRE(read(costs, *handle, {5000, 100}).ok());
    });
    scheduler.start("other", [&] {
      const auto handle = costs.open(1, false);
      scheduler.sleep(700 * us);  // the holder reads
      REQUIRE(read(costs, *handle, {0, 100}).ok());
      passed = scheduler.now() - 700 * us;
    });
    CHECK(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
    return passed;
  };
  CHECK(time_of_read(0) == (4 * 10 + 500) * us);
  CHECK(time_of_read(1) > (4 * 10 + 500) * us);
}

TEST_CASE("unsent data of an evicted node is lost, and its open files return one error") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto handle = costs.open(0, false);
  const std::vector<std::byte> bytes(100, std::byte{7});
  REQUIRE(write(costs, *handle, {0, 100}).ok());
  REQUIRE(!objects.write(object, bytes, 0).error);
  REQUIRE(costs.order({.evicted_node = 0}).ok());
  std::vector<std::byte> found(100, std::byte{1});
  REQUIRE(objects.read(object, found, 0).ok());
  CHECK(found == std::vector<std::byte>(100));
  CHECK(errno_of(flush(costs, *handle)) == EIO);
  CHECK(flush(costs, *handle).ok());
  CHECK(flush(costs, *costs.open(0, false)).ok());
}

TEST_CASE("the calls of an evicted node fail, whatever they wait for") {
  Machine slow = machine;
  slow.ost_latency_us = 10;
  slow.lock_latency_us = 10'000;
  for (const std::string waits_for : {"a flush", "a callback", "lock messages"}) {
    CAPTURE(waits_for);
    Scheduler scheduler;
    ObjectStore objects;
    CostModel costs(slow, objects, scheduler);
    SimulatedTime end = 0;
    scheduler.start("node 0", [&] {
      const auto handle = costs.open(0, false);
      if (waits_for == "a callback") scheduler.sleep(100'000 * microsecond);
      Status done = write(costs, *handle, {0, 10});
      if (done && waits_for == "a flush") done = flush(costs, *handle);
      CHECK_FALSE(done.ok());
      end = scheduler.now();
    });
    scheduler.start("node 1", [&] {
      if (waits_for != "a callback") return;
      const auto handle = costs.open(1, false);
      CHECK(write(costs, *handle, {0, 10}).ok());
    });
    const SimulatedTime eviction =
        waits_for == "lock messages" ? 5'000 * microsecond : 200'000 * microsecond;
    scheduler.at(0, [&] { CHECK(costs.order(*parse_fault("ost 0 hung", slow)).ok()); });
    scheduler.at(eviction, [&] { CHECK(costs.order({.evicted_node = 0}).ok()); });
    CHECK(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
    CHECK(end == eviction);
    costs.stop();
  }
}

TEST_CASE("a flush does not send what is written after it has begun") {
  Machine slow = machine;
  slow.ost_latency_us = 1000;
  Scheduler scheduler;
  ObjectStore objects;
  CostModel costs(slow, objects, scheduler);
  scheduler.start("writer", [&] {
    const auto handle = costs.open(0, false);
    for (std::int64_t i = 0; i < 50; ++i) {
      scheduler.sleep(10 * microsecond);
      CHECK(write(costs, *handle, {i * 10, 10}).ok());
    }
  });
  scheduler.start("flusher", [&] {
    const auto handle = costs.open(0, false);
    CHECK(write(costs, *handle, {900, 10}).ok());
    CHECK(flush(costs, *handle).ok());
    CHECK(scheduler.now() < 1100 * microsecond);
  });
  CHECK(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
  CHECK(counts(costs, R"("requests":[1])"));
}

TEST_CASE("the first flush on a node reports lost writes, also of a file that was opened later") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  const auto writer = costs.open(0, false);
  REQUIRE(write(costs, *writer, {0, 100}).ok());
  REQUIRE(costs.order({.evicted_node = 0}).ok());
  const auto later = costs.open(0, false);
  CHECK(flush(costs, *costs.open(1, false)).ok());
  CHECK(write(costs, *later, {100, 100}).ok());
  CHECK(costs.write_back(Caller{later.get()}, {&object, 1}).ok());  // to give up a lock
  CHECK(errno_of(flush(costs, *later)) == EIO);
  CHECK(flush(costs, *later).ok());
}

TEST_CASE("the next flush or close reports cached writes that an OST refused") {
  ObjectStore objects;
  CostModel costs(machine, objects);
  REQUIRE(costs.order(*parse_fault("ost 0 late_error 1", machine)).ok());
  const std::vector<std::byte> bytes(100, std::byte{7});
  const auto write_and_store = [&](OpenHandle& handle) {
    REQUIRE(write(costs, handle, {0, 100}).ok());
    REQUIRE(!objects.write(object, bytes, 0).error);
  };
  const auto writer = costs.open(0, false);
  write_and_store(*writer);
  CHECK(errno_of(flush(costs, *writer)) == EIO);
  std::vector<std::byte> found(100, std::byte{1});
  REQUIRE(objects.read(object, found, 0).ok());
  CHECK(found == std::vector<std::byte>(100));
  CHECK(flush(costs, *writer).ok());
  write_and_store(*writer);
  CHECK(costs.write_back(Caller{writer.get()}, {&object, 1}).ok());
  CHECK(costs.finish(Caller{costs.open(0, false).get()}, {&object, 1}).ok());  // has not written
  const ObjectName later{0, object.number + 1};
  costs.pass_on_losses({&object, 1}, later);
  CHECK(flush(costs, *writer).ok());
  CHECK(errno_of(costs.finish(Caller{writer.get()}, {&later, 1})) == EIO);
  CHECK(flush(costs, *costs.open(0, false)).ok());
}

TEST_CASE("reads with a constant stride are read ahead, so that they do not wait for the OST") {
  Machine slow = machine;
  slow.ost.bandwidth = 1 << 30;
  ObjectStore objects;
  CostModel costs(slow, objects);
  const auto handle = costs.open(0, false);
  REQUIRE(read(costs, *handle, {100, 100}).ok());
  REQUIRE(read(costs, *handle, {1100, 100}).ok());
  REQUIRE(costs.order(*parse_fault("ost 0 hung", slow)).ok());
  const auto asked = [&](const Extent& extent) {
    const ObjectAccess access{object, extent, extent};
    return costs.read({handle.get(), [] { return true; }}, {{&access, 1}});
  };
  CHECK(asked({2100, 100}).ok());
  CHECK(asked({3100, 100}).ok());
  CHECK(errno_of(asked({5100, 100})) == EINTR);
}

TEST_CASE("waiting for a hung OST can be interrupted, and ends when the testbed stops") {
  Machine slow = machine;
  slow.ost.bandwidth = 1000;
  ObjectStore objects;
  CostModel costs(slow, objects);
  REQUIRE(costs.order(*parse_fault("ost 0 hung", slow)).ok());
  const auto handle = costs.open(0, true);
  const ObjectAccess access{object, {0, 100}, {0, 100}};
  const Caller impatient{handle.get(), [] { return true; }};
  CHECK(errno_of(costs.write(impatient, {{&access, 1}})) == EINTR);
  std::thread other([&] { CHECK(errno_of(write(costs, *handle, {200, 100})) == EIO); });
  costs.stop();
  other.join();
}

TEST_CASE("nodes that write an object alternately call few locks back, as on a real Lustre") {
  Machine busy = machine;
  busy.ost_latency_us = 500;
  busy.lock_latency_us = 200;
  Scheduler scheduler;
  ObjectStore objects;
  CostModel costs(busy, objects, scheduler);
  for (std::int32_t node = 0; node < 2; ++node) {
    scheduler.start("node", [&costs, &scheduler, node] {
      const auto handle = costs.open(node, false);
      for (int i = 0; i < 64; ++i) {
        scheduler.sleep(100 * microsecond);  // the program's part
        CHECK(write(costs, *handle, {(2 * i + node) * 10, 10}).ok());
      }
    });
  }
  REQUIRE(scheduler.run(std::numeric_limits<SimulatedTime>::max()));
  const std::string counters = costs.counters_json();
  const std::string name = R"("lock_callbacks":[)";
  const std::size_t at = counters.find(name);
  REQUIRE(at != std::string::npos);
  const int callbacks = std::stoi(counters.substr(at + name.size()));
  CHECK(callbacks >= 4);
  CHECK(callbacks <= 11);
}

TEST_CASE("nodes that write the same object alternately all complete") {
  Machine busy = machine;
  busy.ost.bandwidth = 1 << 30;
  busy.lock_latency_us = 10;
  ObjectStore objects;
  CostModel costs(busy, objects);
  std::vector<std::thread> writers;
  for (std::int32_t node = 0; node < 2; ++node) {
    writers.emplace_back([&costs, node] {
      const auto handle = costs.open(node, false);
      for (int i = 0; i < 50; ++i) CHECK(write(costs, *handle, {(2 * i + node) * 300, 300}).ok());
      CHECK(flush(costs, *handle).ok());
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(counts(costs, R"("bytes_written":[30000])"));
}

}  // namespace nacre::sim
