// Opening and closing: access modes, the time at which each rank opens the file, errors that all
// ranks return, hints of an open file, and its report.
#include "file/open_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "child.h"
#include "store/system/text_file.h"
#include "temporary_directory.h"
#include "world.h"

namespace nacre::file {
namespace {

using namespace fixtures;
using collective::Task;
using plan::Direction;

/// All ranks write or read `bytes` bytes at offset begin + rank * bytes.
std::vector<Outcome> move_all(World& world, Direction direction, std::int64_t bytes,
                              std::int64_t begin = 0) {
  std::vector<std::string> buffers;
  for (int rank = 0; rank < world.size(); ++rank) {
    buffers.emplace_back(static_cast<std::size_t>(bytes), static_cast<char>('a' + rank));
  }
  return world.run<Outcome>([&](OpenFile& file, int rank) {
    return file.transfer_all(access_to(buffers[static_cast<std::size_t>(rank)], direction,
                                       Position::explicit_offset, begin + rank * bytes),
                             std::nullopt);
  });
}

std::optional<ErrorClass> class_of(const Outcome& outcome) {
  if (!outcome.error) return std::nullopt;
  return outcome.error->error_class;
}

std::optional<ErrorClass> class_of(const Status& status) {
  if (status) return std::nullopt;
  return status.error().error_class;
}

Outcome move(World& world, int rank, Direction direction, Position position) {
  std::string byte = "x";
  return world.file(rank).transfer(access_to(byte, direction, position));
}

}  // namespace

TEST_CASE("rank 0 opens the file at open, other ranks at their first access") {
  World world(5, "0123456789");
  world.must_open(read_only);
  CHECK(world.store().counts().opens == 2);  // one of them created the file
  std::string text(3, '?');
  CHECK(world.file(3).transfer(reading(text, Position::explicit_offset, 4)).bytes == 3);
  CHECK(text == "456");
  CHECK(world.file(3).size().value() == 10);
  for (int rank = 0; rank < 5; ++rank) {
    CHECK(world.watch(rank).opens == (rank == 0 || rank == 3 ? 1 : 0));
  }
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("contradictory access modes are refused") {
  for (const AccessMode& mode :
       {AccessMode{}, AccessMode{.read = true, .create = true},
        AccessMode{.read = true, .exclusive = true},
        AccessMode{.read = true, .write = true, .create = true, .sequential = true}}) {
    World world(3);
    CHECK(agreed(world.open(mode)) == ErrorClass::amode);
    CHECK(world.store().counts().opens == 0);
  }
}

TEST_CASE("a missing file is an error on all ranks, with its name") {
  World world(4);
  const std::vector<Status> outcomes = world.open(read_only);
  CHECK(agreed(outcomes) == ErrorClass::no_such_file);
  CHECK(outcomes[0].error().message == "open f: no such file or directory");
  CHECK(outcomes[3].error().message == "rank 0: open f: no such file or directory");
}

TEST_CASE("an open that creates a file and then fails leaves none") {
  for (const bool exclusive : {true, false}) {
    CAPTURE(exclusive);
    World world(2);
    world.fail(0, "size=1,errno=EIO");
    AccessMode mode{.write = true, .create = true, .append = true};
    mode.exclusive = exclusive;
    CHECK(agreed(world.open(mode)) == ErrorClass::io);
    CHECK(world.store().contents("f").ok() == !exclusive);
  }
}

TEST_CASE("a bad machine file that the program names is noted, and fails no call") {
  World world(3, "x");
  world.must_open(read_only, {{"nacre_machine", "/no/such.toml"}});
  REQUIRE(world.file(0).hints().notes().size() == 1);
  CHECK(world.file(0).hints().notes().front().starts_with(
      "hint nacre_machine: nacre_machine = /no/such.toml: there is no such file; "));
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).hints().get("nacre_machine") == "automatic");
  }
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("a machine file of another file system is noted, and used") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string path = directory.path() + "/m.toml";
  std::ofstream(path) << "[machine]\nfile_system = \"lustre\"\n";
  World world(2, "x");
  world.must_open(read_only, {{"nacre_machine", path}});
  REQUIRE(world.file(0).hints().notes().size() == 1);
  CHECK(world.file(0).hints().notes().front().find("its figures are for lustre") !=
        std::string::npos);
  CHECK(world.file(1).hints().get("nacre_machine") == path);
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("the time of a plan is predicted from a call in the second half, on rank 0") {
  World world(2);
  world.must_open(read_write);
  constexpr std::int64_t bytes = 16;  // of a call
  for (int call = 0; call < 7; ++call) {
    CHECK_FALSE(agreed(move_all(world, Direction::write, bytes / 2, call * bytes)));
  }
  const PlanUse& in_steps = world.file(0).profile().plans().back();
  REQUIRE(in_steps.calls == 5);
  CHECK(in_steps.summary.bounds == Extent{2 * bytes, bytes});
  REQUIRE(in_steps.predicted.has_value());
  CHECK(in_steps.predicted->summary.bounds == Extent{5 * bytes, bytes});
  CHECK_FALSE(world.file(1).profile().plans().back().predicted.has_value());
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("with EXCL an existing file is an error on all ranks") {
  World world(4, "old");
  AccessMode mode = read_write;
  mode.exclusive = true;
  CHECK(agreed(world.open(mode)) == ErrorClass::file_exists);
  CHECK(world.text() == "old");
  REQUIRE(world.store().remove("f").ok());
  CHECK_FALSE(agreed(world.open(mode)));
  CHECK_FALSE(agreed(move_all(world, Direction::write, 2)));
  CHECK_FALSE(agreed(world.close()));
  CHECK(world.text() == "aabbccdd");
}

TEST_CASE("a file that rank 0 may not open is an error on all ranks") {
  World world(3, "x");
  world.fail(0, "open=1,errno=EACCES");
  CHECK(agreed(world.open(read_only)) == ErrorClass::access);
}

TEST_CASE("new files get the permissions of the hint") {
  World world(1);
  world.must_open(read_write, {{"file_perm", "640"}});
  CHECK(world.watch(0).permissions == 0640);
}

TEST_CASE("writing a file that is open for reading is an error") {
  World world(2, "12345678");
  world.must_open(read_only);
  for (const Position position :
       {Position::explicit_offset, Position::individual, Position::shared}) {
    CHECK(class_of(move(world, 1, Direction::write, position)) == ErrorClass::read_only);
  }
  CHECK(agreed(move_all(world, Direction::write, 2)) == ErrorClass::read_only);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.resize(3); })) ==
        ErrorClass::read_only);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.preallocate(99); })) ==
        ErrorClass::read_only);
  CHECK_FALSE(agreed(move_all(world, Direction::read, 2)));
  CHECK_FALSE(agreed(world.run<Status>([](OpenFile& file, int) { return file.sync(); })));
  CHECK_FALSE(agreed(world.close()));
  CHECK(world.text() == "12345678");
}

