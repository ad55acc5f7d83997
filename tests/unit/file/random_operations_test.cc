// Compares random programs of one to nine ranks with a serial oracle. The programs use views, every
// kind of position, independent and collective calls, seeks and sizes. The test compares the file
// and every buffer, status and pointer.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "file/open_file.h"
#include "plan/algorithms/algorithm_table.h"
#include "random_access.h"
#include "world.h"

namespace nacre::file {
namespace {

using namespace fixtures;
using collective::fixtures::Bytes;
using collective::fixtures::offsets_of;
using collective::fixtures::pick;
using collective::fixtures::Random;
using collective::fixtures::random_bytes;
using plan::Direction;

/// A rank's buffer and the data bytes of an access in it.
struct Buffer {
  plan::TypeMap type;
  Bytes bytes;
  std::int64_t byte_count = 0;

  [[nodiscard]] plan::MemoryAccess memory() { return {bytes.data(), type, byte_count}; }
  /// The index of data byte i in the buffer.
  [[nodiscard]] std::vector<std::int64_t> offsets() const {
    return offsets_of({type, 0}, 0, byte_count);
  }
};

/// A model of one file and its ranks by MPI-4.1, chapter 14, byte by byte.
struct Oracle {
  struct Rank {
    View view;
    std::int64_t position = 0;
  };
  Bytes file;
  std::vector<Rank> ranks;
  std::int64_t shared = 0;

