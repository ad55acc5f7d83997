// Compares collective access with a serial oracle: random views, memory, rank counts, aggregators
// and cycles; the file and every buffer, byte for byte. Faults and refusals end the call with the
// same error on all ranks.
#include "collective/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "random_access.h"
#include "store/forwarding.h"
#include "testing/faults/faulty_store.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::collective {
namespace {

using namespace fixtures;
using plan::Algorithm;
using plan::Direction;

enum class Drive : std::uint8_t { polled, threads };

/// Forwards to another transport, and counts the bytes that are sent before data.
class CountsBeforeData final : public Transport {
 public:
  CountsBeforeData(Transport& inner, const Profiler& profiler)
      : inner_(inner), profiler_(profiler) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return inner_.nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return inner_.tree(); }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    return inner_.receive(source, data);
  }
  bool test(std::span<MessageId> messages) override { return inner_.test(messages); }
  void ring(int rank) override { inner_.ring(rank); }
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override {
    inner_.run_in_helper_thread(std::move(job), thread_count_max);
  }
  void wait(Condition& condition) override { inner_.wait(condition); }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] MessageId post_send(int destination, std::span<const std::byte> data) override {
    const Phase phase = profiler_.phase();
    if (phase == Phase::plan || phase == Phase::views) bytes_ += std::ssize(data);
    return inner_.send(destination, data);
  }

  Transport& inner_;
  const Profiler& profiler_;
  std::int64_t bytes_ = 0;
};

/// All ranks of a call, with one file in memory.
struct World {
  std::shared_ptr<testing::MemoryStore> store = std::make_shared<testing::MemoryStore>();
  std::vector<RankAccess> ranks;
  std::vector<std::optional<Error>> refusals;
  std::vector<std::shared_ptr<store::Store>> stores;  // by rank
  std::vector<ViewMemory> views;                      // by rank, over all runs
  std::vector<NodeRounds> rounds;                     // likewise
  std::vector<RankGroupCache> groups;                 // likewise
  std::vector<RepeatedAccess> repeated;               // likewise
  plan::ChoiceMemory choices;                         // of rank 0, over all runs
  bool learns = false;                                // CollectiveCall::learns
  std::vector<std::unique_ptr<Profile>> profiles;     // by rank, of the last run
  std::vector<std::int64_t> sent_before_data;         // likewise
  plan::CollectiveSettings settings;
  int ranks_per_node = 1;
  bool deals_ranks = false;
  int io_thread_count = 0;
  Drive drive = Drive::polled;
  std::uint64_t seed = 1;

  World(const Bytes& file, std::size_t rank_count) {
    create_file(*store, "f", file);
    ranks.resize(rank_count);
    refusals.resize(rank_count);
    stores.assign(rank_count, store);
    views.resize(rank_count);
    rounds.resize(rank_count);
    groups.resize(rank_count);
    repeated.resize(rank_count);
  }

  std::vector<Outcome> run(Direction direction) {
    const int count = static_cast<int>(ranks.size());
    testing::InProcessNetwork network(
        {count, testing::SendMode::mixed, seed, ranks_per_node, deals_ranks});
    std::vector<LazyFile> files;
    for (const auto& rank_store : stores) files.emplace_back(rank_store, "f");
    profiles.clear();
    std::deque<Profiler> profilers;
    std::deque<CountsBeforeData> transports;
    for (int rank = 0; rank < count; ++rank) {
      profiles.push_back(std::make_unique<Profile>());
      profilers.emplace_back(*profiles.back(), Phase::plan);
      transports.emplace_back(network.transport(rank), profilers.back());
    }
    const auto task = [&](int rank) {
      const auto index = static_cast<std::size_t>(rank);
      CollectiveCall call;
      call.direction = direction;
      call.file = ranks[index].file;
      call.memory = ranks[index].memory();
      call.refusal = refusals[index];
      call.learns = learns;
      const CollectiveFile file{files[index],    views[index],    rounds[index],
                                groups[index],   repeated[index], profilers[index],
                                io_thread_count, seed % 2 == 0,   &choices};
      return run_collective(transports[index], file, std::move(call), settings);
    };
    auto results = drive == Drive::polled ? testing::run_polled<Outcome>(network, task, seed)
                                          : testing::run_threads<Outcome>(network, task);
    REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
    CHECK(network.unmatched_count() == 0);
    sent_before_data.clear();
    for (const auto& transport : transports) sent_before_data.push_back(transport.bytes());
    return *std::move(results);
  }
  /// After the settings have changed.
  void forget_choices() {
    choices.forget();
    for (RepeatedAccess& one : repeated) one.forget();
  }
  /// Bytes per rank, on average.
  [[nodiscard]] std::int64_t mean_sent_before_data() const {
    return std::accumulate(sent_before_data.begin(), sent_before_data.end(), std::int64_t{0}) /
           std::ssize(sent_before_data);
  }
};

RankAccess contiguous(std::int64_t offset, Bytes bytes) {
  RankAccess access;
  access.file.view = {plan::TypeMap::bytes(1), offset};
  access.file.byte_count = std::ssize(bytes);
  access.memory_type = plan::TypeMap::bytes(1);
  access.buffer = std::move(bytes);
  return access;
}

std::shared_ptr<const plan::InitialGroups> random_groups(Random& random, int rank_count) {
  using Source = plan::InitialGroups::Source;
  constexpr std::array<Source, 4> sources{Source::accesses, Source::grid, Source::lists,
                                          Source::each};
  plan::InitialGroups groups;
  groups.source = sources[static_cast<std::size_t>(pick(random, 0, 3))];
  groups.grid = {1, rank_count};
  groups.lists.resize(3);
  for (std::int32_t rank = 0; rank < rank_count; ++rank) {
    const auto list = static_cast<std::size_t>(pick(random, 0, 3));
    if (list < 3) groups.lists[list].push_back(rank);
  }
  return std::make_shared<const plan::InitialGroups>(std::move(groups));
}

/// Any row of the table; each that exchanges is twice as likely as direct, which is the first.
Algorithm random_algorithm(Random& random) {
  const std::span rows = plan::algorithm_table();
  const std::int64_t half_row = pick(random, 1, 2 * std::ssize(rows) - 1);
  return rows[static_cast<std::size_t>(half_row / 2)]->algorithm;
}

