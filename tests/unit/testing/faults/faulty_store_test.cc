// Faults and delays occur exactly where and when the plan says.
#include "testing/faults/faulty_store.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "bytes.h"
#include "child.h"
#include "store/posix/posix_store.h"
#include "temporary_directory.h"
#include "testing/memory_store.h"

namespace nacre::testing {
namespace {

using store::fixtures::read_text;
using store::fixtures::to_create;
using store::fixtures::to_update;
using store::fixtures::write_text;

/// A file in memory with the faults of a plan.
struct Faulty {
  explicit Faulty(std::string_view spec, int rank = 0)
      : store(memory, parse_fault_plan(spec).value(), rank) {}
  std::unique_ptr<store::StoreFile> open(const std::string& path = "x") {
    return *store.open(path, to_create);
  }
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  FaultyStore store;
};

}  // namespace

TEST_CASE("the nth write of a rank fails once, with an error like that of the system") {
  Faulty faulty("rank=2,write=3,errno=ENOSPC", 2);
  const auto file = faulty.open();
  CHECK_FALSE(write_text(*file, "aa", 0).error.has_value());
  CHECK_FALSE(write_text(*file, "bb", 2).error.has_value());
  const store::Transfer third = write_text(*file, "cc", 4);
  REQUIRE(third.error.has_value());
  CHECK(third.bytes == 0);
  CHECK(third.error->error_class == ErrorClass::no_space);
  CHECK(third.error->system_errno == ENOSPC);
  CHECK(third.error->message == "write at byte 4 of x: no space left on device (injected)");
  CHECK_FALSE(write_text(*file, "dd", 6).error.has_value());
  CHECK(read_text(*file, 10, 0) == std::string("aabb\0\0dd", 8));
}

TEST_CASE("faults of another rank do not affect a rank") {
  Faulty faulty("rank=2,write=1,errno=EIO;rank=2,open=1,errno=EIO", 1);
  CHECK_FALSE(write_text(*faulty.open(), "a", 0).error.has_value());
}

TEST_CASE("calls are counted over all files that the fault matches") {
  Faulty faulty("write=2,path=data,errno=EIO");
  const auto first = faulty.open("data1");
  const auto second = faulty.open("data2");
  const auto other = faulty.open("other");
  CHECK_FALSE(write_text(*first, "a", 0).error.has_value());
  CHECK_FALSE(write_text(*other, "a", 0).error.has_value());
  CHECK_FALSE(write_text(*other, "a", 0).error.has_value());
  CHECK(write_text(*second, "a", 0).error.has_value());
}

TEST_CASE("a short transfer moves the given bytes before the error") {
  Faulty faulty("write=1,short=5,errno=EIO;read=1,short=100,errno=EIO");
  const auto file = faulty.open();
  const std::string text = "0123456789";
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const std::array<store::WritePiece, 3> pieces{{{bytes, 2}, {bytes + 2, 4}, {bytes + 6, 4}}};
  const store::Transfer written = file->write(pieces, 0);
  CHECK(written.bytes == 5);
  REQUIRE(written.error.has_value());
  CHECK(written.error->message.find("write at byte 5 of x") == 0);
  std::string back(10, '?');
  const std::array reads{store::ReadPiece{reinterpret_cast<std::byte*>(back.data()), 10}};
  const store::Transfer read = file->read(reads, 0);
  CHECK(read.bytes == 5);
  CHECK(read.error.has_value());
  CHECK(back == "01234?????");
}

TEST_CASE("every access to a faulty byte fails there, after the bytes before it") {
  Faulty faulty("byte=100,repeat=1,errno=EIO");
  const auto file = faulty.open();
  CHECK_FALSE(write_text(*file, std::string(100, 'a'), 0).error.has_value());
  CHECK_FALSE(write_text(*file, std::string(10, 'a'), 101).error.has_value());
  const store::Transfer written = write_text(*file, std::string(20, 'b'), 95);
  CHECK(written.bytes == 5);
  CHECK(written.error.has_value());
  CHECK(read_text(*file, 1, 100).find("error: read at byte 100 of x") == 0);
  CHECK(read_text(*file, 100, 0) == std::string(95, 'a') + "bbbbb");
}

TEST_CASE("a fault of one direction does not affect the other direction") {
  Faulty faulty("byte=0,on=read,errno=EIO");
  const auto file = faulty.open();
  CHECK(write_text(*file, "a", 0).bytes == 1);
  CHECK(read_text(*file, 1, 0).find("error") == 0);
  CHECK(read_text(*file, 1, 0) == "a");
}

TEST_CASE("a fault after a number of bytes fails the next byte") {
  Faulty faulty("after=25,on=write,repeat=1,errno=EDQUOT");
  const auto file = faulty.open();
  CHECK(write_text(*file, std::string(10, 'a'), 0).bytes == 10);
  CHECK(read_text(*file, 10, 0).size() == 10);
  CHECK(write_text(*file, std::string(10, 'a'), 10).bytes == 10);
  const store::Transfer over = write_text(*file, std::string(10, 'a'), 20);
  CHECK(over.bytes == 5);
  REQUIRE(over.error.has_value());
  CHECK(over.error->error_class == ErrorClass::quota);
  const store::Transfer next = write_text(*file, "a", 25);
  CHECK(next.bytes == 0);
  CHECK(next.error.has_value());
}

TEST_CASE("of two faults on one transfer the earlier byte decides") {
  Faulty faulty("byte=50,errno=EIO;byte=20,errno=ENOSPC");
  const store::Transfer done = write_text(*faulty.open(), std::string(100, 'a'), 0);
  CHECK(done.bytes == 20);
  CHECK(done.error->system_errno == ENOSPC);
}

TEST_CASE("all other calls can fail too, without an effect") {
  Faulty faulty(
      "open=1,errno=EACCES;resize=1,errno=EFBIG;allocate=1,errno=ENOSPC;sync=1,errno=EIO;"
      "lock=1,errno=ENOLCK;remove=1,errno=EPERM;close=1,errno=EDQUOT");
  const auto refused = faulty.store.open("x", to_create);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "open x: permission denied (injected)");
  CHECK_FALSE(faulty.memory->contents("x").ok());
  const auto file = faulty.open();
  CHECK(file->resize(10).error().system_errno == EFBIG);
  CHECK(file->allocate(10).error().error_class == ErrorClass::no_space);
  CHECK(file->size().value() == 0);
  CHECK(file->sync().error().system_errno == EIO);
  CHECK_FALSE(file->lock({0, 1}, store::LockKind::exclusive).ok());
  CHECK(faulty.store.remove("x").error().error_class == ErrorClass::access);
  CHECK(faulty.memory->contents("x").ok());