TEST_CASE("reading a file that is open for writing is an error") {
  World world(2, "12345678");
  world.must_open(write_only);
  for (const Position position :
       {Position::explicit_offset, Position::individual, Position::shared}) {
    CHECK(class_of(move(world, 1, Direction::read, position)) == ErrorClass::access);
  }
  CHECK(agreed(move_all(world, Direction::read, 2)) == ErrorClass::access);
  CHECK_FALSE(agreed(move_all(world, Direction::write, 2)));
  CHECK(world.text() == "aabb5678");
}

TEST_CASE("sequential files can be accessed by the shared pointer only") {
  World world(2);
  AccessMode mode = write_only;
  mode.sequential = true;
  world.must_open(mode);
  constexpr ErrorClass refused = ErrorClass::unsupported_operation;
  CHECK(class_of(move(world, 0, Direction::write, Position::explicit_offset)) == refused);
  CHECK(class_of(move(world, 0, Direction::write, Position::individual)) == refused);
  CHECK(agreed(move_all(world, Direction::write, 1)) == refused);
  CHECK(class_of(world.file(0).seek(0, Whence::set)) == refused);
  CHECK(world.file(0).position().error().error_class == refused);
  CHECK(world.file(0).position_shared().error().error_class == refused);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) {
          return file.seek_shared(0, Whence::set, std::nullopt);
        })) == refused);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.resize(3); })) == refused);
  CHECK(agreed(world.run<Status>([](OpenFile& file, int) { return file.preallocate(3); })) ==
        refused);
  CHECK_FALSE(class_of(move(world, 1, Direction::write, Position::shared)));
  std::vector<std::string> texts{"AA", "B"};
  CHECK_FALSE(agreed(world.run<Outcome>([&](OpenFile& file, int rank) {
    return file.transfer_all(writing(texts[static_cast<std::size_t>(rank)], Position::ordered),
                             std::nullopt);
  })));
  CHECK_FALSE(agreed(world.close()));
  CHECK(world.text() == "xAAB");
}