World random_world(Random& random, int rank_count, std::int64_t bytes_max) {
  const std::int64_t span = pick(random, 0, 1) == 0 ? 200 : 20'000;
  World world(random_bytes(random, pick(random, 0, 3) == 0 ? 0 : pick(random, 1, 30'000)),
              static_cast<std::size_t>(rank_count));
  for (RankAccess& access : world.ranks) access = random_access(random, bytes_max, span);
  constexpr std::array<std::int64_t, 8> cycles{1, 3, 16, 64, 100, 1000, 4096, 0};
  constexpr std::array<std::int64_t, 4> alignments{1, 8, 64, 4096};
  world.settings.algorithm = random_algorithm(random);
  world.settings.initial_groups = random_groups(random, rank_count);
  world.settings.saturation_bytes = pick(random, 0, 1) == 0 ? 0 : pick(random, 1, 20'000);
  world.settings.aggregator_count = static_cast<std::int32_t>(pick(random, 0, rank_count + 3));
  world.settings.cycle_bytes = cycles[static_cast<std::size_t>(pick(random, 0, 7))];
  world.settings.alignment_bytes = alignments[static_cast<std::size_t>(pick(random, 0, 3))];
  constexpr std::array<std::int32_t, 4> cycle_buffers{2, 3, 5, 16};
  world.io_thread_count = static_cast<int>(pick(random, 0, 3));
  world.settings.cycle_buffer_count = cycle_buffers[static_cast<std::size_t>(pick(random, 0, 3))];
  world.settings.one_writer_per_node = pick(random, 0, 1) == 0;
  world.ranks_per_node = static_cast<int>(pick(random, 1, rank_count));
  world.deals_ranks = pick(random, 0, 2) == 0;
  world.seed = random();
  return world;
}

/// As random_world(), but no two ranks access the same byte, so that ranks may write concurrently.
World dealt_world(Random& random, int rank_count, std::int64_t file_bytes) {
  World world = random_world(random, rank_count, 1);
  std::vector<std::vector<std::int64_t>> offsets(world.ranks.size());
  std::vector<std::vector<std::int64_t>> lengths(world.ranks.size());
  const std::int64_t length_max = pick(random, 0, 1) == 0 ? 8 : 300;
  for (std::int64_t offset = 0; offset < file_bytes;) {
    const std::int64_t length = pick(random, 1, length_max);
    const auto rank = static_cast<std::size_t>(pick(random, 0, rank_count));  // rank_count: no rank
    if (rank < world.ranks.size()) {
      offsets[rank].push_back(offset);
      lengths[rank].push_back(length);
    }
    offset += length;
  }
  for (std::size_t rank = 0; rank < world.ranks.size(); ++rank) {
    RankAccess& access = world.ranks[rank];
    access = contiguous(0, {});
    access.file.view.type =
        plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths[rank], offsets[rank]).value();
    access.file.byte_count = access.file.view.type.size();
    access.buffer = random_bytes(random, access.file.byte_count);
  }
  return world;
}

void check_write(World& world) {
  Bytes expected = after_writes(*world.store->contents("f"), world.ranks);
  const std::vector<RankAccess> before = world.ranks;
  const std::vector<Outcome> outcomes = world.run(Direction::write);
  const Bytes found = *world.store->contents("f");
  accept_any_winner(expected, found, world.ranks);
  CHECK(found == expected);
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    CHECK_FALSE(outcomes[rank].error.has_value());
    CHECK(outcomes[rank].bytes == world.ranks[rank].file.byte_count);
    CHECK(outcomes[rank].plan == outcomes.front().plan);
    CHECK(world.ranks[rank].buffer == before[rank].buffer);
  }
}

void check_read(World& world) {
  const Bytes file = *world.store->contents("f");
  std::vector<Bytes> expected;
  std::vector<std::int64_t> counts;
  for (const RankAccess& access : world.ranks) {
    const auto in_file = access.file_offsets();
    const auto in_memory = access.memory_offsets();
    Bytes buffer = access.buffer;
    std::size_t i = 0;
    for (; i < in_file.size() && in_file[i] < std::ssize(file); ++i) {
      buffer[static_cast<std::size_t>(in_memory[i])] = file[static_cast<std::size_t>(in_file[i])];
    }
    expected.push_back(std::move(buffer));
    counts.push_back(static_cast<std::int64_t>(i));
  }
  const std::vector<Outcome> outcomes = world.run(Direction::read);
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    CAPTURE(rank);
    CHECK_FALSE(outcomes[rank].error.has_value());
    CHECK(outcomes[rank].bytes == counts[rank]);
    CHECK(world.ranks[rank].buffer == expected[rank]);
  }
  CHECK(*world.store->contents("f") == file);
}

plan::TypeMap strided(std::int64_t length, std::int64_t stride) {
  return plan::TypeMap::bytes(length).resized(0, stride).value();
}

/// `run_count` runs of up to 8 bytes, one in the first 16 bytes of each `step` bytes.
plan::TypeMap irregular(Random& random, std::int64_t run_count, std::int64_t step) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < run_count; ++i) {
    offsets.push_back(i * step + pick(random, 0, 8));
    lengths.push_back(pick(random, 1, 8));
  }
  const plan::TypeMap runs = *plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths, offsets);
  return *runs.resized(0, run_count * step);
}

/// Interleaved ranks: rank r has run r of every `count` runs of `length` bytes.
World interleaved(std::size_t count, std::int64_t length, std::int64_t runs_each) {
  Random random(count);
  World world(random_bytes(random, 100), count);
  const std::int64_t stride = length * static_cast<std::int64_t>(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    RankAccess& access = world.ranks[rank];
    access = contiguous(static_cast<std::int64_t>(rank) * length,
                        random_bytes(random, length * runs_each));
    access.file.view.type = strided(length, stride);
  }
  return world;
}

}  // namespace

TEST_CASE(
    "random collective writes give the same file as writes one rank after another, and keep "
    "holes") {
  const std::uint64_t seed = 4'242;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(250); ++repeat) {
    CAPTURE(repeat);
    World world = random_world(random, static_cast<int>(pick(random, 1, 9)), 2'000);
    check_write(world);
  }
}

TEST_CASE("random collective reads give every rank its bytes up to the end of the file") {
  const std::uint64_t seed = 4'243;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(250); ++repeat) {
    CAPTURE(repeat);
    World world = random_world(random, static_cast<int>(pick(random, 1, 9)), 2'000);
    check_read(world);
  }
}

