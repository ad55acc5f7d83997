// Objects behave the same in memory and on disk, and errors of the disk are returned.
#include "sim/lustre/object_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "asked_layout.h"
#include "sim/lustre/striped_file.h"
#include "temporary_directory.h"
#include "testing/faults/faulty_store.h"
#include "testing/memory_store.h"

namespace nacre::sim {
namespace {

using store::fixtures::TemporaryDirectory;
constexpr int ost_count = 4;

ObjectStore store_of(bool on_disk, const TemporaryDirectory& directory) {
  if (!on_disk) return {};
  return ObjectStore::on_disk(directory.path(), ost_count).value();
}

/// A store in memory with faults, in the syntax of NACRE_TEST_FAULTS.
ObjectStore faulty_store(const std::string& faults) {
  const auto memory = std::make_shared<testing::MemoryStore>();
  const testing::FaultPlan plan = testing::parse_fault_plan(faults).value();
  return {std::make_shared<testing::FaultyStore>(memory, plan, 0), "objects"};
}

std::vector<std::byte> contents(ObjectStore& objects, const ObjectName& name, std::size_t bytes) {
  std::vector<std::byte> found(bytes, std::byte{0xee});
  REQUIRE(objects.read(name, found, 0).ok());
  return found;
}

std::string why_not(const std::string& directory) {
  const Result<ObjectStore> made = ObjectStore::on_disk(directory, ost_count);
  return made ? "" : made.error().message;
}

}  // namespace

TEST_CASE("an object that was never written or was removed is empty") {
  for (const bool on_disk : {false, true}) {
    CAPTURE(on_disk);
    const TemporaryDirectory directory;
    ObjectStore objects = store_of(on_disk, directory);
    for (const ObjectName& name : {ObjectName{3, 17}, ObjectName{metadata_target, 17}}) {
      const std::vector<std::byte> bytes(10, std::byte{7});
      CHECK(contents(objects, name, 10) == std::vector<std::byte>(10));
      CHECK(objects.truncate(name, 5).ok());
      CHECK(objects.erase(name, {0, 5}).ok());
      CHECK(objects.sync(name).ok());
      objects.remove(name);
      REQUIRE(objects.write(name, bytes, 0).bytes == 10);
      CHECK(objects.sync(name).ok());
      CHECK(contents(objects, name, 10) == bytes);
      objects.remove(name);
      CHECK(contents(objects, name, 10) == std::vector<std::byte>(10));
    }
  }
}

TEST_CASE("random accesses of several objects agree with plain arrays, in memory and on disk") {
  const std::uint64_t seed = 20261123;
  MESSAGE("seed ", seed);
  for (const bool on_disk : {false, true}) {
    CAPTURE(on_disk);
    std::mt19937_64 random(seed);
    const TemporaryDirectory directory;
    ObjectStore objects = store_of(on_disk, directory);
    constexpr std::size_t size_max = 300'000;
    constexpr std::array names{ObjectName{0, 1}, ObjectName{3, 1}, ObjectName{metadata_target, 1}};
    // After its end an object reads as zeros, so all objects can have the same size.
    std::array<std::vector<std::byte>, names.size()> expected;
    expected.fill(std::vector<std::byte>(size_max));
    for (int step = 0; step < 600; ++step) {
      const std::size_t which = random() % names.size();
      std::vector<std::byte>& mine = expected[which];
      const std::size_t offset = random() % size_max;
      const std::size_t count = random() % std::min<std::size_t>(size_max - offset, 100'000);
      const Extent extent{static_cast<std::int64_t>(offset), static_cast<std::int64_t>(count)};
      const auto begin = mine.begin() + extent.offset;
      switch (random() % 5) {
        case 0:
          REQUIRE(objects.truncate(names[which], extent.offset).ok());
          std::fill(begin, mine.end(), std::byte{0});
          break;
        case 1:
          REQUIRE(objects.erase(names[which], extent).ok());
          std::fill_n(begin, count, std::byte{0});
          break;
        case 2: {
          std::vector<std::byte> found(count, std::byte{0xee});
          REQUIRE(objects.read(names[which], found, extent.offset).ok());
          REQUIRE(std::ranges::equal(found, std::span(begin, count)));
          break;
        }
        default: {
          std::vector<std::byte> bytes(count);
          for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
          REQUIRE(objects.write(names[which], bytes, extent.offset).bytes == extent.length);
          std::ranges::copy(bytes, begin);
        }
      }
      REQUIRE(contents(objects, names[which], size_max) == mine);
    }
  }
}

TEST_CASE("on disk each object is a file, and created directories are removed at the end") {
  const TemporaryDirectory directory;
  const std::string made = directory.file("objects");
  {
    ObjectStore objects = ObjectStore::on_disk(made, ost_count).value();
    const std::vector<std::byte> bytes(10, std::byte{7});
    REQUIRE(!objects.write({2, 17}, bytes, 1 << 20).error);
    REQUIRE(!objects.write({metadata_target, 5}, bytes, 0).error);
    CHECK(std::filesystem::file_size(made + "/2/17") == (1 << 20) + 10);
    CHECK(std::filesystem::file_size(made + "/mdt/5") == 10);
    objects.remove({2, 17});
    objects.remove({metadata_target, 5});
  }
  CHECK(directory.entry_count() == 0);
  { const ObjectStore objects = store_of(true, directory); }
  CHECK(directory.entry_count() == 0);
  CHECK(std::filesystem::exists(directory.path()));
}

TEST_CASE("the error for an unusable directory names it, and the directory does not change") {
  const TemporaryDirectory directory;
  const std::string file = directory.file("file");
  std::ofstream(file) << "x";
  CHECK(why_not(directory.path()).find("is not empty: " + directory.path()) != std::string::npos);
  CHECK(directory.entry_count() == 1);
  CHECK(why_not(file) == "make the directory for objects " + file + ": file exists");
  const std::string within = file + "/objects";
  CHECK(why_not(within) == "make the directory for objects " + within + ": not a directory");
  const std::string absent = directory.file("absent/objects");
  CHECK(why_not(absent) ==
        "make the directory for objects " + absent + ": no such file or directory");
}

TEST_CASE("errors of the disk are returned by every kind of access") {
  const ObjectName name{0, 1};
  const std::vector<std::byte> bytes(10, std::byte{7});
  std::vector<std::byte> found(10);
  const auto written = [&](const std::string& faults) {
    ObjectStore objects = faulty_store(faults);
    REQUIRE(!objects.write(name, bytes, 0).error);
    return objects;
  };
  CHECK(faulty_store("open=1,errno=EMFILE").write(name, bytes, 0).error->system_errno == EMFILE);
  CHECK(faulty_store("write=1,errno=ENOSPC").write(name, bytes, 0).error->system_errno == ENOSPC);
  CHECK(faulty_store("close=1,errno=EDQUOT").write(name, bytes, 0).error->system_errno == EDQUOT);
  CHECK(faulty_store("after=4,errno=EIO").write(name, bytes, 0).bytes == 4);
  CHECK(errno_in(written("open=2,errno=EMFILE").read(name, found, 0)) == EMFILE);
  CHECK(errno_in(written("read=1,errno=EIO").read(name, found, 0)) == EIO);
  CHECK(errno_in(written("resize=1,errno=EIO").truncate(name, 5)) == EIO);
  CHECK(errno_in(written("write=2,errno=ENOSPC").erase(name, {0, 5})) == ENOSPC);
  CHECK(errno_in(written("sync=1,errno=EIO").sync(name)) == EIO);
}

TEST_CASE(
    "a file keeps the data written before the disk was full, and data that cannot be truncated") {
  const Machine two_osts{.osts = 2, .stripe_size = 1 << 16};
  Striping striping(two_osts, faulty_store("after=100000,on=write,errno=ENOSPC;"
                                           "read=2,errno=EIO;resize=1,errno=EIO;sync=1,errno=EIO"));
  StripedFile file(striping, 7);
  REQUIRE(file.set_layout(asked_layout("-c 2 -S 64k")).ok());
  const std::vector<std::byte> bytes(200'000, std::byte{7});
  CHECK(errno_in(file.write(bytes, 0)) == ENOSPC);
  CHECK(file.size() == 100'000);
  CHECK(errno_in(file.resize(10)) == EIO);
  CHECK(file.size() == 100'000);
  std::vector<std::byte> found(200'000);
  CHECK(errno_in(file.read(found, 0)) == EIO);
  CHECK(errno_in(file.sync()) == EIO);
  CHECK(file.append(bytes).value() == 100'000);
  CHECK(file.read(found, 0).value() == 200'000);
  CHECK(found == bytes);
  CHECK(file.size() == 300'000);
}

}  // namespace nacre::sim
