// Pointers, views, size and consistency: seeks, arguments that must be equal on all ranks, and the
// state after an error.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "file/open_file.h"
#include "world.h"

namespace nacre::file {
namespace {

using namespace fixtures;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

void set_views(World& world, const View& view) {
  world.must([&](OpenFile& file, int) { return file.set_view(view, {}, std::nullopt); });
}

std::vector<Status> seek_shared(World& world, std::int64_t offset, Whence whence) {
  return world.run<Status>(
      [&](OpenFile& file, int) { return file.seek_shared(offset, whence, std::nullopt); });
}

ErrorClass class_of(const Status& status) {
  REQUIRE_FALSE(status.ok());
  return status.error().error_class;
}

void write_shared(World& world, int rank, std::string text) {
  REQUIRE_FALSE(world.file(rank).transfer(writing(text, Position::shared)).error.has_value());
}

}  // namespace

TEST_CASE("seeks are relative to the start, the pointer or the end, and fail before the start") {
  World world(1, "0123456789");
  world.must_open(read_write);
  OpenFile& file = world.file(0);
  CHECK(file.seek(4, Whence::set).ok());
  CHECK(file.position().value() == 4);
  CHECK(file.seek(3, Whence::current).ok());
  CHECK(file.seek(-2, Whence::current).ok());
  CHECK(file.position().value() == 5);
  CHECK(file.seek(-1, Whence::end).ok());
  CHECK(file.position().value() == 9);
  CHECK(file.seek(5, Whence::end).ok());
  CHECK(file.position().value() == 15);
  CHECK(class_of(file.seek(-1, Whence::set)) == ErrorClass::arg);
  CHECK(class_of(file.seek(-16, Whence::current)) == ErrorClass::arg);
  CHECK(class_of(file.seek(-11, Whence::end)) == ErrorClass::arg);
  CHECK(class_of(file.seek(huge, Whence::current)) == ErrorClass::arg);
  CHECK(file.position().value() == 15);
}

TEST_CASE("positions count etypes of the view, from 0 when it is set") {
  World world(2, std::string(100, 'x'));
  world.must_open(read_write);
  CHECK(world.file(0).seek(7, Whence::set).ok());
  write_shared(world, 1, "123");
  View view = view_of({4, 4}, {0, 8}, 20, 10);
  view.etype_size = 4;
  set_views(world, view);
  for (int rank = 0; rank < 2; ++rank) {
    OpenFile& file = world.file(rank);
    CHECK(file.position().value() == 0);
    CHECK(file.position_shared().value() == 0);
    CHECK(file.displacement() == 10);
    CHECK(file.byte_offset(3).value() == 38);
    CHECK(file.byte_offset(-1).error().error_class == ErrorClass::arg);
    CHECK(file.seek(0, Whence::end).ok());
    CHECK(file.position().value() ==
          10);  // 10, 18, 30, 38, 50, 58, 70, 78, 90; 98, cut by the end, counts too
  }
}

TEST_CASE("the end of a file that ends inside an etype is after that etype") {
  World world(1, std::string(99, 'x'));
  world.must_open(read_write);
  View view = view_of({4}, {0}, 4);
  view.etype_size = 4;
  set_views(world, view);
  CHECK(world.file(0).seek(0, Whence::end).ok());
  CHECK(world.file(0).position().value() == 25);
}

TEST_CASE("a view that is invalid on one rank is set on no rank") {
  World world(3, "0123456789");
  world.must_open(read_write);
  CHECK(world.file(1).seek(3, Whence::set).ok());
  const auto outcomes = world.run<Status>([](OpenFile& file, int rank) {
    return file.set_view(view_of({2}, {0}, 4, rank == 1 ? -1 : 0), {}, std::nullopt);
  });
  CHECK(agreed(outcomes) == ErrorClass::arg);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).byte_offset(5).value() == 5);
    CHECK(world.file(rank).position().value() == (rank == 1 ? 3 : 0));
  }
  const auto refused = world.run<Status>([](OpenFile& file, int rank) {
    std::optional<Error> refusal;
    if (rank == 2) refusal = Error{ErrorClass::unsupported_datarep, 0, "no such representation"};
    return file.set_view(View(), {}, std::move(refusal));
  });
  CHECK(agreed(refused) == ErrorClass::unsupported_datarep);
}

TEST_CASE("views that are valid for reading only are refused if the file is open for writing") {
  World writers(2, "0123456789");
  writers.must_open(read_write);
  const View overlapping = view_of({2, 2}, {6, 7}, 10);
  const auto sets = [](World& world, const View& view) {
    return agreed(world.run<Status>(
        [&](OpenFile& file, int) { return file.set_view(view, {}, std::nullopt); }));
  };
  CHECK(sets(writers, overlapping) == ErrorClass::arg);
  World readers(2, "0123456789");
  readers.must_open(read_only);
  CHECK(sets(readers, view_of({2, 2}, {6, 0}, 10)) == ErrorClass::arg);
  CHECK_FALSE(sets(readers, overlapping));
  std::string text(4, '?');
  CHECK(readers.file(1).transfer(reading(text, Position::individual)).bytes == 4);
  CHECK(text == "6778");
}

