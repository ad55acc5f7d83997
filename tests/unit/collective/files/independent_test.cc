// Compares independent access with a model: exactly the bytes of the access, any view, any memory
// layout, with and without sieving, up to the end of the file or the first error.
#include "collective/files/independent.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "random_access.h"
#include "testing/faults/faulty_store.h"
#include "testing/memory_store.h"

namespace nacre::collective {
namespace {

using namespace fixtures;
using plan::Direction;

IndependentSettings random_settings(Random& random) {
  IndependentSettings settings;
  settings.read_buffer_bytes = pick(random, 0, 1) == 0 ? 4096 : 4 << 20;
  settings.write_buffer_bytes = pick(random, 0, 1) == 0 ? 4096 : 1 << 20;
  settings.read_sieving = pick(random, 0, 3) != 0;
  settings.write_sieving = pick(random, 0, 1) == 0;
  return settings;
}

/// The buffer after a read of `file`, and the bytes read up to the first missing byte.
std::int64_t fetch(const Bytes& file, const RankAccess& access, Bytes& buffer) {
  const auto in_file = access.file_offsets();
  const auto in_memory = access.memory_offsets();
  for (std::size_t i = 0; i < in_file.size(); ++i) {
    const auto offset = static_cast<std::size_t>(in_file[i]);
    if (offset >= file.size()) return static_cast<std::int64_t>(i);
    buffer[static_cast<std::size_t>(in_memory[i])] = file[offset];
  }
  return std::ssize(in_file);
}

struct Fixture {
  std::shared_ptr<testing::MemoryStore> store = std::make_shared<testing::MemoryStore>();
  LazyFile file{store, "f"};
  Profile profile;

