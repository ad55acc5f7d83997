// Shared counters between processes, and their files.
#include "store/posix/shared_counter.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "store/memory/shared_memory.h"
#include "store/posix/posix_store.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::Child;
using fixtures::Report;
using fixtures::TemporaryDirectory;

/// Adds 1 several times; reports the sum of the previous values.
Report sum_of_turns(const CounterKey& key, int times) {
  const auto counter = PosixStore().counter(key, false);
  if (!counter) return counter.error().message;
  std::int64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    const Result<std::int64_t> before = (*counter)->fetch_add(1);
    if (!before) return before.error().message;
    sum += *before;
  }
  return std::to_string(sum);
}

mode_t mode_of(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? file.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("processes that add concurrently get different values") {
  for (const std::string& root : fixtures::test_roots()) {
    const TemporaryDirectory directory(root);
    for (const bool one_node : {true, false}) {
      CAPTURE(one_node);
      const CounterKey key{directory.file("x"), 0xc0ffee00u + static_cast<unsigned>(getpid()),
                           one_node};
      const auto counter = PosixStore().counter(key, true);
      REQUIRE(counter.ok());
      constexpr int processes = 4;
      const int times = one_node ? 5000 : 300;
      std::int64_t sum = 0;
      {
        std::vector<std::unique_ptr<Child>> children;
        for (int i = 0; i < processes; ++i) {
          children.push_back(std::make_unique<Child>([&] { return sum_of_turns(key, times); }));
        }
        for (const auto& child : children) sum += std::stoll(child->report());
      }
      const std::int64_t turns = processes * times;
      CHECK((*counter)->get().value() == turns);
      CHECK(sum == turns * (turns - 1) / 2);
      PosixStore().forget_counter(key);
    }
    CHECK(directory.entry_count() == 0);
  }
}

TEST_CASE("only the user can access a counter") {
  const TemporaryDirectory directory;
  const CounterKey key{directory.file("x"), 0xabcu, false};
  const auto in_file = PosixStore().counter(key, true);
  REQUIRE(in_file.ok());
  CHECK(mode_of(counter_file_path(key)) == 0600);
  PosixStore().forget_counter(key);

  const auto in_memory = memory_counter(0xabcdef, true);
  REQUIRE(in_memory.ok());
  CHECK(mode_of("/dev/shm" + SharedMemory::name(0xabcdef)) == 0600);
  SharedMemory::forget(0xabcdef);
  CHECK(mode_of("/dev/shm" + SharedMemory::name(0xabcdef)) == 0);
}

TEST_CASE(
    "the file of a counter is hidden in the directory of the data file, with a name for each "
    "open") {
  CHECK(counter_file_path({"/scratch/run1/x.h5", 0xc0ffee, false}) ==
        "/scratch/run1/.x.h5.nacre-0000000000c0ffee");
  CHECK(counter_file_path({"x.h5", ~std::uint64_t{0}, false}) == ".x.h5.nacre-ffffffffffffffff");
  CHECK(counter_file_path({"./a/../x", 0, false}) == "./a/../.x.nacre-0000000000000000");
}

TEST_CASE("a data file with the longest name has a counter") {
  const TemporaryDirectory directory;
  const CounterKey key{directory.file(std::string(255, 'x')), 0xabc, false};
  const std::string path = counter_file_path(key);
  CHECK(path.size() - path.rfind('/') - 1 == 255);
  const auto counter = PosixStore().counter(key, true);
  CHECK(counter.ok());
  CHECK(PosixStore().counter(key, false).ok());
  PosixStore().forget_counter(key);
}

TEST_CASE("a link with the name of a counter is not followed") {
  const TemporaryDirectory directory;
  const CounterKey key{directory.file("x"), 0xabc, false};
  REQUIRE(symlink("elsewhere", counter_file_path(key).c_str()) == 0);
  CHECK_FALSE(PosixStore().counter(key, true).ok());
  CHECK_FALSE(PosixStore().counter(key, false).ok());
}

}  // namespace nacre::store