TEST_CASE("with APPEND all pointers start at the end; explicit offsets are absolute") {
  World world(3, "12345");
  AccessMode mode = read_write;
  mode.append = true;
  world.must_open(mode);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).position().value() == 5);
    CHECK(world.file(rank).position_shared().value() == 5);
  }
  CHECK_FALSE(class_of(move(world, 1, Direction::write, Position::shared)));
  CHECK_FALSE(class_of(move(world, 2, Direction::write, Position::shared)));
  CHECK_FALSE(class_of(move(world, 0, Direction::write, Position::explicit_offset)));
  CHECK(world.text() == "x2345xx");
}

TEST_CASE("DELETE_ON_CLOSE deletes the file at close") {
  World world(3);
  AccessMode mode = read_write;
  mode.delete_on_close = true;
  world.must_open(mode);
  CHECK_FALSE(agreed(move_all(world, Direction::write, 4)));
  CHECK(world.text() == "aaaabbbbcccc");
  CHECK_FALSE(agreed(world.close()));
  CHECK_FALSE(world.store().contents("f").ok());
}

TEST_CASE("a file that was deleted before DELETE_ON_CLOSE is an error on all ranks") {
  World world(3);
  AccessMode mode = read_write;
  mode.delete_on_close = true;
  world.must_open(mode);
  REQUIRE(world.store().remove("f").ok());
  CHECK(agreed(world.close()) == ErrorClass::no_such_file);
}

TEST_CASE("a close that fails on one rank fails on all ranks and closes the file on all") {
  World world(4);
  world.fail(2, "close=1,errno=EDQUOT");
  world.must_open(read_write, {{"nacre_algorithm", "direct"}});
  CHECK_FALSE(agreed(move_all(world, Direction::write, 4)));
  CHECK(agreed(world.close()) == ErrorClass::quota);
}

TEST_CASE(
    "a rank that finds another file under the name returns an error, in independent and collective "
    "calls") {
  World world(4, "one file");
  world.must_open(read_write, {{"nacre_algorithm", "direct"}});
  world.put("another");
  const Outcome alone = move(world, 2, Direction::read, Position::individual);
  REQUIRE(class_of(alone) == ErrorClass::file);
  CHECK(alone.error->message == "open f: the file was replaced by another since it was opened");
  CHECK_FALSE(class_of(move(world, 0, Direction::read, Position::individual)));
  CHECK(agreed(move_all(world, Direction::write, 2)) == ErrorClass::file);
  CHECK(world.text() == "another");
}

TEST_CASE("a first open that fails on one rank fails one collective call on all ranks") {
  for (const char* algorithm : {"direct", "two_phase"}) {
    CAPTURE(algorithm);
    World world(4, "................");
    world.fail(2, "open=1,errno=ENFILE");
    world.must_open(read_write,
                    {{"nacre_algorithm", algorithm}, {"cb_nodes", "4"}, {"cb_buffer_size", "4"}});
    const std::vector<Outcome> first = move_all(world, Direction::write, 4096);
    CHECK(agreed(first) == ErrorClass::io);
    CHECK(first[0].error->message.starts_with("rank 2: open f: "));
    CHECK_FALSE(agreed(move_all(world, Direction::write, 4096)));
    CHECK_FALSE(agreed(world.close()));
  }
}