TEST_CASE("all ranks share one shared pointer, and a new view resets it") {
  World world(4);
  world.must_open(read_write);
  write_shared(world, 3, "abc");
  write_shared(world, 0, "de");
  for (int rank = 0; rank < 4; ++rank) CHECK(world.file(rank).position_shared().value() == 5);
  set_views(world, view_of({1}, {0}, 1, 3));
  for (int rank = 0; rank < 4; ++rank) CHECK(world.file(rank).position_shared().value() == 0);
  write_shared(world, 2, "XY");
  CHECK(world.text() == "abcXY");
  CHECK(world.file(1).shared_byte_offset().value() == 5);
}

TEST_CASE("a view with hints resets a shared pointer that rank 0 never used") {
  World world(2);
  world.must_open(read_write);
  write_shared(world, 1, "abc");
  world.must([](OpenFile& file, int) {
    return file.set_view(View(), {{"cb_nodes", "1"}}, std::nullopt);
  });
  CHECK(world.file(0).position_shared().value() == 0);
  CHECK(world.file(1).position_shared().value() == 0);
}

TEST_CASE("seek_shared moves the pointer of all ranks") {
  World world(3, "0123456789");
  world.must_open(read_write);
  CHECK_FALSE(agreed(seek_shared(world, 6, Whence::set)));
  CHECK(world.file(2).position_shared().value() == 6);
  CHECK(world.store().counter_count() == 0);
  write_shared(world, 1, "ab");
  CHECK_FALSE(agreed(seek_shared(world, -3, Whence::current)));
  CHECK(world.file(0).position_shared().value() == 5);
  CHECK_FALSE(agreed(seek_shared(world, -1, Whence::end)));
  write_shared(world, 2, "Z");
  CHECK(world.text() == "012345ab8Z");
  CHECK(agreed(seek_shared(world, -20, Whence::current)) == ErrorClass::arg);
  CHECK(world.file(1).position_shared().value() == 10);
}

TEST_CASE("seek_shared with different offsets is an error and does not move the pointer") {
  World world(3, "0123456789");
  world.must_open(read_write);
  CHECK_FALSE(agreed(seek_shared(world, 6, Whence::set)));
  auto outcomes = world.run<Status>([](OpenFile& file, int rank) {
    return file.seek_shared(rank == 2 ? 4 : 3, Whence::set, std::nullopt);
  });
  CHECK(agreed(outcomes) == ErrorClass::not_same);
  CHECK(outcomes[2].error().message ==
        "f: seek_shared with 4, but rank 0 passed 3; all ranks must pass the same");
  outcomes = world.run<Status>([](OpenFile& file, int rank) {
    return file.seek_shared(0, rank == 1 ? Whence::end : Whence::current, std::nullopt);
  });
  CHECK(agreed(outcomes) == ErrorClass::not_same);
  CHECK(world.file(1).position_shared().value() == 6);
}

TEST_CASE("a view of a sequential file may start at the shared pointer") {
  World world(3);
  AccessMode mode = write_only;
  mode.sequential = true;
  world.must_open(mode);
  View header = view_of({2}, {0}, 2, 1);
  header.etype_size = 2;
  set_views(world, header);
  write_shared(world, 1, "abcd");
  View body;
  body.at_shared_pointer = true;
  set_views(world, body);
  for (int rank = 0; rank < 3; ++rank) CHECK(world.file(rank).displacement() == 5);
  write_shared(world, 2, "ef");
  CHECK(world.text() == ".abcdef");
  set_views(world, body);
  CHECK(world.file(0).displacement() == 7);
}

TEST_CASE("only sequential files may have a view at the shared pointer") {
  World world(2);
  world.must_open(read_write);
  View view;
  view.at_shared_pointer = true;
  CHECK(agreed(world.run<Status>([&](OpenFile& file, int) {
          return file.set_view(view, {}, std::nullopt);
        })) == ErrorClass::arg);
}

TEST_CASE("a failing counter fails the view of a sequential file on all ranks") {
  World world(3);
  AccessMode mode = write_only;
  mode.sequential = true;
  world.fail(0, "counter=1,errno=EIO");
  world.must_open(mode);
  View view;
  view.at_shared_pointer = true;
  CHECK(agreed(world.run<Status>([&](OpenFile& file, int) {
          return file.set_view(view, {}, std::nullopt);
        })) == ErrorClass::io);
}

