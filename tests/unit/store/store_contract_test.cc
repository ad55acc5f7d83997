// What store.h promises, held against every store: files on shared memory and on disk, the same by
// the stores of file_systems.toml, files in memory, and a faulty store that has no fault to make.
#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "bytes.h"
#include "store/default_store.h"
#include "store/file_system.h"
#include "store/store.h"
#include "temporary_directory.h"
#include "testing/faults/faulty_store.h"
#include "testing/memory_store.h"

namespace nacre::store {
namespace {

using fixtures::read_text;
using fixtures::to_create;
using fixtures::to_read;
using fixtures::to_update;
using fixtures::to_write;
using fixtures::write_text;

struct Ground {
  std::string name;
  std::shared_ptr<Store> store;
  std::string directory;

  [[nodiscard]] std::string file(const std::string& base) const { return directory + "/" + base; }
  [[nodiscard]] std::unique_ptr<StoreFile> open(const std::string& base,
                                                const OpenOptions& options) const {
    Result<std::unique_ptr<StoreFile>> opened = store->open(file(base), options);
    REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().message));
    return *std::move(opened);
  }
};

/// Runs the case with each store, in an empty directory.
void on_each_ground(const std::function<void(const Ground&)>& test) {
  for (const std::string& root : fixtures::test_roots()) {
    const fixtures::TemporaryDirectory directory(root);
    const Ground ground{"posix on " + root, default_store(), directory.path()};
    CAPTURE(ground.name);
    test(ground);
  }
  for (const FileSystem& row : known_file_systems()) {
    if (row.store == nullptr) continue;
    const fixtures::TemporaryDirectory directory;
    const std::shared_ptr<Store> store(std::shared_ptr<Store>(), row.store());
    const Ground ground{"the store of " + std::string(row.name), store, directory.path()};
    CAPTURE(ground.name);
    test(ground);
  }
  const Ground memory{"memory", std::make_shared<testing::MemoryStore>(), "/m"};
  CAPTURE(memory.name);
  test(memory);
  const Ground faultless{"faultless",
                         std::make_shared<testing::FaultyStore>(
                             std::make_shared<testing::MemoryStore>(), testing::FaultPlan{}, 0),
                         "/f"};
  CAPTURE(faultless.name);
  test(faultless);
}

ErrorClass class_of(const Result<std::unique_ptr<StoreFile>>& opened) {
  REQUIRE_FALSE(opened.ok());
  return opened.error().error_class;
}

void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("opening a missing file fails, and so does exclusive creation of an existing file") {
  on_each_ground([](const Ground& ground) {
    const std::string path = ground.file("x");
    const auto missing = ground.store->open(path, to_read);
    CHECK(class_of(missing) == ErrorClass::no_such_file);
    CHECK(missing.error().message == "open " + path + ": no such file or directory");
    CHECK(class_of(ground.store->open("", to_create)) == ErrorClass::no_such_file);
    CHECK(class_of(ground.store->open(path, {})) == ErrorClass::amode);

    OpenOptions exclusive = to_create;
    exclusive.exclusive = true;
    CHECK(ground.store->open(path, exclusive).ok());
    const auto twice = ground.store->open(path, exclusive);
    CHECK(class_of(twice) == ErrorClass::file_exists);
    CHECK(twice.error().message == "open " + path + ": file exists");
    CHECK(ground.store->open(path, to_create).ok());
  });
}

TEST_CASE("one of several concurrent exclusive creations succeeds") {
  on_each_ground([](const Ground& ground) {
    std::atomic<int> made{0};
    std::atomic<int> refused{0};
    run_threads(8, [&](int) {
      OpenOptions exclusive = to_create;
      exclusive.exclusive = true;
      const auto opened = ground.store->open(ground.file("x"), exclusive);
      if (opened) {
        ++made;
      } else if (opened.error().error_class == ErrorClass::file_exists) {
        ++refused;
      }
    });
    CHECK(made == 1);
    CHECK(refused == 7);
  });
}

TEST_CASE("pieces are written and read in order, with holes that read as zeros") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    const std::string text = "scattered";
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    const std::array<WritePiece, 4> pieces{
        {{bytes, 4}, {nullptr, 0}, {bytes + 4, 1}, {bytes + 5, 4}}};
    const Transfer written = file->write(pieces, 3);
    CHECK(written.bytes == 9);
    CHECK_FALSE(written.error.has_value());
    CHECK(file->size().value() == 12);
    CHECK(read_text(*file, 12, 0) == std::string(3, '\0') + text);

    std::array<char, 9> read{};
    auto* to = reinterpret_cast<std::byte*>(read.data());
    const std::array<ReadPiece, 3> reads{{{to + 6, 3}, {nullptr, 0}, {to, 6}}};
    CHECK(file->read(reads, 3).bytes == 9);
    CHECK(std::string(read.data(), read.size()) ==
          "ttered"
          "sca");
  });
}

