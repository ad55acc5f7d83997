// Data access: each kind of position, statuses at the end of the file, the accesses that hold
// locks, and data conversion.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "file/open_file.h"
#include "world.h"

namespace nacre::file {
namespace {

using namespace fixtures;
using plan::Direction;

void set_view(World& world, const View& view) {
  world.must([&](OpenFile& file, int) { return file.set_view(view, {}, std::nullopt); });
}

Outcome read_some(World& world, int rank, std::string& text, Position position,
                  std::int64_t offset = 0) {
  return world.file(rank).transfer(reading(text, position, offset));
}

std::vector<Outcome> transfer_all(World& world, std::vector<std::string>& texts,
                                  Direction direction, Position position,
                                  const std::vector<std::int64_t>& offsets = {}) {
  return world.run<Outcome>([&](OpenFile& file, int rank) {
    const auto index = static_cast<std::size_t>(rank);
    return file.transfer_all(
        access_to(texts[index], direction, position, offsets.empty() ? 0 : offsets[index]),
        std::nullopt);
  });
}

/// A data representation that stores every byte of memory twice. A basic element is one byte; an
/// element of the memory type has 3 bytes. Converting a '!' fails in both directions.
class DoublingConverter final : public Converter {
 public:
  Result<std::int64_t> file_bytes(std::int64_t native_bytes) override { return 2 * native_bytes; }

  Status to_file(const plan::MemoryAccess& memory, std::span<std::byte> file) override {
    calls.fetch_add(1);
    std::vector<std::byte> packed(static_cast<std::size_t>(memory.byte_count));
    plan::pack(memory, 0, packed);
    largest = std::max(largest.load(), std::ssize(file));
    for (std::size_t i = 0; i < packed.size(); ++i) file[2 * i] = file[2 * i + 1] = packed[i];
    return check(packed);
  }
  plan::StreamPart whole_part(std::int64_t file_bytes) override {
    return {file_bytes / 2, file_bytes / 2 * 2, file_bytes / 2};
  }
  Status from_file(const plan::MemoryAccess& memory, std::span<const std::byte> file) override {
    calls.fetch_add(1);
    std::vector<std::byte> packed(file.size() / 2);
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = file[2 * i];
    plan::unpack(memory, 0, packed);
    return check(packed);
  }

  std::atomic<int> calls = 0;
  std::atomic<std::ptrdiff_t> largest = 0;

 private:
  static Status check(const std::vector<std::byte>& bytes) {
    if (std::ranges::find(bytes, std::byte{'!'}) == bytes.end()) return {};
    return Error{ErrorClass::conversion, 0, "a '!' does not convert"};
  }
};

Access converted(std::string& text, Direction direction, Position position,
                 std::shared_ptr<Converter> converter) {
  Access access = access_to(text, direction, position);
  access.memory.type = plan::TypeMap::bytes(3);
  access.converter = std::move(converter);
  return access;
}

std::string doubled(const std::string& text) {
  std::string out;
  for (const char c : text) out.append(2, c);
  return out;
}

/// A view with a data representation that converts.
View converting_view() {
  View view;
  view.etype_size = 2;
  view.map.type = plan::TypeMap::bytes(2);
  view.representation = "doubled";
  return view;
}

}  // namespace

TEST_CASE("each rank has its individual pointer, which moves by the requested amount") {
  World world(2, "0123456789");
  world.must_open(read_write);
  std::string text(3, '?');
  CHECK(read_some(world, 0, text, Position::individual).bytes == 3);
  CHECK(text == "012");
  CHECK(read_some(world, 0, text, Position::individual).bytes == 3);
  CHECK(text == "345");
  CHECK(read_some(world, 1, text, Position::individual).bytes == 3);
  CHECK(text == "012");
  CHECK(world.file(0).position().value() == 6);
  CHECK(read_some(world, 0, text, Position::explicit_offset, 1).bytes == 3);
  CHECK(world.file(0).position().value() == 6);
}

TEST_CASE(
    "an independent read that reaches the end of the file leaves the individual pointer there") {
  World world(1, "0123456789");
  world.must_open(read_write);
  std::string text(20, '?');
  REQUIRE(world.file(0).seek(6, Whence::set).ok());
  CHECK(read_some(world, 0, text, Position::individual).bytes == 4);
  CHECK(text == "6789" + std::string(16, '?'));
  CHECK(world.file(0).position().value() == 10);
  CHECK(read_some(world, 0, text, Position::individual).bytes == 0);
  CHECK(world.file(0).position().value() == 10);
  REQUIRE(world.file(0).seek(100, Whence::set).ok());
  CHECK(read_some(world, 0, text, Position::individual).bytes == 0);
  CHECK(world.file(0).position().value() == 100);
}

TEST_CASE("collective and shared reads move their pointers by the requested amount") {
  World world(2, "0123456789");
  world.must_open(read_write);
  std::vector<std::string> texts{std::string(20, '?'), std::string(20, '?')};
  const auto outcomes = transfer_all(world, texts, Direction::read, Position::individual);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(outcomes[static_cast<std::size_t>(rank)].bytes == 10);
    CHECK(world.file(rank).position().value() == 20);
  }
  std::string text(7, '?');
  CHECK(read_some(world, 1, text, Position::shared).bytes == 7);
  CHECK(read_some(world, 0, text, Position::shared).bytes == 3);
  CHECK(world.file(1).position_shared().value() == 14);
}