TEST_CASE(
    "a write that fails on one rank fails the collective call on all ranks with the same class") {
  for (const char* algorithm : {"direct", "two_phase"}) {
    World world(3);
    world.fail(1, "write=1,errno=ENOSPC");
    world.must_open(read_write, {{"nacre_algorithm", algorithm}, {"cb_nodes", "3"}});
    CHECK(agreed(move_all(world, Direction::write, 8192)) == ErrorClass::no_space);
    CHECK_FALSE(agreed(world.close()));
  }
}

TEST_CASE(
    "an invalid argument on one rank fails the call on all ranks before any byte is written") {
  for (const bool atomic : {false, true}) {
    World world(3);
    world.must_open(read_write);
    world.must([&](OpenFile& file, int) { return file.set_atomicity(atomic); });
    std::string text(8, 'x');
    const auto outcomes = world.run<Outcome>([&](OpenFile& file, int rank) {
      std::optional<Error> refusal;
      if (rank == 1) refusal = Error{ErrorClass::type, 0, "no such type"};
      return file.transfer_all(writing(text, Position::explicit_offset, rank * 8), refusal);
    });
    CHECK(agreed(outcomes) == ErrorClass::type);
    CHECK(outcomes[2].error->message == "rank 1: no such type");
    CHECK(world.text().empty());
  }
}

TEST_CASE("the hints of an open file contain its name and the values that rank 0 changed") {
  World world(3);
  world.must_open(read_write, {{"cb_nodes", "2"}, {"striping_factor", "4"}});
  world.must([](OpenFile& file, int rank) {
    return file.update_hints({{"cb_nodes", std::to_string(rank + 5)}, {"striping_factor", "9"}});
  });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).hints().get("filename") == "f");
    CHECK(world.file(rank).hints().get("cb_nodes") == "5");
    CHECK(world.file(rank).hints().get("striping_factor") == "4");
  }
  world.must([](OpenFile& file, int rank) {
    return file.set_view(View(), {{"cb_nodes", std::to_string(rank + 7)}}, std::nullopt);
  });
  world.must([](OpenFile& file, int) { return file.set_view(View(), {}, std::nullopt); });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).hints().get("cb_nodes") == "7");
  }
  CHECK(world.store().counter_count() == 0);
}

TEST_CASE("hints that a view passes again change nothing, and send nothing") {
  World world(3);
  const InfoPairs info{{"cb_nodes", "2"}, {"unknown", "x"}};
  world.must_open(read_write, info);
  const auto messages = [&](const InfoPairs& pairs) {
    const std::int64_t before = world.network().sent_count(0);
    world.must([&](OpenFile& file, int) { return file.set_view(View(), pairs, std::nullopt); });
    return world.network().sent_count(0) - before;
  };
  const std::int64_t without_info = messages({});
  CHECK(messages(info) == without_info);
  CHECK(messages({{"cb_nodes", "3"}}) > without_info);
}

TEST_CASE("hints that only a rank other than 0 passes have no effect") {
  World world(3);
  world.must_open(read_write);
  world.must([](OpenFile& file, int rank) {
    return file.set_view(View(), rank == 2 ? InfoPairs{{"cb_nodes", "3"}} : InfoPairs{},
                         std::nullopt);
  });
  for (int rank = 0; rank < 3; ++rank) CHECK(world.file(rank).hints().get("cb_nodes").empty());
}