TEST_CASE("a read is short only at the end of the file, without an error") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    CHECK(write_text(*file, "0123456789", 0).bytes == 10);
    CHECK(read_text(*file, 100, 4) == "456789");
    CHECK(read_text(*file, 100, 10).empty());
    CHECK(read_text(*file, 100, 1000).empty());
    CHECK(read_text(*file, 0, 0).empty());
  });
}

TEST_CASE("an empty write does nothing") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    const Transfer done = file->write({}, 100);
    CHECK(done.bytes == 0);
    CHECK_FALSE(done.error.has_value());
    CHECK(file->size().value() == 0);
  });
}

TEST_CASE("a negative offset is an error of class argument") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    const Transfer written = write_text(*file, "x", -1);
    REQUIRE(written.error.has_value());
    CHECK(written.error->error_class == ErrorClass::arg);
    CHECK(written.bytes == 0);
  });
}

TEST_CASE("transfers that the open mode forbids fail and move nothing") {
  on_each_ground([](const Ground& ground) {
    static_cast<void>(ground.open("x", to_create));
    const auto reader = ground.open("x", to_read);
    const auto writer = ground.open("x", to_write);
    const Transfer written = write_text(*reader, "x", 0);
    CHECK(written.error.has_value());
    CHECK(written.bytes == 0);
    std::byte byte{};
    const std::array pieces{ReadPiece{&byte, 1}};
    CHECK(writer->read(pieces, 0).error.has_value());
    CHECK_FALSE(reader->resize(1).ok());
    CHECK(write_text(*writer, "y", 0).bytes == 1);
  });
}

TEST_CASE("resize truncates and extends; truncated bytes read as zeros afterwards") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    CHECK(write_text(*file, "0123456789", 0).bytes == 10);
    CHECK(file->resize(4).ok());
    CHECK(file->size().value() == 4);
    CHECK(file->resize(6).ok());
    CHECK(read_text(*file, 10, 0) == std::string("0123\0\0", 6));
    CHECK(file->resize(0).ok());
    CHECK(file->size().value() == 0);
  });
}

TEST_CASE("allocate extends, never truncates and changes no byte") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    CHECK(file->allocate(0).ok());
    CHECK(file->size().value() == 0);
    CHECK(write_text(*file, "0123456789", 0).bytes == 10);
    CHECK(file->allocate(5).ok());
    CHECK(file->size().value() == 10);
    CHECK(file->allocate(200'000).ok());
    CHECK(file->size().value() == 200'000);
    CHECK(read_text(*file, 11, 0) == std::string("0123456789\0", 11));
  });
}

TEST_CASE("bytes beyond 4 TiB are written and read") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    const std::int64_t far = std::int64_t{5} << 40;
    CHECK(write_text(*file, "far out", far).bytes == 7);
    CHECK(file->size().value() == far + 7);
    CHECK(read_text(*file, 20, far - 1) == std::string("\0far out", 8));
  });
}

TEST_CASE("sync and close succeed, and the next open sees the written data") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    CHECK(write_text(*file, "kept", 0).bytes == 4);
    CHECK(file->sync().ok());
    CHECK(file->close().ok());
    CHECK(read_text(*ground.open("x", to_read), 10, 0) == "kept");
  });
}

TEST_CASE("a removed file has no name but stays accessible through open files") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    const FileIdentity first = file->identity();
    CHECK(ground.open("x", to_read)->identity() == first);
    CHECK(ground.store->remove(ground.file("x")).ok());
    const Status again = ground.store->remove(ground.file("x"));
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().error_class == ErrorClass::no_such_file);
    CHECK(again.error().message == "delete " + ground.file("x") + ": no such file or directory");
    CHECK(write_text(*file, "still", 0).bytes == 5);
    CHECK_FALSE(ground.open("x", to_create)->identity() == first);
  });
}

TEST_CASE("the description of a file system has a name and a block size") {
  on_each_ground([](const Ground& ground) {
    const FileSystemFacts facts = ground.open("x", to_create)->facts();
    CHECK(facts.block_size_bytes >= 4096);
  });
}

TEST_CASE("only files on Lustre have a layout") {
  on_each_ground([](const Ground& ground) {
    const auto file = ground.open("x", to_create);
    CHECK((file->layouts() != nullptr) == file->facts().has_layouts);
    if (file->layouts() == nullptr) return;
    const auto layout = file->layouts()->read();
    REQUIRE(layout.ok());
    CHECK(layout->has_value());
  });
}

