// SharedPointer: ranks and threads move one pointer, and no two get the same position. A counter
// exists only if the pointer was moved.
#include "file/shared_pointer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "store/default_store.h"
#include "temporary_directory.h"
#include "testing/faults/faulty_store.h"
#include "testing/memory_store.h"

namespace nacre::file {
namespace {

/// Each thread is a rank with its own SharedPointer. All start at once.
void contend(store::Store& store, const store::CounterKey& key) {
  constexpr int ranks = 8;
  constexpr std::int64_t moves = 200;
  std::vector<std::vector<std::int64_t>> taken(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      SharedPointer pointer(store, key);
      for (std::int64_t i = 0; i < moves; ++i) {
        const Result<std::int64_t> position = pointer.fetch_add(3);
        if (position) taken[static_cast<std::size_t>(rank)].push_back(*position);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::int64_t> all;
  for (const auto& part : taken) {
    CHECK(std::ranges::is_sorted(part));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::ranges::sort(all);
  REQUIRE(std::ssize(all) == ranks * moves);
  for (std::int64_t i = 0; i < std::ssize(all); ++i) {
    if (all[static_cast<std::size_t>(i)] != 3 * i) FAIL("place ", 3 * i, " was not taken once");
  }
  SharedPointer last(store, key);
  CHECK(last.get().value() == 3 * ranks * moves);
  last.forget();
}

}  // namespace

TEST_CASE("reading, setting and resetting the pointer creates no counter") {
  testing::MemoryStore store;
  SharedPointer pointer(store, {"f", 1, true});
  CHECK(pointer.get().value() == 0);
  pointer.set_base(40);
  CHECK(pointer.reset().ok());
  CHECK(pointer.get().value() == 40);
  CHECK_FALSE(pointer.used());
  CHECK(store.counter_count() == 0);
}

TEST_CASE("the first rank that moves the pointer creates the counter; other ranks find it") {
  testing::MemoryStore store;
  SharedPointer one(store, {"f", 1, true});
  SharedPointer other(store, {"f", 1, true});
  CHECK(one.fetch_add(5).value() == 0);
  CHECK(other.get().value() == 5);
  CHECK(other.fetch_add(2).value() == 5);
  CHECK(one.get().value() == 7);
  CHECK(one.used());
  CHECK(other.used());
  CHECK(other.reset().ok());
  one.set_base(100);
  CHECK(one.get().value() == 100);
  one.forget();
  CHECK(store.counter_count() == 0);
}

TEST_CASE("ranks that start at once share one pointer in memory") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    testing::MemoryStore store;
    contend(store, {"f", 1, true});
  }
}

TEST_CASE("ranks that start at once share one pointer on the system's shared memory and files") {
  const store::fixtures::TemporaryDirectory directory;
  const auto id = static_cast<std::uint64_t>(std::hash<std::string>()(directory.path()));
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto unique = id + static_cast<std::uint64_t>(repeat);
    contend(*store::default_store(), {directory.file("f"), unique, true});
    contend(*store::default_store(), {directory.file("f"), unique, false});
  }
  CHECK(directory.entry_count() == 0);
}

TEST_CASE("a pointer beyond 64 bits is an error") {
  testing::MemoryStore store;
  SharedPointer pointer(store, {"f", 1, true});
  pointer.set_base(std::numeric_limits<std::int64_t>::max() - 4);
  CHECK(pointer.fetch_add(4).ok());
  CHECK(pointer.fetch_add(4).ok());
  CHECK(pointer.fetch_add(4).error().error_class == ErrorClass::arg);
  CHECK(pointer.get().error().error_class == ErrorClass::arg);
}

TEST_CASE("a counter that wraps is an error, and no negative position") {
  testing::MemoryStore store;
  SharedPointer pointer(store, {"f", 1, true});
  const std::int64_t half = std::int64_t{1} << 62U;
  CHECK(pointer.fetch_add(half).value() == 0);
  CHECK(pointer.fetch_add(half).value() == half);
  CHECK(pointer.fetch_add(1).error().error_class == ErrorClass::arg);
  CHECK(pointer.get().error().error_class == ErrorClass::arg);
}

TEST_CASE("a counter that cannot be created or used is an error") {
  auto memory = std::make_shared<testing::MemoryStore>();
  testing::FaultyStore making(memory, testing::parse_fault_plan("counter=2,errno=ENOSPC").value(),
                              0);
  SharedPointer first(making, {"f", 1, true});
  CHECK(first.fetch_add(1).error().error_class == ErrorClass::no_space);
  CHECK_FALSE(first.used());
  CHECK(first.fetch_add(1).value() == 0);
  testing::FaultyStore attaching(memory,
                                 testing::parse_fault_plan("counter=1,errno=EACCES").value(), 0);
  SharedPointer second(attaching, {"f", 1, true});
  CHECK(second.get().error().error_class == ErrorClass::access);
  CHECK(second.get().value() == 1);
}

}  // namespace nacre::file