  CHECK(file->resize(10).ok());
  CHECK(file->allocate(20).ok());
  CHECK(file->sync().ok());
  CHECK(file->lock({0, 1}, store::LockKind::exclusive).ok());
  CHECK(file->close().error().error_class == ErrorClass::quota);
  CHECK(faulty.store.remove("x").ok());
}

TEST_CASE("a fault may kill the process, after the bytes before it") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string path = directory.file("x");
  const store::fixtures::Report report = store::fixtures::run_in_child([&] {
    FaultyStore faulty(std::make_shared<store::PosixStore>(),
                       parse_fault_plan("write=2,short=1,kill=1").value(), 0);
    const auto file = *faulty.open(path, to_create);
    static_cast<void>(write_text(*file, "aa", 0));
    static_cast<void>(write_text(*file, "bb", 2));
    return store::fixtures::Report("the second write returned");
  });
  CHECK(report == "killed by signal 9");
  CHECK(std::filesystem::file_size(path) == 3);
}

TEST_CASE("shared counters fail at the given call") {
  Faulty faulty("counter=1,errno=ENOSPC;counter=4,errno=EIO");
  const store::CounterKey key{"x", 5, true};
  CHECK(faulty.store.counter(key, true).error().error_class == ErrorClass::no_space);
  const auto counter = *faulty.store.counter(key, true);
  CHECK(counter->fetch_add(1).ok());
  CHECK_FALSE(counter->fetch_add(1).ok());
  CHECK(counter->get().value() == 1);
  CHECK(counter->set(9).ok());
}

TEST_CASE("a fault that occurs once affects one of several threads") {
  Faulty faulty("write=50,errno=EIO");
  const auto file = faulty.open();
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 25; ++j) {
        if (write_text(*file, "a", i * 25 + j).error) ++errors;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(errors == 1);
}

TEST_CASE("a delay is at least its latency plus the time of its bytes") {
  Faulty faulty("latency_us=2000,bandwidth=1000000");
  const auto file = faulty.open();
  const auto start = std::chrono::steady_clock::now();
  CHECK(write_text(*file, std::string(3000, 'a'), 0).bytes == 3000);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::microseconds(5000));
}

TEST_CASE("delayed writes of several threads overlap their latencies") {
  // Sequentially they take 8 s, so the limit leaves 7 s of slack on a loaded machine.
  Faulty faulty("latency_us=1000000");
  const auto file = faulty.open();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { write_text(*file, "a", i); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(8));
}

TEST_CASE("a delayed file counts as a file on a network; other files do not change") {
  const store::fixtures::TemporaryDirectory directory;
  const auto posix = std::make_shared<store::PosixStore>();
  FaultyStore faulty(posix, parse_fault_plan("latency_us=1,path=far").value(), 0);
  const auto far = *faulty.open(directory.file("far"), to_create);
  CHECK_FALSE(far->facts().one_writer_per_node);
  const auto near = *faulty.open(directory.file("near"), to_create);
  const auto plain = *posix->open(directory.file("near"), to_update);
  CHECK(near->facts().one_writer_per_node == plain->facts().one_writer_per_node);
}

TEST_CASE("the environment sets faults, or none") {
  CHECK(store::fixtures::run_in_child([] {
          store::fixtures::Checks checks;
          const auto memory = std::make_shared<MemoryStore>();
          unsetenv("NACRE_TEST_FAULTS");
          checks.that(with_environment_faults(memory, 0).value() == memory, "unset");
          setenv("NACRE_TEST_FAULTS", "", 1);
          checks.that(with_environment_faults(memory, 0).value() == memory, "empty");
          setenv("NACRE_TEST_FAULTS", "rank=3,open=1,errno=EIO", 1);
          const auto third = with_environment_faults(memory, 3).value();
          checks.that(!third->open("x", to_create).ok(), "rank 3");
          const auto fourth = with_environment_faults(memory, 4).value();
          checks.that(fourth->open("x", to_create).ok(), "rank 4");
          setenv("NACRE_TEST_FAULTS", "open=1", 1);
          const auto bad = with_environment_faults(memory, 0);
          checks.that(!bad && bad.error().error_class == ErrorClass::arg &&
                          bad.error().message.find("NACRE_TEST_FAULTS: fault rule \"open=1\"") == 0,
                      "bad");
          return checks.report();
        }) == "");
}

}  // namespace nacre::testing