TEST_CASE("a pointer points after the etype in which the file ends") {
  World world(1, "0123456789");
  world.must_open(read_write);
  View view;
  view.etype_size = 4;
  view.map.type = plan::TypeMap::bytes(4);
  set_view(world, view);
  std::string text(16, '?');
  CHECK(read_some(world, 0, text, Position::individual).bytes == 10);
  CHECK(world.file(0).position().value() == 3);
}

TEST_CASE("independent accesses go through the view, also from memory with gaps") {
  World world(1, std::string(24, '.'));
  world.must_open(read_write);
  set_view(world, view_of({2, 1}, {0, 4}, 8, 1));
  std::string text = "a-b-c-d-e-f-";
  Access access = writing(text, Position::individual);
  access.memory = {access.memory.base, plan::TypeMap::bytes(1).resized(0, 2).value(), 6};
  CHECK(world.file(0).transfer(access).bytes == 6);
  CHECK(world.text() == ".ab..c...de..f..........");
  CHECK(world.file(0).position().value() == 6);
}

TEST_CASE("a view whose copies overlap is written and read inside one copy") {
  World world(2, std::string(12, '.'));
  world.must_open(read_write, {{"nacre_algorithm", "two_phase"}});
  set_view(world, view_of({2, 2}, {0, 4}, 2, 1));
  std::vector<std::string> texts{"abcd", "ef"};
  CHECK_FALSE(
      agreed(transfer_all(world, texts, Direction::write, Position::explicit_offset, {0, 12})));
  CHECK(world.text() == ".ab..cdef...");
  std::string text(4, '?');
  CHECK(read_some(world, 0, text, Position::explicit_offset, 4).bytes == 4);
  CHECK(text == "..ef");
  REQUIRE(world.file(0).seek(20, Whence::set).ok());  // copy 5, in which the file ends
  CHECK(read_some(world, 0, text, Position::individual).bytes == 1);
  CHECK(world.file(0).position().value() == 21);
}

TEST_CASE("accesses without data change neither file nor memory") {
  World world(2, "0123456789");
  world.must_open(read_write);
  std::string none;
  for (const Position position :
       {Position::explicit_offset, Position::individual, Position::shared}) {
    const Outcome outcome = read_some(world, 1, none, position);
    CHECK(outcome.bytes == 0);
    CHECK_FALSE(outcome.error.has_value());
  }
  std::vector<std::string> texts(2);
  CHECK_FALSE(agreed(transfer_all(world, texts, Direction::write, Position::ordered)));
  CHECK(world.watch(1).opens == 0);
  CHECK(world.store().counter_count() == 0);
}