TEST_CASE("every rank count up to 33, writes and reads") {
  const std::uint64_t seed = 33;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int count = 1; count <= 33; ++count) {
    CAPTURE(count);
    World world = random_world(random, count, 600);
    world.settings.algorithm = Algorithm::two_phase;
    check_write(world);
    check_read(world);
  }
}

TEST_CASE("three hundred ranks") {
  Random random(300);
  World world = random_world(random, 300, 200);
  world.settings = {Algorithm::two_phase, 17, 512, 64};
  check_write(world);
  check_read(world);
}

TEST_CASE("one thread per rank, with blocking calls") {
  const std::uint64_t seed = 77;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(20); ++repeat) {
    CAPTURE(repeat);
    World world = dealt_world(random, static_cast<int>(pick(random, 2, 8)), 5'000);
    world.settings.algorithm = Algorithm::two_phase;
    world.drive = Drive::threads;
    check_write(world);
    check_read(world);
  }
}

/// A file whose writes, from the second on, wait until the rank has copied one round more than it
/// has written. This needs a rank that copies during a write.
class WaitsForCopies final : public store::ForwardingFile {
 public:
  WaitsForCopies(std::unique_ptr<store::StoreFile> file, const Profile& profile,
                 std::int64_t cycle_bytes, std::int64_t total_bytes)
      : ForwardingFile(std::move(file)),
        profile_(profile),
        cycle_bytes_(cycle_bytes),
        total_bytes_(total_bytes) {}

  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    const std::int64_t writes = ++writes_;
    const std::int64_t copied = std::min(total_bytes_, (writes + 1) * cycle_bytes_);
    while (writes > 1 && profile_.copied_bytes.get() < copied) std::this_thread::yield();
    return ForwardingFile::write(pieces, offset);
  }

 private:
  const Profile& profile_;
  std::int64_t cycle_bytes_;
  std::int64_t total_bytes_;
  std::atomic<std::int64_t> writes_ = 0;
};

class OpenedFile final : public FileSource {
 public:
  explicit OpenedFile(store::StoreFile& file) : file_(file) {}
  Result<store::StoreFile*> file() override { return &file_; }

 private:
  store::StoreFile& file_;
};

TEST_CASE("a rank fills the next round while a thread writes the previous round") {
  constexpr std::int64_t cycle_bytes = 1'024;
  constexpr std::int64_t rounds = 8;
  Random random(5);
  testing::MemoryStore store;
  create_file(store, "f", {});
  Profile profile;
  Profiler profiler(profile, Phase::plan);
  store::OpenOptions options;
  options.write = true;
  WaitsForCopies file(*store.open("f", options), profile, cycle_bytes, rounds * cycle_bytes);
  OpenedFile source(file);
  ViewMemory views;
  NodeRounds node_rounds;
  RankGroupCache groups;
  RepeatedAccess repeated;
  RankAccess access = contiguous(0, random_bytes(random, rounds * cycle_bytes));
  testing::InProcessNetwork network({});
  CollectiveCall call;
  call.direction = Direction::write;
  call.file = access.file;
  call.memory = access.memory();
  const auto outcomes = testing::run_threads<Outcome>(network, [&](int rank) {
    return run_collective(network.transport(rank),
                          {source, views, node_rounds, groups, repeated, profiler, 1},
                          std::move(call), {Algorithm::two_phase, 1, cycle_bytes, 1});
  });
  REQUIRE(outcomes.has_value());
  CHECK_FALSE(outcomes->front().error.has_value());
  CHECK(*store.contents("f") == access.buffer);
}

/// A file whose reads and writes wait until `wanted` of them are in flight, at most for a time
/// limit.
class Gated final : public store::ForwardingFile {
 public:
  Gated(std::unique_ptr<store::StoreFile> file, int wanted)
      : ForwardingFile(std::move(file)), wanted_(wanted) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    enter();
    store::Transfer transfer = ForwardingFile::read(pieces, offset);
    --inside_;
    return transfer;
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    enter();
    store::Transfer transfer = ForwardingFile::write(pieces, offset);
    --inside_;
    return transfer;
  }
  [[nodiscard]] int most_inside() const { return most_inside_; }

 private:
  void enter() {
    std::unique_lock guard(mutex_);
    most_inside_ = std::max(most_inside_, ++inside_);
    changed_.notify_all();
    changed_.wait_for(guard, std::chrono::seconds(300), [&] { return most_inside_ >= wanted_; });
  }

  const int wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> inside_ = 0;
  int most_inside_ = 0;
};

/// A file whose first write takes long enough for others to begin.
class SlowAtFirst final : public store::ForwardingFile {
 public:
  using ForwardingFile::ForwardingFile;
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    const bool is_first = begun_++ == 0;
    if (is_first) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (is_first) begun_beside_first_ = begun_ - 1;
    return ForwardingFile::write(pieces, offset);
  }
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int begun_beside_first() const { return begun_beside_first_; }

 private:
  std::atomic<int> begun_ = 0;
  int begun_beside_first_ = 0;
};

TEST_CASE("the first write of a rank runs alone, so that it gets the lock of the whole object") {
  Random random(5);
  testing::MemoryStore store;
  create_file(store, "f", {});
  store::OpenOptions options;
  options.write = true;
  SlowAtFirst file(*store.open("f", options));
  OpenedFile source(file);
  ViewMemory views;
  NodeRounds node_rounds;
  RankGroupCache groups;
  RepeatedAccess repeated;
  Profile profile;
  Profiler profiler(profile, Phase::plan);
  RankAccess access = contiguous(0, random_bytes(random, 12 << 10));
  testing::InProcessNetwork network({});
  CollectiveCall call;
  call.direction = Direction::write;
  call.file = access.file;
  call.memory = access.memory();
  const plan::CollectiveSettings settings{.algorithm = Algorithm::two_phase,
                                          .aggregator_count = 1,
                                          .cycle_bytes = 1 << 10,
                                          .alignment_bytes = 1,
                                          .cycle_buffer_count = 4};
  const auto outcomes = testing::run_threads<Outcome>(network, [&](int rank) {
    return run_collective(network.transport(rank),
                          {source, views, node_rounds, groups, repeated, profiler, 4},
                          std::move(call), settings);
  });
  REQUIRE(outcomes.has_value());
  CHECK(*store.contents("f") == access.buffer);
  CHECK(file.begun() == 12);
  CHECK(file.begun_beside_first() == 0);
}