TEST_CASE("an exclusive lock excludes other opens: no update is lost") {
  on_each_ground([](const Ground& ground) {
    constexpr int thread_count = 4;
    constexpr int updates = 50;
    static_cast<void>(write_text(*ground.open("x", to_create), std::string(1, '\0'), 0));
    run_threads(thread_count, [&](int) {
      const auto file = *ground.store->open(ground.file("x"), to_update);
      for (int i = 0; i < updates; ++i) {
        const auto lock = file->lock({0, 1}, LockKind::exclusive);
        std::string value = read_text(*file, 1, 0);
        value[0] = static_cast<char>(value[0] + 1);
        static_cast<void>(write_text(*file, value, 0));
      }
    });
    const std::string total = read_text(*ground.open("x", to_read), 1, 0);
    CHECK(static_cast<unsigned char>(total[0]) == thread_count * updates);
  });
}

TEST_CASE("locks that do not conflict are held at the same time") {
  on_each_ground([](const Ground& ground) {
    const auto first = ground.open("x", to_create);
    const auto second = ground.open("x", to_update);
    const auto shared = first->lock({0, 10}, LockKind::shared);
    const auto shared_too = second->lock({5, 10}, LockKind::shared);
    const auto elsewhere = first->lock({100, 10}, LockKind::exclusive);
    const auto next_to_it = second->lock({110, 10}, LockKind::exclusive);
    const auto of_nothing = second->lock({105, 0}, LockKind::exclusive);
    CHECK(shared.ok());
    CHECK(shared_too.ok());
    CHECK(elsewhere.ok());
    CHECK(next_to_it.ok());
    CHECK(of_nothing.ok());
  });
}

TEST_CASE("a lock needs a matching open mode") {
  on_each_ground([](const Ground& ground) {
    static_cast<void>(ground.open("x", to_create));
    const auto reader = ground.open("x", to_read);
    const auto refused = reader->lock({0, 1}, LockKind::exclusive);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().error_class == ErrorClass::access);
    CHECK(reader->lock({0, 1}, LockKind::shared).ok());
    CHECK(ground.open("x", to_write)->lock({0, 1}, LockKind::shared).ok());
  });
}

TEST_CASE("all attached share one counter until it is forgotten") {
  on_each_ground([](const Ground& ground) {
    for (const bool one_node : {true, false}) {
      CAPTURE(one_node);
      static_cast<void>(ground.open("x", to_create));
      const CounterKey key{ground.file("x"), 0x5eed0001u + (one_node ? 1u : 0u), one_node};
      const auto too_early = ground.store->counter(key, false);
      REQUIRE_FALSE(too_early.ok());
      CHECK(too_early.error().error_class == ErrorClass::no_such_file);

      const auto made = *ground.store->counter(key, true);
      const auto twice = ground.store->counter(key, true);
      REQUIRE_FALSE(twice.ok());
      CHECK(twice.error().error_class == ErrorClass::file_exists);
      const auto attached = *ground.store->counter(key, false);
      CHECK(attached->get().value() == 0);
      CHECK(made->fetch_add(5).value() == 0);
      CHECK(attached->fetch_add(-2).value() == 5);
      CHECK(made->get().value() == 3);
      CHECK(attached->set(std::int64_t{5} << 40).ok());
      CHECK(made->get().value() == std::int64_t{5} << 40);

      ground.store->forget_counter(key);
      CHECK_FALSE(ground.store->counter(key, false).ok());
      CHECK(made->fetch_add(1).value() == std::int64_t{5} << 40);
      CHECK(attached->get().value() == (std::int64_t{5} << 40) + 1);
    }
  });
}

TEST_CASE("threads that add to a counter through several attachments lose nothing") {
  on_each_ground([](const Ground& ground) {
    for (const bool one_node : {true, false}) {
      CAPTURE(one_node);
      constexpr int thread_count = 4;
      constexpr int additions = 100;
      static_cast<void>(ground.open("x", to_create));
      const CounterKey key{ground.file("x"), 0x5eed0003u + (one_node ? 1u : 0u), one_node};
      const auto made = *ground.store->counter(key, true);
      run_threads(thread_count, [&](int thread) {
        const auto attached = *ground.store->counter(key, false);
        SharedCounter& counter = thread % 2 == 0 ? *made : *attached;
        for (int i = 0; i < additions; ++i) static_cast<void>(counter.fetch_add(3));
      });
      CHECK(made->get().value() == 3 * thread_count * additions);
      ground.store->forget_counter(key);
    }
  });
}

TEST_CASE("threads use one open file concurrently, each with its own bytes") {
  on_each_ground([](const Ground& ground) {
    constexpr int thread_count = 4;
    const auto file = ground.open("x", to_create);
    std::atomic<int> wrong{0};
    run_threads(thread_count, [&](int thread) {
      const std::string text(1000, static_cast<char>('a' + thread));
      for (int i = 0; i < 20; ++i) {
        const std::int64_t offset = (i * thread_count + thread) * 1000;
        if (write_text(*file, text, offset).bytes != 1000) ++wrong;
        if (read_text(*file, 1000, offset) != text) ++wrong;
        if (!file->size().ok()) ++wrong;
      }
    });
    CHECK(wrong == 0);
    CHECK(file->size().value() == 80'000);
  });
}

}  // namespace nacre::store