TEST_CASE("an access of a part of an etype is an error") {
  World world(2, "0123456789");
  world.must_open(read_write);
  View view;
  view.etype_size = 4;
  view.map.type = plan::TypeMap::bytes(4);
  set_view(world, view);
  std::string text(6, '?');
  CHECK(read_some(world, 0, text, Position::shared).error->error_class == ErrorClass::io);
  CHECK(world.file(0).position_shared().value() == 0);
  std::vector<std::string> texts{"abcd", "abcdef"};
  CHECK(agreed(transfer_all(world, texts, Direction::write, Position::ordered)) == ErrorClass::io);
  CHECK(world.text() == "0123456789");
}

TEST_CASE("records that all ranks write concurrently by the shared pointer are in the file once") {
  constexpr int ranks = 4;
  constexpr int records = 50;
  World world(ranks);
  world.must_open(read_write);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&world, rank] {
      for (int i = 0; i < records; ++i) {
        std::string record(5, static_cast<char>('a' + rank));
        CHECK(world.file(rank).transfer(writing(record, Position::shared)).bytes == 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = world.text();
  REQUIRE(text.size() == ranks * records * 5);
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(std::ranges::count(text, static_cast<char>('a' + rank)) == records * 5);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != text[i - i % 5]) FAIL("a torn record at ", i);
  }
}

TEST_CASE("ordered accesses are in rank order, from the shared pointer on") {
  for (const bool atomic : {false, true}) {
    World world(5);
    world.must_open(read_write);
    world.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
    std::string head = "head";
    CHECK(world.file(3).transfer(writing(head, Position::shared)).bytes == 4);
    std::vector<std::string> texts{"a", "", "ccc", "dd", "e"};
    CHECK_FALSE(agreed(transfer_all(world, texts, Direction::write, Position::ordered)));
    CHECK_FALSE(agreed(transfer_all(world, texts, Direction::write, Position::ordered)));
    CHECK(world.text() == "headacccddeacccdde");
    const auto locks = [&](int rank, bool collective) {
      return world.file(rank).profile().of(Direction::write, collective).locks.get();
    };
    CHECK(locks(3, false) == (atomic ? 2 : 1));
    CHECK(locks(0, true) == (atomic ? 4 : 2));
    CHECK(locks(1, true) == 0);  // it has no bytes
    CHECK(locks(2, true) == (atomic ? 2 : 0));
    CHECK(world.file(2).position_shared().value() == 18);
    world.must([](OpenFile& file, int) { return file.seek_shared(4, Whence::set, std::nullopt); });
    std::vector<std::string> back{"?", "??", "??", "", "????????????"};
    const auto outcomes = transfer_all(world, back, Direction::read, Position::ordered);
    CHECK(back == std::vector<std::string>{"a", "cc", "cd", "", "deacccdde???"});
    CHECK(outcomes[4].bytes == 9);
    CHECK(world.file(0).position_shared().value() == 21);
  }
}

