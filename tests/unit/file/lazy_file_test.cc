// LazyFile opens the file that rank 0 created once, at the first use, also with several threads.
#include "file/lazy_file.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "testing/faults/faulty_store.h"
#include "testing/memory_store.h"

namespace nacre::file {
namespace {

constexpr store::OpenOptions plain{.read = true, .write = true};
constexpr store::OpenOptions making{.read = true, .write = true, .create = true};

store::FileIdentity make(store::Store& store, const std::string& path) {
  return (*store.open(path, making))->identity();
}

}  // namespace

TEST_CASE("a file is opened once, at the first use") {
  testing::MemoryStore store;
  const store::FileIdentity identity = make(store, "f");
  LazyFile file(store, "f", plain);
  file.expect(identity, {});
  CHECK(file.if_open() == nullptr);
  CHECK(file.close().ok());
  CHECK(store.counts().opens == 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { CHECK(file.file().ok()); });
  for (std::thread& thread : threads) thread.join();
  CHECK(store.counts().opens == 2);
  CHECK(file.if_open() == *file.file());
  CHECK(file.close().ok());
  CHECK(file.if_open() == nullptr);
}

TEST_CASE("opening fails if another file has the name by now") {
  testing::MemoryStore store;
  const store::FileIdentity identity = make(store, "f");
  REQUIRE(store.remove("f").ok());
  make(store, "f");
  LazyFile file(store, "f", plain);
  file.expect(identity, {});
  const auto opened = file.file();
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().error_class == ErrorClass::file);
  CHECK(opened.error().message == "open f: the file was replaced by another since it was opened");
}

TEST_CASE("a failed open returns its error and is retried at the next use") {
  auto memory = std::make_shared<testing::MemoryStore>();
  const store::FileIdentity identity = make(*memory, "f");
  testing::FaultyStore store(memory, testing::parse_fault_plan("open=1,errno=EACCES").value(), 0);
  LazyFile file(store, "f", plain);
  file.expect(identity, {});
  CHECK(file.file().error().error_class == ErrorClass::access);
  CHECK(file.file().ok());
}

TEST_CASE("close returns the error of the store") {
  auto memory = std::make_shared<testing::MemoryStore>();
  testing::FaultyStore store(memory, testing::parse_fault_plan("close=1,errno=EIO").value(), 0);
  LazyFile file(store, "f", plain);
  REQUIRE(file.create(making).ok());
  CHECK(file.close().error().error_class == ErrorClass::io);
  CHECK(file.if_open() == nullptr);
}

}  // namespace nacre::file