TEST_CASE("as many accesses are in flight as there are cycle buffers and threads") {
  constexpr std::int64_t cycle_bytes = 1'024;
  constexpr std::int64_t bytes = 12 * cycle_bytes;
  for (const int count : {2, 4}) {
    for (const std::int64_t stride : {1, 5}) {  // whole rounds; only the requested bytes
      for (const Direction direction : {Direction::write, Direction::read}) {
        CAPTURE(count);
        CAPTURE(stride);
        CAPTURE(direction);
        Random random(5);
        testing::MemoryStore store;
        const Bytes before = random_bytes(random, bytes * stride);
        create_file(store, "f", before);
        store::OpenOptions options;
        options.read = options.write = true;
        Gated file(*store.open("f", options), count);
        OpenedFile source(file);
        ViewMemory views;
        NodeRounds node_rounds;
        RankGroupCache groups;
        RepeatedAccess repeated;
        Profile profile;
        profile.count_file_call({0, 1}, 1);  // the first write would run alone
        Profiler profiler(profile, Phase::plan);
        std::vector<RankAccess> ranks{contiguous(0, random_bytes(random, bytes))};
        RankAccess& access = ranks.front();
        if (stride > 1) access.file.view.type = strided(1, stride);
        const Bytes written = after_writes(before, ranks);
        testing::InProcessNetwork network({});
        CollectiveCall call;
        call.direction = direction;
        call.file = access.file;
        call.memory = access.memory();
        const plan::CollectiveSettings settings{.algorithm = Algorithm::two_phase,
                                                .aggregator_count = 1,
                                                .cycle_bytes = cycle_bytes,
                                                .alignment_bytes = 1,
                                                .cycle_buffer_count = count};
        const auto outcomes = testing::run_threads<Outcome>(network, [&](int rank) {
          return run_collective(network.transport(rank),
                                {source, views, node_rounds, groups, repeated, profiler, count},
                                std::move(call), settings);
        });
        REQUIRE(outcomes.has_value());
        CHECK_FALSE(outcomes->front().error.has_value());
        CHECK(file.most_inside() == count);
        const bool writes = direction == Direction::write;
        CHECK(*store.contents("f") == (writes ? written : before));
        if (!writes) CHECK(after_writes(before, ranks) == before);
      }
    }
  }
}

