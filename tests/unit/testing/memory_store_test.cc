// The functions that the store in memory adds for tests.
#include "testing/memory_store.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "bytes.h"

namespace nacre::testing {
namespace {

using store::fixtures::read_text;
using store::fixtures::to_create;
using store::fixtures::to_update;
using store::fixtures::write_text;

}  // namespace

TEST_CASE("contents are all bytes of the file") {
  MemoryStore store;
  CHECK_FALSE(store.contents("x").ok());
  const auto file = *store.open("x", to_create);
  CHECK(write_text(*file, "ab", 1).bytes == 2);
  CHECK(store.contents("x").value() ==
        std::vector<std::byte>{std::byte{0}, std::byte{'a'}, std::byte{'b'}});
}

TEST_CASE("calls are counted over all opens") {
  MemoryStore store;
  const auto first = *store.open("x", to_create);
  const auto second = *store.open("x", to_update);
  CHECK(write_text(*first, "abc", 0).bytes == 3);
  CHECK(read_text(*second, 10, 1) == "bc");
  const MemoryStoreCounts counts = store.counts();
  CHECK(counts.opens == 2);
  CHECK(counts.writes == 1);
  CHECK(counts.bytes_written == 3);
  CHECK(counts.reads == 1);
  CHECK(counts.bytes_read == 2);
}

TEST_CASE("counters that were not forgotten are listed") {
  MemoryStore store;
  const store::CounterKey key{"x", 5, true};
  const auto counter = store.counter(key, true);
  CHECK(store.counter_count() == 1);
  store.forget_counter(key);
  CHECK(store.counter_count() == 0);
}

TEST_CASE("files, locks and counters outlive the store") {
  auto store = std::make_unique<MemoryStore>();
  auto file = *store->open("x", to_create);
  const auto lock = *file->lock({0, 1}, store::LockKind::exclusive);
  const auto counter = *store->counter({"x", 5, true}, true);
  store.reset();
  CHECK(write_text(*file, "abc", 0).bytes == 3);
  CHECK(counter->fetch_add(1).ok());
}

TEST_CASE("an exclusive lock waits for the release of the shared lock") {
  MemoryStore store;
  const auto reader = *store.open("x", to_create);
  const auto writer = *store.open("x", to_update);
  std::atomic<bool> released{false};
  auto shared = reader->lock({0, 10}, store::LockKind::shared);
  bool was_released = false;
  std::thread thread([&] {
    const auto exclusive = writer->lock({9, 10}, store::LockKind::exclusive);
    was_released = released;
  });
  released = true;
  shared->reset();
  thread.join();
  CHECK(was_released);
}

}  // namespace nacre::testing