TEST_CASE("an ordered write whose shared pointer fails writes nothing, also in atomic mode") {
  for (const bool atomic : {false, true}) {
    // A rank moves large data directly, without an exchange with other ranks.
    for (const std::size_t bytes : {2, 100'000}) {
      World world(3, "0123456789");
      world.fail(0, "counter=1,errno=EIO");
      world.must_open(read_write);
      world.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
      std::vector<std::string> texts(3, std::string(bytes, 'x'));
      CHECK(agreed(transfer_all(world, texts, Direction::write, Position::ordered)) ==
            ErrorClass::io);
      CHECK(world.text() == "0123456789");
    }
  }
}

TEST_CASE("atomic accesses hold a lock: exclusive for writes, shared for reads") {
  World world(2, "0123456789");
  world.must_open(read_write);
  std::string text = "xx";
  CHECK(world.file(1).transfer(writing(text, Position::explicit_offset)).bytes == 2);
  CHECK(world.watch(1).exclusive_locks == 0);
  world.must([](OpenFile& file, int) { return file.set_atomicity(true); });
  CHECK(world.file(1).transfer(writing(text, Position::explicit_offset)).bytes == 2);
  CHECK(world.file(1).transfer(reading(text, Position::explicit_offset)).bytes == 2);
  CHECK(world.watch(1).exclusive_locks == 1);
  CHECK(world.watch(1).shared_locks == 1);
  std::vector<std::string> texts{"ab", "cd"};
  CHECK_FALSE(
      agreed(transfer_all(world, texts, Direction::write, Position::explicit_offset, {0, 4})));
  CHECK(world.watch(0).exclusive_locks == 1);
  CHECK(world.watch(1).exclusive_locks == 2);
  CHECK(world.text() == "ab23cd6789");
}

TEST_CASE("collective reads ask for the size once, and again if the file may be shorter") {
  World world(4, std::string(4000, 'a'));
  world.must_open(read_write, {{"nacre_algorithm", "two_phase"}});
  const std::atomic<int>& sizes = world.watch(0).sizes;
  const auto read_step = [&](std::int64_t step) {
    std::vector<std::string> texts(4, std::string(100, '-'));
    std::vector<std::int64_t> offsets;
    for (std::int64_t rank = 0; rank < 4; ++rank) offsets.push_back(step * 400 + rank * 100);
    const auto outcomes =
        transfer_all(world, texts, Direction::read, Position::explicit_offset, offsets);
    std::int64_t bytes = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const auto got = static_cast<std::size_t>(outcomes[rank].bytes);
      CHECK(texts[rank] == std::string(got, 'a') + std::string(100 - got, '-'));
      bytes += outcomes[rank].bytes;
    }
    return bytes;
  };
  for (std::int64_t step = 0; step < 8; ++step) CHECK(read_step(step) == 400);
  CHECK(sizes == 1);
  world.must([](OpenFile& file, int) { return file.resize(3900); });
  CHECK(read_step(9) == 300);
  CHECK(sizes == 2);
  CHECK(read_step(0) == 400);
  CHECK(sizes == 2);
  const auto other = world.store().open("f", {.write = true});
  REQUIRE(other.ok());
  REQUIRE((*other)->resize(450).ok());
  world.must([](OpenFile& file, int) { return file.sync(); });
  CHECK(read_step(1) == 50);
  CHECK(sizes == 3);
  CHECK(read_step(2) == 0);
  CHECK(sizes == 4);
}