TEST_CASE("two hundred ranks, one thread each, on nodes of 32 ranks") {
  Random random(200);
  World world = dealt_world(random, 200, 20'000);
  world.settings = {Algorithm::two_phase, 23, 128, 64};
  world.ranks_per_node = 32;
  world.drive = Drive::threads;
  check_write(world);
  check_read(world);
}

TEST_CASE("an irregular view that is too large to send is sent as the runs of each domain") {
  const std::uint64_t seed = 12;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (const std::int64_t run_count : {200, 3'000}) {
    World world(random_bytes(random, 1'000), 5);
    for (RankAccess& access : world.ranks) {
      std::vector<std::int64_t> lengths;
      std::vector<std::int64_t> offsets;
      std::int64_t end = 0;
      for (std::int64_t i = 0; i < run_count; ++i) {
        offsets.push_back(end + pick(random, 1, 300));
        lengths.push_back(pick(random, 1, 9));
        end = offsets.back() + lengths.back();
      }
      const plan::TypeMap type =
          plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths, offsets).value();
      access = contiguous(pick(random, 0, 50), random_bytes(random, type.size() + 10));
      access.file.view.type = type;
    }
    world.settings = {Algorithm::two_phase, 3, 4'096, 4'096};
    check_write(world);
    check_read(world);
  }
}

TEST_CASE("a view is sent once: later steps through it send a few bytes besides data") {
  constexpr int rank_count = 6;
  constexpr std::int64_t bytes_each = 900;
  Random random(13);
  World world({}, rank_count);
  std::vector<std::int64_t> offsets;
  for (int i = 0; i < 300; ++i) offsets.push_back(40 * i + pick(random, 0, 9));
  const std::vector<std::int64_t> lengths(offsets.size(), 3);
  const plan::TypeMap irregular =
      *plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths, offsets);
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    world.ranks[rank] = contiguous(4 * static_cast<std::int64_t>(rank), Bytes(bytes_each));
    world.ranks[rank].file.view.type = irregular;
  }
  world.settings = {Algorithm::two_phase, 2, 4'096, 4'096};
  std::vector<std::int64_t>
      beside_data;  // by step: maximum over the ranks that send all their data
  for (std::int64_t step = 0; step < 4; ++step) {
    for (RankAccess& access : world.ranks) {
      access.file.first_byte = step * bytes_each;
      access.buffer = random_bytes(random, bytes_each);
    }
    const Bytes expected = after_writes(*world.store->contents("f"), world.ranks);
    beside_data.push_back(0);
    const std::vector<Outcome> outcomes = world.run(Direction::write);
    for (int rank = 0; rank < rank_count; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      const int aggregators = outcomes[index].plan.aggregator_count;
      const auto nodes = plan::NodeMap::singles(rank_count);
      if (plan::Aggregators::over_nodes(aggregators, 0, nodes).of_rank(rank)) continue;
      const std::int64_t sent = world.profiles[index]->message_bytes.get();
      beside_data.back() = std::max(beside_data.back(), sent - bytes_each);
    }
    CHECK(*world.store->contents("f") == expected);
  }
  // The first step sends 300 irregular runs. All steps include messages that a rank forwards.
  CHECK(beside_data[0] > 800);
  for (std::size_t step = 1; step < beside_data.size(); ++step) {
    CAPTURE(beside_data[step]);
    CHECK(beside_data[step] <= 400);
  }
}

TEST_CASE("the runs of a domain are sent once, and again when they change") {
  Random random(16);
  World world({}, 8);
  world.ranks_per_node = 2;
  world.settings = {Algorithm::two_phase, 4, 4'096, 1'024};
  const plan::TypeMap type = irregular(random, 4'000, 16 * 8);
  for (std::size_t rank = 0; rank < world.ranks.size(); ++rank) {
    world.ranks[rank] = contiguous(static_cast<std::int64_t>(16 * rank), Bytes(type.size() / 2));
    world.ranks[rank].file.view.type = type;
  }
  const auto step = [&](std::int64_t copies, std::int64_t skipped_bytes) {
    for (RankAccess& access : world.ranks) {
      access.file.first_byte = copies * type.size() + skipped_bytes;
      access.buffer = random_bytes(random, access.file.byte_count);
    }
    const Bytes expected = after_writes(*world.store->contents("f"), world.ranks);
    const std::vector<Outcome> outcomes = world.run(Direction::write);
    CHECK(*world.store->contents("f") == expected);
    for (const Outcome& outcome : outcomes) CHECK_FALSE(outcome.error.has_value());
    return world.mean_sent_before_data();
  };
  CHECK(step(0, 0) > 4'000);
  CHECK(step(1, 0) < 215);
  CHECK(step(5, 0) < 215);
  CHECK(step(5, 0) < 215);
  // Other runs of the view.
  CHECK(step(6, type.size() / 3) > 4'000);
  CHECK(step(7, type.size() / 3) < 215);
  world.settings.aggregator_count = 3;
  CHECK(step(8, type.size() / 3) > 4'000);
  CHECK(step(9, type.size() / 3) < 215);
  // A program may make the same view anew for each call.
  for (RankAccess& access : world.ranks) {
    std::vector<std::byte> encoded;
    type.encode(encoded);
    std::span<const std::byte> in(encoded);
    access.file.view.type = *plan::TypeMap::decode(in);
  }
  CHECK(step(10, type.size() / 3) < 215);
}

/// Steps of a loop. Each step moves on by one copy of the views, or by `distance` bytes.
void check_steps(World& world, std::int64_t distance) {
  Random random(18);
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    for (RankAccess& access : world.ranks) {
      access.buffer = random_bytes(random, access.file.byte_count);
    }
    check_write(world);
    if (step > 0) {
      CHECK(world.mean_sent_before_data() < 250);
      // Rank 0 sends the decision to its children in the tree, ten at 64 ranks.
      CHECK(std::ranges::max(world.sent_before_data) < 900);
    }
    for (RankAccess& access : world.ranks) access.file.view.origin += distance;
  }
}

TEST_CASE("second and later steps send less than 240 bytes per rank before data") {
  struct Size {
    int ranks;
    int nodes;
  };
  for (const Size size : {Size{8, 4}, Size{64, 8}}) {
    CAPTURE(size.ranks);
    const std::int64_t slots = 16;
    World world = interleaved(static_cast<std::size_t>(size.ranks), slots, 1'000);
    world.ranks_per_node = size.ranks / size.nodes;
    world.settings = {Algorithm::two_phase, 8, 65'536, 4'096};
    SUBCASE("small and regular, at any distance") { check_steps(world, 1'234'567); }
    SUBCASE("irregular, and small enough to be sent whole") {
      Random random(19);
      const plan::TypeMap type = irregular(random, 300, slots * size.ranks);
      for (RankAccess& access : world.ranks) access.file.view.type = type;
      check_steps(world, 1'234'567);
    }
    SUBCASE("irregular, sent as runs, with moving domains") {
      Random random(20);
      const plan::TypeMap type = irregular(random, 4'096, slots * size.ranks);
      for (RankAccess& access : world.ranks) {
        access.file.view.type = type;
        access.file.byte_count = type.size();
        access.buffer.resize(static_cast<std::size_t>(type.size()));
      }
      check_steps(world, type.extent());
    }
    SUBCASE("segmentation") {
      world.settings.algorithm = Algorithm::dynamic_segmentation;
      check_steps(world, 1'234'567);
    }
  }
}

TEST_CASE("nodes are counted once, also that of a rank 0 without data") {
  World world = interleaved(12, 20, 100);
  world.ranks_per_node = 3;
  world.ranks.front().file.byte_count = 0;
  world.ranks.front().buffer.clear();
  const plan::AccessSummary summary = world.run(Direction::write).front().summary;
  CHECK(summary.node_count() == 4);
  CHECK(summary.node_bytes_max() == 3 * 2'000);
  CHECK(summary.bytes == 11 * 2'000);
}

TEST_CASE("groups that predicted times chose are kept while calls stay the same") {
  machine::Machine machine;
  machine.far_message_ns = 3'000'000;
  machine.write_call_ns = 200'000;
  machine.one_writer = 1;
  World world = interleaved(12, 20, 100);
  world.ranks_per_node = 4;
  world.settings.machine = std::make_shared<const machine::Machine>(machine);
  world.settings.one_writer_per_node = true;
  world.settings.cycle_bytes = 256;
  world.settings.saturation_bytes = 1 << 20;
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    const std::vector<Outcome> outcomes = world.run(Direction::write);
    const plan::CollectivePlan& plan = outcomes.front().plan;
    CHECK(plan.algorithm == Algorithm::dynamic_segmentation);
    CHECK(plan.aggregator_count == 3);
    CHECK(plan.count_reason == plan::CountReason::cost);
    if (step > 0) CHECK(world.groups.front().groups() == outcomes.front().groups);
    check_write(world);
    for (RankAccess& access : world.ranks) access.file.view.origin += 50'000;
  }
  const auto request = [&](std::int64_t count) {
    const plan::Participants all{.rank_count = 12, .node_count = 3};
    return GroupingRequest{nullptr, plan::group_target(world.settings, all, count)};
  };
  CHECK(world.groups.front().are_for(request(3)));
  CHECK_FALSE(world.groups.front().are_for(request(0)));
}

TEST_CASE(
    "a read that will be repeated is in steps from the second on, from the first on at the start "
    "of the file, a write from the third on") {
  constexpr std::int64_t bytes = 100;
  constexpr std::int64_t call_bytes = 3 * bytes;
  const auto in_steps = [&](Direction direction, std::int64_t file_bytes, std::int64_t start) {
    World world(Bytes(static_cast<std::size_t>(file_bytes)), 3);
    std::vector<bool> seen;
    for (std::int64_t call = 0; call < 3; ++call) {
      for (std::int64_t rank = 0; rank < 3; ++rank) {
        world.ranks[static_cast<std::size_t>(rank)] =
            contiguous(start + (3 * call + rank) * bytes, Bytes(static_cast<std::size_t>(bytes)));
      }
      const std::vector<Outcome> outcomes = world.run(direction);
      for (const Outcome& outcome : outcomes) CHECK(outcome.in_steps == outcomes.front().in_steps);
      seen.push_back(outcomes.front().in_steps);
    }
    return seen;
  };
  const std::vector all = {true, true, true};
  const std::vector from_second = {false, true, true};
  const std::vector from_third = {false, false, true};
  CHECK(in_steps(Direction::read, 5 * call_bytes, 0) == all);
  CHECK(in_steps(Direction::read, 5 * call_bytes - 1, 0) == from_third);
  CHECK(in_steps(Direction::read, 6 * call_bytes, call_bytes) == from_second);
  CHECK(in_steps(Direction::read, 6 * call_bytes - 1, call_bytes) == from_third);
  CHECK(in_steps(Direction::write, 6 * call_bytes, 0) == from_third);
}

TEST_CASE("a call that repeats direct ones moves its bytes before the ranks meet") {
  const auto machine = [] {
    machine::Machine costly_messages;
    costly_messages.near_message_ns = 1'000'000'000;  // far longer than a call takes
    return std::make_shared<const machine::Machine>(costly_messages);
  }();
  World world = interleaved(8, 16, 100);
  world.learns = true;
  world.ranks_per_node = 4;
  world.settings.machine = machine;
  Random random(21);
  const auto messages_of_step = [&](Direction direction) {
    for (RankAccess& access : world.ranks) {
      access.file.view.origin += 40'000;
      access.buffer = random_bytes(random, std::ssize(access.buffer));
    }
    const Bytes expected = after_writes(*world.store->contents("f"), world.ranks);
    for (const Outcome& outcome : world.run(direction)) {
      CHECK_FALSE(outcome.error.has_value());
      CHECK(outcome.plan.algorithm == Algorithm::direct);
    }
    if (direction == Direction::write) CHECK(*world.store->contents("f") == expected);
    std::int64_t messages = 0;
    for (const auto& profile : world.profiles) messages += profile->messages.get();
    return messages;
  };
  const std::int64_t decided = messages_of_step(Direction::write);
  for (int step = 0; step < 6; ++step) messages_of_step(Direction::write);
  const std::int64_t repeated = messages_of_step(Direction::write);
  CHECK(2 * repeated == decided);
  CHECK(messages_of_step(Direction::write) == repeated);
  SUBCASE("unless the direction differs") { CHECK(messages_of_step(Direction::read) == decided); }
  SUBCASE("unless a rank moves fewer bytes") {
    const RankAccess before = world.ranks[3];
    world.ranks[3].file.byte_count /= 2;
    world.ranks[3].buffer.resize(static_cast<std::size_t>(world.ranks[3].file.byte_count));
    CHECK(messages_of_step(Direction::write) == decided);
    CHECK(messages_of_step(Direction::write) == decided);
    world.ranks[3].file.byte_count = before.file.byte_count;
    world.ranks[3].buffer.resize(before.buffer.size());
    CHECK(messages_of_step(Direction::write) == decided);
    CHECK(messages_of_step(Direction::write) == decided);
    CHECK(messages_of_step(Direction::write) == repeated);
  }
  SUBCASE("and its errors reach all ranks") {
    world.refusals[5] = Error{ErrorClass::count, 0, "not this count"};
    for (const Outcome& outcome : world.run(Direction::write)) {
      REQUIRE(outcome.error.has_value());
      CHECK(outcome.error->error_class == ErrorClass::count);
    }
    world.refusals[5].reset();
    CHECK(messages_of_step(Direction::write) == decided);
  }
}

TEST_CASE("irregular views in random orders of valid and invalid calls") {
  const std::uint64_t seed = 17;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(40); ++repeat) {
    CAPTURE(repeat);
    const auto rank_count = static_cast<int>(pick(random, 2, 9));
    World world = random_world(random, rank_count, 1);
    world.ranks_per_node = static_cast<int>(pick(random, 1, 4));
    world.settings.initial_groups = nullptr;
    world.learns = repeat % 3 != 0;
    const std::int64_t bytes_max = repeat % 2 == 0 ? 300 : 2'500;
    const std::vector<plan::TypeMap> types{irregular(random, 900, 16), irregular(random, 900, 24),
                                           random_monotone_type(random)};
    for (std::int64_t call = 0; call < 14; ++call) {
      CAPTURE(call);
      // Each call differs from the previous one in one thing or in nothing.
      const std::int64_t change = call == 0 ? 9 : pick(random, 0, 9);
      if (change >= 8) {
        for (RankAccess& access : world.ranks) {
          const plan::TypeMap& type = types[static_cast<std::size_t>(pick(random, 0, 2))];
          access = contiguous(pick(random, 0, 500),
                              Bytes(static_cast<std::size_t>(pick(random, 0, 3) * bytes_max / 3)));
          access.file.view.type = type;
          access.file.first_byte = pick(random, 0, 1) * pick(random, 0, type.size());
        }
      } else if (change == 7) {
        world.settings.aggregator_count = static_cast<std::int32_t>(pick(random, 1, rank_count));
        world.forget_choices();
      } else if (change == 6) {
        world.settings.algorithm = random_algorithm(random);
        world.forget_choices();
      } else if (change == 5) {
        RankAccess& access = world.ranks[static_cast<std::size_t>(pick(random, 0, rank_count - 1))];
        access.file.first_byte += pick(random, 0, 50);
      } else if (change >= 3) {
        const std::int64_t later = change == 3 ? 4'096 : pick(random, 1, 600);
        for (RankAccess& access : world.ranks) access.file.view.origin += later;
      }
      const auto refusing = static_cast<std::size_t>(pick(random, 0, rank_count - 1));
      if (pick(random, 0, 5) == 0) {
        world.refusals[refusing] = Error{ErrorClass::count, 0, "not this count"};
        for (const Outcome& outcome : world.run(Direction::write)) CHECK(outcome.error.has_value());
        world.refusals[refusing].reset();
      }
      const auto idle = static_cast<std::size_t>(pick(random, 0, rank_count - 1));
      const RankAccess not_now = world.ranks[idle];
      if (pick(random, 0, 5) == 0) world.ranks[idle] = contiguous(0, {});
      for (RankAccess& access : world.ranks) {
        access.buffer = random_bytes(random, std::ssize(access.buffer));
      }
      if (pick(random, 0, 2) > 0) {
        check_write(world);
      } else {
        check_read(world);
      }
      world.ranks[idle] = not_now;
    }
  }
}

TEST_CASE("a node sends an aggregator one message per round, with the data of all its ranks") {
  constexpr int rank_count = 12;
  constexpr std::int64_t cycle_bytes = 4'096;
  constexpr std::int64_t rounds = 10;
  constexpr std::int64_t slice = 16;
  Random random(31);
  for (const bool views_are_known : {false, true}) {
    World world({}, rank_count);
    world.ranks_per_node = 4;
    world.settings = {Algorithm::two_phase, 1, cycle_bytes, cycle_bytes};
    for (std::size_t rank = 0; rank < rank_count; ++rank) {
      const std::int64_t bytes = cycle_bytes * rounds / rank_count / slice * slice;
      world.ranks[rank] =
          contiguous(slice * static_cast<std::int64_t>(rank), random_bytes(random, bytes));
      world.ranks[rank].file.view.type = strided(slice, slice * rank_count);
    }
    if (views_are_known) world.run(Direction::write);
    const Bytes before = *world.store->contents("f");
    const Bytes expected = after_writes(before, world.ranks);
    world.run(Direction::write);
    CHECK(*world.store->contents("f") == expected);
    std::int64_t large =
        0;  // messages of ranks on other nodes, except a few of agreements and views
    for (std::size_t rank = 4; rank < rank_count; ++rank) {
      large += world.profiles[rank]->messages.get();
    }
    CHECK(large >= 2 * rounds);
    CHECK(large <= 2 * rounds + 8 * 13);
  }
}

TEST_CASE("views that change between calls, and come back") {
  const std::uint64_t seed = 14;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(30); ++repeat) {
    CAPTURE(repeat);
    World world = random_world(random, static_cast<int>(pick(random, 2, 9)), 1'000);
    std::vector<plan::TypeMap> types;
    for (const RankAccess& access : world.ranks) types.push_back(access.file.view.type);
    for (int call = 0; call < 12; ++call) {
      CAPTURE(call);
      for (RankAccess& access : world.ranks) {
        const auto type = static_cast<std::size_t>(pick(random, 0, std::ssize(types) - 1));
        access.file.view = {types[type], pick(random, 0, 500)};
      }
      world.settings.aggregator_count = static_cast<std::int32_t>(pick(random, 0, 4));
      if (call % 2 == 0) {
        check_write(world);
      } else {
        check_read(world);
      }
    }
  }
}

TEST_CASE("if memory is short ranks keep no buffers; later calls still agree") {
  const std::uint64_t seed = 15;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < repeats(20); ++repeat) {
    CAPTURE(repeat);
    World world = dealt_world(random, static_cast<int>(pick(random, 2, 9)), 5'000);
    world.settings.algorithm = Algorithm::two_phase;
    world.drive = repeat % 2 == 0 ? Drive::threads : Drive::polled;
    std::atomic<std::int64_t> available = 0;
    for (NodeRounds& rounds : world.rounds) {
      rounds =
          NodeRounds(MemoryWatch([&] { return available.load(); }, std::chrono::nanoseconds(0)));
    }
    for (int call = 0; call < 12; ++call) {
      CAPTURE(call);
      const bool is_short = pick(random, 0, 1) == 0;
      available = is_short ? 0 : std::numeric_limits<std::int64_t>::max();
      if (call % 2 == 0) {
        check_write(world);
      } else {
        check_read(world);
      }
      for (const NodeRounds& rounds : world.rounds) {
        if (is_short) CHECK_FALSE(rounds.are_kept());
      }
    }
  }
}

TEST_CASE("all ranks agree if memory is short on some nodes only") {
  const std::uint64_t seed = 16;
  MESSAGE("seed ", seed);
  Random random(seed);
  constexpr std::array<std::int64_t, 4> cycles{64, 1'000, 100'000, 1'000'000};
  for (int repeat = 0; repeat < repeats(30); ++repeat) {
    CAPTURE(repeat);
    World world = dealt_world(random, static_cast<int>(pick(random, 2, 9)), 5'000);
    world.ranks_per_node = static_cast<int>(pick(random, 1, 3));
    std::deque<std::atomic<std::int64_t>> available(world.rounds.size());
    for (std::size_t rank = 0; rank < world.rounds.size(); ++rank) {
      const auto here = [&available, rank] { return available[rank].load(); };
      world.rounds[rank] = NodeRounds(MemoryWatch(here, std::chrono::nanoseconds(0)));
    }
    for (int call = 0; call < 20; ++call) {
      CAPTURE(call);
      for (auto& bytes : available) {
        bytes = pick(random, 0, 1) == 0 ? 0 : std::numeric_limits<std::int64_t>::max();
      }
      // Needs more or less memory than the ranks have kept.
      world.settings.cycle_bytes = cycles[static_cast<std::size_t>(pick(random, 0, 3))];
      world.settings.cycle_buffer_count = static_cast<std::int32_t>(pick(random, 2, 4));
      world.settings.aggregator_count = static_cast<std::int32_t>(pick(random, 1, 4));
      world.settings.algorithm =
          pick(random, 0, 2) == 0 ? Algorithm::dynamic_segmentation : Algorithm::two_phase;
      if (call % 2 == 0) {
        check_write(world);
      } else {
        check_read(world);
      }
    }
  }
}

TEST_CASE("all ranks read the same bytes, contiguous or not, through a small cycle") {
  for (const std::int64_t stride : {1, 3}) {
    Random random(6);
    World world(random_bytes(random, 30'000), 7);
    for (RankAccess& access : world.ranks) {
      access = contiguous(0, random_bytes(random, 10'000));
      if (stride > 1) access.file.view.type = strided(1, stride);
    }
    world.settings = {Algorithm::two_phase, 2, 256, 1};
    check_read(world);
    check_write(world);
  }
}

TEST_CASE("eight ranks whose data are a tebibyte apart take few rounds") {
  constexpr std::int64_t tebibyte = std::int64_t{1} << 40;
  Random random(8);
  World world({}, 8);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    world.ranks[rank] =
        contiguous(tebibyte * static_cast<std::int64_t>(rank), random_bytes(random, 1'024));
  }
  world.settings.algorithm = Algorithm::two_phase;
  for (const Outcome& outcome : world.run(Direction::write)) {
    CHECK(outcome.bytes == 1'024);
  }
  for (const auto& profile : world.profiles) CHECK(profile->rounds.get() <= 12);
  const std::vector<RankAccess> written = world.ranks;
  for (RankAccess& access : world.ranks)
    std::fill(access.buffer.begin(), access.buffer.end(), std::byte{0});
  for (const Outcome& outcome : world.run(Direction::read)) {
    CHECK(outcome.bytes == 1'024);
  }
  for (const auto& profile : world.profiles) CHECK(profile->rounds.get() <= 12);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    CHECK(world.ranks[rank].buffer == written[rank].buffer);
  }
}

TEST_CASE("interleaved ranks cause one large write per round") {
  World world = interleaved(4, 16, 1'024);  // 64 KiB in total
  world.settings.cycle_bytes = 8 << 10;
  world.settings.aggregator_count = 2;
  const std::int64_t writes_before = world.store->counts().writes;
  check_write(world);
  CHECK(world.store->counts().writes - writes_before == 8);
  const std::int64_t reads_before = world.store->counts().reads;
  check_read(world);
  CHECK(world.store->counts().reads - reads_before == 8);
}

TEST_CASE("only aggregators and ranks with data open the file") {
  World world = interleaved(6, 16, 64);
  world.settings.aggregator_count = 2;
  const std::int64_t opens_before = world.store->counts().opens;
  world.run(Direction::write);
  CHECK(world.store->counts().opens - opens_before == 2);
}

TEST_CASE("a call without data makes no plan, whatever the hints") {
  World world({}, 5);
  for (RankAccess& access : world.ranks) access = contiguous(0, {});
  world.settings.algorithm = Algorithm::two_phase;
  for (const Outcome& outcome : world.run(Direction::write)) {
    CHECK(outcome.plan.reason == plan::PlanReason::no_data);
    CHECK(outcome.bytes == 0);
    CHECK_FALSE(outcome.error.has_value());
  }
}

TEST_CASE("a read beyond the end of the file reads nothing") {
  Random random(1);
  World world(random_bytes(random, 100), 3);
  for (RankAccess& access : world.ranks) access = contiguous(100, random_bytes(random, 50));
  world.settings.algorithm = Algorithm::two_phase;
  check_read(world);
}

TEST_CASE("a view with decreasing offsets makes the whole read direct") {
  Random random(9);
  World world(random_bytes(random, 5'000), 4);
  for (RankAccess& access : world.ranks) access = contiguous(7, random_bytes(random, 900));
  const std::vector<std::int64_t> lengths{30, 30};
  const std::vector<std::int64_t> offsets{500, 0};
  world.ranks[2].file.view.type =
      plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths, offsets).value();
  world.settings.algorithm = Algorithm::two_phase;
  check_read(world);
  CHECK(world.run(Direction::read).front().plan.reason == plan::PlanReason::unordered_view);
}

TEST_CASE("a refusal ends the call on all ranks before any byte moves") {
  for (const std::size_t refusing : {0, 1, 4}) {
    World world = interleaved(5, 16, 64);
    const Bytes before = *world.store->contents("f");
    world.refusals[refusing] = Error{ErrorClass::type, 0, "not this type"};
    world.refusals[4] =
        Error{refusing == 4 ? ErrorClass::type : ErrorClass::count, 0, "not this type"};
    const std::vector<Outcome> outcomes = world.run(Direction::write);
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      REQUIRE(outcomes[rank].error.has_value());
      CHECK(outcomes[rank].error->error_class == ErrorClass::type);
      const std::string prefix = rank == refusing ? "" : "rank " + std::to_string(refusing) + ": ";
      CHECK(outcomes[rank].error->message == prefix + "not this type");
      CHECK(outcomes[rank].bytes == 0);
    }
    CHECK(*world.store->contents("f") == before);
  }
}

TEST_CASE("a fault at any rank, call and byte ends the call on all ranks with its error class") {
  const std::uint64_t seed = 666;
  MESSAGE("seed ", seed);
  Random random(seed);
  constexpr std::array<int, 4> errnos{EIO, ENOSPC, EDQUOT, EACCES};
  constexpr std::array<ErrorClass, 4> classes{ErrorClass::io, ErrorClass::no_space,
                                              ErrorClass::quota, ErrorClass::access};
  int failed_calls = 0;
  for (int repeat = 0; repeat < repeats(300); ++repeat) {
    CAPTURE(repeat);
    // Threads that write the same byte would race.
    const bool threads = repeat % 10 == 0;
    const int rank_count = static_cast<int>(pick(random, 1, 8));
    World world =
        threads ? dealt_world(random, rank_count, 3'000) : random_world(random, rank_count, 1'000);
    if (threads) world.drive = Drive::threads;
    const auto which = static_cast<std::size_t>(pick(random, 0, 3));
    const Direction direction = pick(random, 0, 1) == 0 ? Direction::read : Direction::write;
    const auto operation =
        direction == Direction::read ? testing::StoreCall::read : testing::StoreCall::write;
    testing::FaultPlan plan;
    testing::Fault fault;
    fault.system_errno = errnos[which];
    fault.repeats = pick(random, 0, 1) == 0;
    if (pick(random, 0, 5) == 0) {
      fault.trigger = testing::NthCall{testing::StoreCall::open, 1, 0};
    } else {
      fault.trigger = testing::NthCall{operation, pick(random, 1, 4), pick(random, 0, 20)};
    }
    if (pick(random, 0, 1) == 0) {
      fault.rank = static_cast<int>(pick(random, 0, std::ssize(world.ranks) - 1));
    }
    plan.faults.push_back(fault);
    for (std::size_t rank = 0; rank < world.ranks.size(); ++rank) {
      world.stores[rank] =
          std::make_shared<testing::FaultyStore>(world.store, plan, static_cast<int>(rank));
    }
    const std::vector<Outcome> outcomes = world.run(direction);
    const bool failed = outcomes.front().error.has_value();
    failed_calls += failed ? 1 : 0;
    for (const Outcome& outcome : outcomes) {
      REQUIRE(outcome.error.has_value() == failed);
      if (failed) CHECK(outcome.error->error_class == classes[which]);
    }
  }
  CHECK(failed_calls > repeats(300) / 3);
}

TEST_CASE("failed direct writes return the bytes that each rank has written") {
  Random random(4);
  World world({}, 2);
  world.ranks[0] = contiguous(0, random_bytes(random, 1'000));
  world.ranks[1] = contiguous(1'000, random_bytes(random, 1'000));
  testing::FaultPlan plan;
  plan.faults.push_back({1, "", testing::MovedBytes{300, {}}, ENOSPC, true});
  world.stores[1] = std::make_shared<testing::FaultyStore>(world.store, plan, 1);
  world.settings.algorithm = Algorithm::direct;
  const std::vector<Outcome> outcomes = world.run(Direction::write);
  CHECK(outcomes[0].bytes == 1'000);
  CHECK(outcomes[1].bytes == 300);
  CHECK(outcomes[0].error->error_class == ErrorClass::no_space);
  CHECK(outcomes[1].error->error_class == ErrorClass::no_space);
}

}  // namespace nacre::collective