TEST_CASE("all ranks must pass the same size, 0 or larger") {
  World world(3, "0123456789");
  world.must_open(read_write);
  const auto resize = [&](std::vector<std::int64_t> sizes) {
    return agreed(world.run<Status>([&](OpenFile& file, int rank) {
      return file.resize(sizes[static_cast<std::size_t>(rank)]);
    }));
  };
  CHECK_FALSE(resize({4, 4, 4}));
  CHECK(world.text() == "0123");
  CHECK_FALSE(resize({6, 6, 6}));
  CHECK(world.text() == "0123..");
  CHECK(resize({2, 2, 3}) == ErrorClass::not_same);
  CHECK(resize({-1, -1, -1}) == ErrorClass::arg);
  CHECK(world.file(2).size().value() == 6);
  CHECK_FALSE(agreed(world.run<Status>([](OpenFile& file, int) { return file.preallocate(8); })));
  CHECK(world.text() == "0123....");
  CHECK_FALSE(agreed(world.run<Status>([](OpenFile& file, int) { return file.preallocate(2); })));
  CHECK(world.file(1).size().value() == 8);
}

TEST_CASE("a resize that fails on rank 0 fails on all") {
  World world(3, "0123456789");
  world.fail(0, "resize=1,errno=EFBIG;allocate=1,errno=ENOSPC");
  world.must_open(read_write);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.resize(3); })) ==
        ErrorClass::io);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.preallocate(30); })) ==
        ErrorClass::no_space);
}

TEST_CASE("only ranks that have written call sync; the other ranks do not open the file") {
  World world(4, "0123456789");
  world.must_open(read_write);
  world.must([](OpenFile& file, int) { return file.sync(); });
  CHECK(world.watch(0).syncs == 0);
  std::string text = "x";
  CHECK(world.file(2).transfer(writing(text, Position::explicit_offset)).bytes == 1);
  CHECK(world.file(3).transfer(reading(text, Position::explicit_offset)).bytes == 1);
  world.must([](OpenFile& file, int) { return file.sync(); });
  for (int rank = 0; rank < 4; ++rank) CHECK(world.watch(rank).syncs == (rank == 2 ? 1 : 0));
  CHECK(world.watch(1).opens == 0);
}

TEST_CASE("one rank of a node syncs what all its ranks have written") {
  for (const bool one_node : {true, false}) {
    World world(3, 1, one_node ? 3 : 1);
    world.must_open(read_write);
    std::string text = "x";
    for (const int rank : {1, 2}) {
      CHECK(world.file(rank).transfer(writing(text, Position::explicit_offset)).bytes == 1);
    }
    world.must([](OpenFile& file, int) { return file.sync(); });
    CHECK(world.watch(0).syncs == 0);
    CHECK(world.watch(1).syncs == 1);
    CHECK(world.watch(2).syncs == (one_node ? 0 : 1));
  }
}

TEST_CASE("after a collective write the aggregators call sync") {
  World world(4);
  world.must_open(read_write, {{"nacre_algorithm", "two_phase"}, {"cb_nodes", "1"}});
  std::string text = "abcd";
  world.run<Outcome>([&](OpenFile& file, int rank) {
    return file.transfer_all(writing(text, Position::explicit_offset, rank * 4), std::nullopt);
  });
  world.must([](OpenFile& file, int) { return file.sync(); });
  CHECK(world.watch(0).syncs == 1);
  for (int rank = 1; rank < 4; ++rank) CHECK(world.watch(rank).opens == 0);
}

TEST_CASE("a sync that fails on one rank fails on all") {
  World world(3);
  world.fail(1, "sync=1,errno=EIO");
  world.must_open(read_write);
  std::string text = "x";
  CHECK(world.file(1).transfer(writing(text, Position::explicit_offset)).bytes == 1);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.sync(); })) ==
        ErrorClass::io);
}

TEST_CASE("all ranks must set the same atomicity") {
  World world(3);
  world.must_open(read_write);
  CHECK_FALSE(world.file(1).atomicity());
  world.must([](OpenFile& file, int) { return file.set_atomicity(true); });
  CHECK(world.file(1).atomicity());
  CHECK(agreed(world.run<Status>([](OpenFile& file, int rank) {
          return file.set_atomicity(rank == 2);
        })) == ErrorClass::not_same);
  CHECK(world.file(1).atomicity());
}

TEST_CASE("atomic mode is refused by all ranks if the file system has no locks for it") {
  World world(3);
  world.must_open(read_write);
  world.watch(0).has_locks = false;
  world.must([](OpenFile& file, int) { return file.set_atomicity(false); });
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.set_atomicity(true); })) ==
        ErrorClass::unsupported_operation);
  CHECK_FALSE(world.file(1).atomicity());
  CHECK(world.watch(1).opens == 0);
  world.watch(0).has_locks = true;
  world.must([](OpenFile& file, int) { return file.set_atomicity(true); });
}

TEST_CASE("an access whose end exceeds 64 bits fails and does not move the pointer") {
  World world(1);
  world.must_open(read_write);
  OpenFile& file = world.file(0);
  REQUIRE(file.seek(huge - 2, Whence::set).ok());
  std::string text = "abcdef";
  const Outcome outcome = file.transfer(reading(text, Position::individual));
  REQUIRE(outcome.error.has_value());
  CHECK(outcome.error->error_class == ErrorClass::arg);
  CHECK(file.position().value() == huge - 2);
}

}  // namespace nacre::file