  [[nodiscard]] std::vector<std::int64_t> offsets(int rank, std::int64_t at,
                                                  std::int64_t byte_count) const {
    const View& view = ranks[static_cast<std::size_t>(rank)].view;
    return offsets_of(view.map, at * view.etype_size, byte_count);
  }
  void write(int rank, std::int64_t at, const Buffer& buffer) {
    const auto in_file = offsets(rank, at, buffer.byte_count);
    const auto in_memory = buffer.offsets();
    for (std::size_t i = 0; i < in_file.size(); ++i) {
      const auto offset = static_cast<std::size_t>(in_file[i]);
      if (offset >= file.size()) file.resize(offset + 1);
      file[offset] = buffer.bytes[static_cast<std::size_t>(in_memory[i])];
    }
  }
  /// Reads into `buffer`. Returns the number of bytes before the end of the file.
  std::int64_t read(int rank, std::int64_t at, Buffer& buffer) const {
    const auto in_file = offsets(rank, at, buffer.byte_count);
    const auto in_memory = buffer.offsets();
    std::size_t i = 0;
    for (; i < in_file.size() && in_file[i] < std::ssize(file); ++i) {
      buffer.bytes[static_cast<std::size_t>(in_memory[i])] =
          file[static_cast<std::size_t>(in_file[i])];
    }
    return static_cast<std::int64_t>(i);
  }
  [[nodiscard]] std::int64_t end(int rank) const {
    const Rank& own = ranks[static_cast<std::size_t>(rank)];
    std::int64_t bytes = 0;
    while (plan::offset_of(own.view.map, bytes) < std::ssize(file)) ++bytes;
    return (bytes + own.view.etype_size - 1) / own.view.etype_size;
  }
};

View random_view(Random& random) {
  View view;
  view.map = {collective::fixtures::random_monotone_type(random), pick(random, 0, 100)};
  for (const std::int64_t size : {8, 4, 2}) {
    if (view.map.type.size() % size == 0 && pick(random, 0, 1) == 0) {
      view.etype_size = size;
      break;
    }
  }
  return view;
}

Buffer random_buffer(Random& random, std::int64_t etype_size) {
  Buffer buffer;
  buffer.type = pick(random, 0, 1) == 0 ? plan::TypeMap::bytes(1)
                                        : collective::fixtures::random_memory_type(random);
  buffer.byte_count = pick(random, 0, 4) == 0 ? 0 : pick(random, 1, 60) * etype_size;
  const auto offsets = buffer.offsets();
  const auto last = std::ranges::max_element(offsets);
  buffer.bytes = random_bytes(random, last == offsets.end() ? 1 : *last + 1);
  return buffer;
}

/// A running random program.
class Program {
 public:
  Program(Random& random, int rank_count) : random_(random), world_(rank_count, random()) {
    oracle_.file = random_bytes(random_, pick(random_, 0, 2'000));
    oracle_.ranks.resize(static_cast<std::size_t>(rank_count));
    collective::fixtures::create_file(world_.store(), "f", oracle_.file);
    world_.must_open(read_write, random_hints());
  }

  void step() {
    using Step = void (Program::*)();
    constexpr std::array<Step, 9> steps{
        &Program::set_views,  &Program::independent, &Program::independent,
        &Program::collective, &Program::collective,  &Program::ordered,
        &Program::seek,       &Program::seek_shared, &Program::change_file};
    (this->*steps[static_cast<std::size_t>(pick(random_, 0, 8))])();
    check_state();
  }

  void close() { CHECK_FALSE(agreed(world_.close())); }

 private:
  [[nodiscard]] int ranks() const { return world_.size(); }
  Oracle::Rank& rank(int number) { return oracle_.ranks[static_cast<std::size_t>(number)]; }

  std::string random_algorithm() {
    const std::span rows = plan::algorithm_table();
    const auto row = static_cast<std::size_t>(pick(random_, 0, std::ssize(rows)));
    return row == 0 ? "automatic" : std::string(rows[row - 1]->name);
  }

  InfoPairs random_hints() {
    const std::vector<std::string> counts{"automatic", "2", "3", "8"};
    InfoPairs hints{{"nacre_cycle_buffers", counts[static_cast<std::size_t>(pick(random_, 0, 3))]},
                    {"nacre_io_threads", counts[static_cast<std::size_t>(pick(random_, 0, 3))]},
                    {"nacre_algorithm", random_algorithm()},
                    {"cb_buffer_size", std::to_string(pick(random_, 1, 500))},
                    {"ind_rd_buffer_size", std::to_string(pick(random_, 1, 9'000))},
                    {"nacre_sole_writer", pick(random_, 0, 1) == 0 ? "true" : "false"}};
    if (pick(random_, 0, 1) == 0) {
      hints.emplace_back("cb_nodes", std::to_string(pick(random_, 1, ranks() + 1)));
    }
    return hints;
  }

  void set_views() {
    const InfoPairs hints = pick(random_, 0, 2) == 0 ? random_hints() : InfoPairs();
    // Calls by the shared pointer need the same view on all ranks.
    same_view_ = pick(random_, 0, 1) == 0;
    const View common = random_view(random_);
    for (int r = 0; r < ranks(); ++r) rank(r) = {same_view_ ? common : random_view(random_), 0};
    oracle_.shared = 0;
    world_.must(
        [&](OpenFile& file, int r) { return file.set_view(rank(r).view, hints, std::nullopt); });
  }

  void independent() {
    const int r = static_cast<int>(pick(random_, 0, ranks() - 1));
    const auto position = static_cast<Position>(pick(random_, 0, same_view_ ? 2 : 1));
    Buffer buffer = random_buffer(random_, rank(r).view.etype_size);
    const std::int64_t etypes = buffer.byte_count / rank(r).view.etype_size;
    std::int64_t at = pick(random_, 0, 200);
    if (position == Position::individual) at = rank(r).position;
    if (position == Position::shared) at = oracle_.shared;
    const auto direction = static_cast<Direction>(pick(random_, 0, 1));
    const Access access{direction, position, at, buffer.memory(), nullptr};

    Buffer expected = buffer;
    std::int64_t bytes = buffer.byte_count;
    if (direction == Direction::write) {
      oracle_.write(r, at, buffer);
    } else {
      bytes = oracle_.read(r, at, expected);
    }
    if (position == Position::individual) {
      const std::int64_t size = rank(r).view.etype_size;
      rank(r).position += (bytes + size - 1) / size;
    }
    if (position == Position::shared) oracle_.shared += etypes;

    const Outcome outcome = world_.file(r).transfer(access);
    CHECK_FALSE(outcome.error.has_value());
    CHECK(outcome.bytes == bytes);
    CHECK(buffer.bytes == expected.bytes);
  }

  void collective() {
    const auto position = static_cast<Position>(pick(random_, 0, 1));
    std::vector<std::int64_t> at;
    for (int r = 0; r < ranks(); ++r) {
      at.push_back(position == Position::individual ? rank(r).position : pick(random_, 0, 200));
    }
    const std::vector<Buffer> buffers = random_buffers();
    run_collective(position, at, buffers);
    if (position == Position::explicit_offset) return;
    for (int r = 0; r < ranks(); ++r) {
      rank(r).position += buffers[static_cast<std::size_t>(r)].byte_count / rank(r).view.etype_size;
    }
  }

  void ordered() {
    if (!same_view_) return;
    std::vector<std::int64_t> at;
    const std::vector<Buffer> buffers = random_buffers();
    for (const Buffer& buffer : buffers) {
      at.push_back(oracle_.shared);
      oracle_.shared += buffer.byte_count / rank(0).view.etype_size;
    }
    run_collective(Position::ordered, at, buffers);
  }

  std::vector<Buffer> random_buffers() {
    std::vector<Buffer> buffers;
    for (int r = 0; r < ranks(); ++r) {
      buffers.push_back(random_buffer(random_, rank(r).view.etype_size));
    }
    return buffers;
  }

  void run_collective(Position position, const std::vector<std::int64_t>& at,
                      std::vector<Buffer> buffers) {
    const auto direction = static_cast<Direction>(pick(random_, 0, 1));
    std::vector<Buffer> expected = buffers;
    std::vector<std::int64_t> bytes;
    for (int r = 0; r < ranks(); ++r) {
      const auto index = static_cast<std::size_t>(r);
      if (direction == Direction::read) {
        bytes.push_back(oracle_.read(r, at[index], expected[index]));
      } else {
        bytes.push_back(buffers[index].byte_count);
      }
    }
    const std::vector<Outcome> outcomes = world_.run<Outcome>([&](OpenFile& file, int r) {
      const auto index = static_cast<std::size_t>(r);
      const Access access{direction, position, at[index], buffers[index].memory(), nullptr};
      return file.transfer_all(access, std::nullopt);
    });
    CHECK_FALSE(agreed(outcomes));
    for (std::size_t index = 0; index < outcomes.size(); ++index) {
      CAPTURE(index);
      CHECK(outcomes[index].bytes == bytes[index]);
      CHECK(buffers[index].bytes == expected[index].bytes);
    }
    if (direction == Direction::write) take_collective_write(at, buffers);
  }

  /// If ranks overlap, the byte of any of them is right.
  void take_collective_write(const std::vector<std::int64_t>& at,
                             const std::vector<Buffer>& buffers) {
    const Bytes found = *world_.store().contents("f");
    std::map<std::int64_t, bool> right;
    for (int r = 0; r < ranks(); ++r) {
      const Buffer& buffer = buffers[static_cast<std::size_t>(r)];
      oracle_.write(r, at[static_cast<std::size_t>(r)], buffer);
      const auto in_file = oracle_.offsets(r, at[static_cast<std::size_t>(r)], buffer.byte_count);
      const auto in_memory = buffer.offsets();
      for (std::size_t i = 0; i < in_file.size() && in_file[i] < std::ssize(found); ++i) {
        const std::byte written = buffer.bytes[static_cast<std::size_t>(in_memory[i])];
        right[in_file[i]] |= found[static_cast<std::size_t>(in_file[i])] == written;
      }
    }
    for (const auto& [offset, is_right] : right) {
      if (!is_right) FAIL("byte ", offset, " is none of those that were written there");
      oracle_.file[static_cast<std::size_t>(offset)] = found[static_cast<std::size_t>(offset)];
    }
  }

  void seek() {
    const int r = static_cast<int>(pick(random_, 0, ranks() - 1));
    const auto whence = static_cast<Whence>(pick(random_, 0, 2));
    const std::int64_t offset = pick(random_, -60, 60);
    std::int64_t target = offset;
    if (whence == Whence::current) target += rank(r).position;
    if (whence == Whence::end) target += oracle_.end(r);
    CHECK(world_.file(r).seek(offset, whence).ok() == (target >= 0));
    if (target >= 0) rank(r).position = target;
  }

  void seek_shared() {
    if (!same_view_) return;
    const auto whence = static_cast<Whence>(pick(random_, 0, 2));
    const std::int64_t offset = pick(random_, -60, 60);
    std::int64_t target = offset;
    if (whence == Whence::current) target += oracle_.shared;
    if (whence == Whence::end) target += oracle_.end(0);
    const auto outcome = agreed(world_.run<Status>(
        [&](OpenFile& file, int) { return file.seek_shared(offset, whence, std::nullopt); }));
    CHECK(outcome.has_value() == (target < 0));
    if (target >= 0) oracle_.shared = target;
  }

  /// Changes the size, the atomicity or the hints of the file.
  void change_file() {
    switch (pick(random_, 0, 3)) {
      case 0: {
        const std::int64_t size = pick(random_, 0, 3'000);
        oracle_.file.resize(static_cast<std::size_t>(size));
        world_.must([&](OpenFile& file, int) { return file.resize(size); });
        break;
      }
      case 1: {
        const std::int64_t size = pick(random_, 0, 3'000);
        oracle_.file.resize(std::max(oracle_.file.size(), static_cast<std::size_t>(size)));
        world_.must([&](OpenFile& file, int) { return file.preallocate(size); });
        break;
      }
      case 2: {
        const bool atomic = pick(random_, 0, 2) == 0;
        world_.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
        break;
      }
      default: {
        const InfoPairs hints = random_hints();
        world_.must([&](OpenFile& file, int) { return file.update_hints(hints); });
      }
    }
  }

  void check_state() {
    const Bytes found = *world_.store().contents("f");
    if (found != oracle_.file) FAIL("the file is not what it is to be");
    for (int r = 0; r < ranks(); ++r) {
      CHECK(world_.file(r).position().value() == rank(r).position);
      CHECK(world_.file(r).position_shared().value() == oracle_.shared);
    }
  }

  Random& random_;
  World world_;
  Oracle oracle_;
  bool same_view_ = true;
};

}  // namespace

TEST_CASE("random programs agree with the serial oracle") {
  const std::uint64_t seed = 14'041;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 600; ++repeat) {
    CAPTURE(repeat);
    Program program(random, static_cast<int>(pick(random, 1, 9)));
    for (int step = 0; step < 25; ++step) {
      CAPTURE(step);
      program.step();
    }
    program.close();
  }
}

}  // namespace nacre::file