TEST_CASE("the report contains the calls and bytes of all ranks and the hints without effect") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string report = directory.file("report");
  World world(3);
  world.must_open(read_write, {{"nacre_report", report}, {"cb_nodes", "none"}});
  move_all(world, Direction::write, 10);
  move_all(world, Direction::read, 10);
  move(world, 1, Direction::read, Position::explicit_offset);
  CHECK_FALSE(agreed(world.close()));
  const std::string line = store::read_text_file(report)->value();
  CHECK(line.ends_with("}\n"));
  for (const char* part :
       {"\"file\":\"f\"", "\"ranks\":3", "\"calls\":7,\"bytes_read\":31,\"bytes_written\":30",
        "\"notes\":[\"hint cb_nodes has the value \\\"none\\\"; it takes a whole number of at "
        "least 1\"]"}) {
    CAPTURE(line);
    CHECK(line.find(part) != std::string::npos);
  }
}

TEST_CASE("a report that cannot be written causes one warning per process and no error") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string said = directory.file("stderr");
  CHECK(store::fixtures::run_in_child([&] {
          store::fixtures::Checks checks;
          checks.that(std::freopen(said.c_str(), "w", stderr) != nullptr, "stderr to a file");
          for (int file = 0; file < 3; ++file) {
            World world(2);
            world.must_open(read_write, {{"nacre_report", "/no/such/directory/report"}});
            checks.that(!agreed(world.close()), "closed");
          }
          std::fflush(stderr);
          return checks.report();
        }) == "");
  const std::string line = store::read_text_file(said)->value();
  CAPTURE(line);
  CHECK(line.starts_with(
      "nacre: the report of f was not written: open /no/such/directory/report: no such file or "
      "directory (errno 2); "));
  CHECK(line.find("NACRE_REPORT") != std::string::npos);
  CHECK(std::ranges::count(line, '\n') == 1);
}

TEST_CASE("the counter of the shared pointer is created at its first use and removed at close") {
  World world(3);
  world.must_open(read_write);
  CHECK(world.store().counter_count() == 0);
  move(world, 2, Direction::write, Position::shared);
  CHECK(world.store().counter_count() == 1);
  CHECK_FALSE(agreed(world.close()));
  CHECK(world.store().counter_count() == 0);
}

namespace {

/// The program of one rank: opens, writes and reads back with every kind of position, and closes.
Task<Status> whole_program(World& world, int rank) {
  auto opening =
      OpenFile::open(world.request(rank, read_write, {{"nacre_algorithm", "two_phase"}}));
  Result<std::shared_ptr<OpenFile>> opened = co_await opening;
  if (!opened) co_return opened.error();
  OpenFile& file = **opened;
  const std::int64_t ranks = file.transport().size();
  View view = view_of({4}, {0}, 4 * ranks, 4 * rank);
  auto viewing = file.set_view(view, {}, std::nullopt);
  Status viewed = co_await viewing;
  if (!viewed) co_return viewed;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::string text(64, static_cast<char>('a' + rank + repeat));
    auto write = file.transfer_all(writing(text, Position::individual), std::nullopt);
    const Outcome wrote = co_await write;
    if (wrote.error) co_return *wrote.error;
    std::string back(64, '?');
    auto read =
        file.transfer_all(reading(back, Position::explicit_offset, 64 * repeat), std::nullopt);
    const Outcome found = co_await read;
    if (found.error) co_return *found.error;
    if (back != text) co_return Error{ErrorClass::internal, 0, "read " + back};
    if (Outcome shared = file.transfer(reading(back, Position::shared)); shared.error) {
      co_return *shared.error;
    }
  }
  auto closing = file.close();
  Status closed = co_await closing;
  co_return closed;
}

}  // namespace

TEST_CASE("a whole program with one thread per rank") {
  World world(6);
  const auto results = testing::run_threads<Status>(
      world.network(), [&](int rank) { return whole_program(world, rank); });
  REQUIRE_MESSAGE(results.has_value(), world.network().failure().value_or(""));
  for (const Status& status : *results) CHECK_MESSAGE(status.ok(), status.error().message);
  CHECK(world.text().size() == 6 * 5 * 64);
}

}  // namespace nacre::file