  explicit Fixture(const Bytes& bytes) { create_file(*store, "f", bytes); }
  store::Transfer run(Direction direction, RankAccess& access,
                      const IndependentSettings& settings) {
    const plan::MemoryAccess memory = access.memory();
    const IndependentAccess request{direction, access.file, memory};
    Profiler profiler(profile, Phase::file);
    return access_runs(**file.file(), request, settings, profiler);
  }
};

plan::TypeMap strided(std::int64_t length, std::int64_t stride) {
  return plan::TypeMap::bytes(length).resized(0, stride).value();
}

}  // namespace

TEST_CASE("random writes change the bytes of the access and no other") {
  const std::uint64_t seed = 31'337;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 600; ++repeat) {
    CAPTURE(repeat);
    Bytes expected = random_bytes(random, pick(random, 0, 6'000));
    Fixture fixture(expected);
    RankAccess access = random_access(random, 4'000, 3'000);
    const store::Transfer done = fixture.run(Direction::write, access, random_settings(random));
    CHECK(done.bytes == access.file.byte_count);
    CHECK_FALSE(done.error.has_value());
    overlay(expected, access);
    CHECK(*fixture.store->contents("f") == expected);
  }
}

TEST_CASE("random reads stop at the end of the file and do not change other memory") {
  const std::uint64_t seed = 8'086;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 600; ++repeat) {
    CAPTURE(repeat);
    const Bytes bytes = random_bytes(random, pick(random, 0, 20'000));
    Fixture fixture(bytes);
    RankAccess access = random_access(random, 4'000, 3'000);
    // The offsets of a view may decrease.
    if (pick(random, 0, 3) == 0) access.file.view.type = random_memory_type(random);
    Bytes expected = access.buffer;
    const std::int64_t count = fetch(bytes, access, expected);
    const store::Transfer done = fixture.run(Direction::read, access, random_settings(random));
    CHECK(done.bytes == count);
    CHECK_FALSE(done.error.has_value());
    CHECK(access.buffer == expected);
  }
}

TEST_CASE("after an error at a byte, the bytes before it in the stream are moved and counted") {
  const std::uint64_t seed = 5;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 300; ++repeat) {
    CAPTURE(repeat);
    const auto memory_store = std::make_shared<testing::MemoryStore>();
    create_file(*memory_store, "f", random_bytes(random, 100'000));
    RankAccess access = random_access(random, 2'000, 3'000);
    if (access.file.byte_count == 0) continue;
    const auto offsets = access.file_offsets();
    const auto bad = static_cast<std::size_t>(pick(random, 0, std::ssize(offsets) - 1));
    testing::FaultPlan plan;
    plan.faults.push_back({{}, "", testing::TouchedByte{offsets[bad], {}}, EIO, true});
    LazyFile file(std::make_shared<testing::FaultyStore>(memory_store, plan, 0), "f");
    const Direction direction = pick(random, 0, 1) == 0 ? Direction::read : Direction::write;
    IndependentSettings settings = random_settings(random);
    settings.write_sieving = false;
    Profile profile;
    Profiler profiler(profile, Phase::file);
    const plan::MemoryAccess memory = access.memory();
    const store::Transfer done =
        access_runs(**file.file(), {direction, access.file, memory}, settings, profiler);
    CHECK(done.error.has_value());
    CHECK(done.bytes == static_cast<std::int64_t>(bad));
  }
}

TEST_CASE("a contiguous access is one call, for any memory layout") {
  Random random(1);
  for (const plan::TypeMap& memory_type :
       {plan::TypeMap::bytes(1), strided(4, 8), strided(600, 700)}) {
    Fixture fixture({});
    RankAccess access;
    access.file.view.type = plan::TypeMap::bytes(1);
    access.file.byte_count = 60'000;
    access.memory_type = memory_type;
    access.buffer = random_bytes(random, 130'000);
    const store::Transfer done = fixture.run(Direction::write, access, {});
    CHECK(done.bytes == 60'000);
    CHECK(fixture.profile.file_call_count() == 1);
    CHECK(fixture.profile.file_bytes.get() == 60'000);
    Bytes expected;
    overlay(expected, access);
    CHECK(*fixture.store->contents("f") == expected);
  }
}

TEST_CASE(
    "close runs are read in one call, distant runs separately; each run is written separately") {
  Random random(2);
  RankAccess access;
  access.file.view.type = strided(8, 64);
  access.file.byte_count = 800;
  access.memory_type = plan::TypeMap::bytes(1);
  access.buffer = random_bytes(random, 800);
  Fixture close_runs(random_bytes(random, 10'000));
  CHECK(close_runs.run(Direction::read, access, {}).bytes == 800);
  CHECK(close_runs.profile.file_call_count() == 1);
  Fixture writes(random_bytes(random, 10'000));
  CHECK(writes.run(Direction::write, access, {}).bytes == 800);
  CHECK(writes.profile.file_call_count() == 100);
  access.file.view.type = strided(8, 1 << 20);
  access.file.byte_count = 24;
  Fixture far_runs(random_bytes(random, 3 << 20));
  CHECK(far_runs.run(Direction::read, access, {}).bytes == 24);
  CHECK(far_runs.profile.file_call_count() == 3);
}

TEST_CASE("a buffer that cannot be allocated is an error of the call") {
  RankAccess access;
  access.file.view.type = plan::TypeMap::bytes(1);
  access.file.byte_count = std::int64_t{1} << 60U;
  access.memory_type = strided(8, 16);
  IndependentSettings settings;
  settings.write_buffer_bytes = access.file.byte_count;
  const store::Transfer done = Fixture({}).run(Direction::write, access, settings);
  CHECK(done.bytes == 0);
  REQUIRE(done.error.has_value());
  CHECK(done.error->error_class == ErrorClass::no_mem);
}

TEST_CASE("write sieving reads, modifies and writes under a lock") {
  Random random(3);
  const Bytes before = random_bytes(random, 10'000);
  RankAccess access;
  access.file.view.type = strided(8, 64);
  access.file.byte_count = 800;
  access.memory_type = plan::TypeMap::bytes(1);
  access.buffer = random_bytes(random, 800);
  Fixture fixture(before);
  IndependentSettings settings;
  settings.write_sieving = true;
  CHECK(fixture.run(Direction::write, access, settings).bytes == 800);
  CHECK(fixture.profile.file_call_count() == 1);
  CHECK(fixture.profile.read_modify_writes.get() == 1);
  Bytes expected = before;
  overlay(expected, access);
  CHECK(*fixture.store->contents("f") == expected);
}

}  // namespace nacre::collective