TEST_CASE("readers never see a part of an atomic write of several ranks and threads") {
  constexpr int ranks = 2;
  constexpr std::int64_t pieces = 40;
  World world(ranks, std::string(2 * pieces, 'a'));
  world.must_open(read_write);
  set_view(world, view_of({1}, {0}, 2));
  world.must([](OpenFile& file, int) { return file.set_atomicity(true); });
  std::atomic<int> torn = 0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Direction direction : {Direction::write, Direction::read}) {
      threads.emplace_back([=, &world, &torn] {
        for (int i = 0; i < 60; ++i) {
          std::string text(pieces, static_cast<char>('a' + i % 26));
          const Outcome outcome =
              world.file(rank).transfer(access_to(text, direction, Position::explicit_offset));
          CHECK(outcome.bytes == pieces);
          if (text != std::string(pieces, text[0])) ++torn;
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == 0);
}

TEST_CASE("with incoherent clients every access holds a lock, unless nacre_coherence is trusted") {
  enum class Clients { agree, disagree, are_one };
  for (const char* coherence : {"automatic", "trusted", "locked"}) {
    for (const Clients clients : {Clients::agree, Clients::disagree, Clients::are_one}) {
      CAPTURE(coherence);
      CAPTURE(static_cast<int>(clients));
      World world(2, "0123456789");
      if (clients != Clients::are_one) world.spread_over_nodes();
      for (int rank = 0; rank < 2; ++rank) world.watch(rank).coherent = clients == Clients::agree;
      world.must_open(read_write, {{"nacre_coherence", coherence}});
      std::string text = "xx";
      CHECK(world.file(1).transfer(writing(text, Position::individual)).bytes == 2);
      std::vector<std::string> texts{"ab", "cd"};
      CHECK_FALSE(
          agreed(transfer_all(world, texts, Direction::write, Position::explicit_offset, {4, 6})));
      const bool locked = coherence == std::string("locked") ||
                          (coherence == std::string("automatic") && clients == Clients::disagree);
      CHECK(world.watch(1).exclusive_locks == (locked ? 2 : 0));
      CHECK(world.text() == "xx23abcd89");
    }
  }
}

TEST_CASE("a lock that fails on one rank fails an atomic collective call on all ranks") {
  World world(3, "0123456789");
  world.fail(2, "lock=1,errno=EACCES");
  world.must_open(read_write);
  world.must([](OpenFile& file, int) { return file.set_atomicity(true); });
  std::vector<std::string> texts{"a", "b", "c"};
  CHECK(agreed(transfer_all(world, texts, Direction::write, Position::explicit_offset,
                            {0, 1, 2})) == ErrorClass::access);
}

TEST_CASE("write sieving needs a sole writer and holds a lock") {
  for (const bool promised : {false, true}) {
    World world(1, std::string(4000, '.'));
    world.must_open(read_write, {{"nacre_sole_writer", promised ? "true" : "false"}});
    set_view(world, view_of({1}, {0}, 2));
    const std::int64_t writes_before = world.store().counts().writes;
    std::string text(2000, 'x');
    CHECK(world.file(0).transfer(writing(text, Position::individual)).bytes == 2000);
    const std::int64_t writes = world.store().counts().writes - writes_before;
    CHECK((promised ? writes < 10 : writes == 2000));
    CHECK((world.watch(0).exclusive_locks > 0) == promised);
    const std::string found = world.text();
    CHECK(std::ranges::count(found, 'x') == 2000);
    CHECK(std::ranges::count(found, '.') == 2000);
  }
}

TEST_CASE("a sole writer without read permission writes piece by piece") {
  World world(1, std::string(100, '.'));
  world.must_open(write_only, {{"nacre_sole_writer", "true"}});
  set_view(world, view_of({1}, {0}, 2));
  std::string text(50, 'x');
  CHECK(world.file(0).transfer(writing(text, Position::individual)).bytes == 50);
  CHECK(world.text().substr(0, 6) == "x.x.x.");
}

TEST_CASE("threads that write interleaved bytes lose none, also with sieving") {
  World world(1, std::string(2000, '.'));
  world.must_open(read_write, {{"nacre_sole_writer", "true"}, {"ind_wr_buffer_size", "4096"}});
  set_view(world, view_of({1}, {0}, 2));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&world, thread] {
      for (int i = 0; i < 25; ++i) {
        std::string text(10, static_cast<char>('a' + thread));
        CHECK(world.file(0).transfer(writing(text, Position::individual)).bytes == 10);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = world.text();
  for (int thread = 0; thread < 4; ++thread) {
    CHECK(std::ranges::count(text, static_cast<char>('a' + thread)) == 250);
  }
  CHECK(world.file(0).position().value() == 1000);
}

TEST_CASE("threads of one rank share its individual pointer and access different places") {
  World world(1);
  world.must_open(read_write);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&world, thread] {
      for (int i = 0; i < 50; ++i) {
        std::string text(3, static_cast<char>('a' + thread));
        CHECK(world.file(0).transfer(writing(text, Position::individual)).bytes == 3);
        static_cast<void>(world.file(0).hints());
        CHECK(world.file(0).seek(0, Whence::current).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(world.file(0).position().value() == 600);
  CHECK(std::ranges::count(world.text(), '.') == 0);
}

TEST_CASE("converted data goes through a buffer of bounded size, in whole elements") {
  World world(1);
  world.must_open(read_write, {{"ind_wr_buffer_size", "20"}, {"ind_rd_buffer_size", "13"}});
  set_view(world, converting_view());
  auto converter = std::make_shared<DoublingConverter>();
  std::string text = "abcdefghijklmnopqrstu";
  OpenFile& file = world.file(0);
  Outcome outcome =
      file.transfer(converted(text, Direction::write, Position::individual, converter));
  CHECK(outcome.bytes == 21);
  CHECK(world.text() == doubled(text));
  CHECK(file.position().value() == 21);
  CHECK(converter->calls == 3);
  CHECK(converter->largest == 18);
  std::string back(21, '?');
  REQUIRE(file.seek(0, Whence::set).ok());
  outcome = file.transfer(converted(back, Direction::read, Position::individual, converter));
  CHECK(outcome.bytes == 21);
  CHECK(back == text);
}

TEST_CASE("an element larger than the conversion buffer is converted") {
  World world(1);
  world.must_open(read_write, {{"ind_wr_buffer_size", "1"}});
  set_view(world, converting_view());
  std::string text = "abcdef";
  CHECK(world.file(0)
            .transfer(converted(text, Direction::write, Position::individual,
                                std::make_shared<DoublingConverter>()))
            .bytes == 6);
  CHECK(world.text() == "aabbccddeeff");
}

TEST_CASE("a converted read ends with the last whole basic element before the end of the file") {
  for (const bool atomic : {false, true}) {
    CAPTURE(atomic);
    // Two elements of the memory type, two thirds of one, and half a basic element.
    World world(2, doubled("abcdefgh") + "i");
    world.must_open(read_write, {{"ind_rd_buffer_size", "7"}});
    set_view(world, converting_view());
    world.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
    auto converter = std::make_shared<DoublingConverter>();
    std::string text(12, '?');
    const Outcome alone =
        world.file(0).transfer(converted(text, Direction::read, Position::individual, converter));
    CHECK(alone.bytes == 8);
    CHECK(text == "abcdefgh????");
    CHECK(world.file(0).position().value() == 8);
    std::vector<std::string> texts(2, std::string(12, '?'));
    const auto outcomes = world.run<Outcome>([&](OpenFile& file, int rank) {
      return file.transfer_all(converted(texts[static_cast<std::size_t>(rank)], Direction::read,
                                         Position::explicit_offset, converter),
                               std::nullopt);
    });
    CHECK_FALSE(agreed(outcomes));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      CHECK(outcomes[rank].bytes == 8);
      CHECK(texts[rank] == "abcdefgh????");
    }
  }
}

TEST_CASE("after a converted read that ends inside an etype the pointer is at the next etype") {
  World world(1, doubled("abcdefgh"));
  world.must_open(read_write);
  View view = converting_view();
  view.etype_size = 6;
  view.map.type = plan::TypeMap::bytes(6);
  set_view(world, view);
  std::string text(12, '?');
  CHECK(world.file(0)
            .transfer(converted(text, Direction::read, Position::individual,
                                std::make_shared<DoublingConverter>()))
            .bytes == 8);
  CHECK(world.file(0).position().value() == 3);
}

TEST_CASE("the status of a failed write counts whole basic elements") {
  World world(1);
  world.fail(0, "after=9,errno=ENOSPC");
  world.must_open(read_write);
  set_view(world, converting_view());
  std::string text = "abcdef";
  const Outcome outcome = world.file(0).transfer(converted(
      text, Direction::write, Position::individual, std::make_shared<DoublingConverter>()));
  REQUIRE(outcome.error.has_value());
  CHECK(outcome.bytes == 4);
}

TEST_CASE("a conversion error on one rank fails a collective write or read on all ranks") {
  for (const bool atomic : {false, true}) {
    World world(3, doubled("ab!..."));
    world.must_open(read_write);
    set_view(world, converting_view());
    world.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
    auto converter = std::make_shared<DoublingConverter>();
    std::vector<std::string> texts{"xyz", "x!z", "xyz"};
    const auto move = [&](Direction direction) {
      return agreed(world.run<Outcome>([&](OpenFile& file, int rank) {
        Access access = converted(texts[static_cast<std::size_t>(rank)], direction,
                                  Position::explicit_offset, converter);
        access.offset = rank == 1 ? 0 : 3;
        return file.transfer_all(access, std::nullopt);
      }));
    };
    CHECK(move(Direction::read) == ErrorClass::conversion);
    texts = {"xyz", "x!z", "xyz"};
    CHECK(move(Direction::write) == ErrorClass::conversion);
    CHECK(world.text().substr(0, 6) == "aabb!!");
  }
}

TEST_CASE("the status of a failed write says how much was written") {
  World world(1);
  world.fail(0, "after=5,errno=ENOSPC");
  world.must_open(read_write);
  std::string text = "0123456789";
  const Outcome outcome = world.file(0).transfer(writing(text, Position::individual));
  REQUIRE(outcome.error.has_value());
  CHECK(outcome.error->error_class == ErrorClass::no_space);
  CHECK(outcome.bytes == 5);
}

}  // namespace nacre::file
