// The ranks of one open file in one process, over a store in memory that counts calls and can
// fail.
#ifndef NACRE_TESTS_UNIT_FILE_WORLD_H_
#define NACRE_TESTS_UNIT_FILE_WORLD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "file/open_file.h"
#include "store/forwarding.h"
#include "store/store.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::file::fixtures {

/// The store of one rank. Counts calls, and can pretend that the clients of the file system are
/// incoherent, or that it has no locks.
class WatchedStore final : public store::ForwardingStore {
 public:
  struct Watch {
    std::atomic<int> opens = 0;
    std::atomic<int> shared_locks = 0;
    std::atomic<int> exclusive_locks = 0;
    std::atomic<int> syncs = 0;
    std::atomic<int> sizes = 0;             ///< calls that ask for the size
    std::atomic<unsigned> permissions = 0;  ///< permissions of the last open
    std::atomic<bool> coherent = true;
    std::atomic<bool> has_locks = true;
  };

  explicit WatchedStore(std::shared_ptr<store::Store> inner) : ForwardingStore(std::move(inner)) {}
  [[nodiscard]] Watch& watch() { return *watch_; }

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;

 private:
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

inline constexpr AccessMode read_write{.read = true, .write = true, .create = true};
inline constexpr AccessMode read_only{.read = true};
inline constexpr AccessMode write_only{.write = true, .create = true};

/// The file is called "f".
class World {
 public:
  explicit World(int rank_count, std::uint64_t seed = 1, int ranks_per_node = 1);
  /// The store contains a file with `text`.
  World(int rank_count, const std::string& text);

  [[nodiscard]] int size() const { return network_->size(); }
  [[nodiscard]] testing::MemoryStore& store() { return *memory_; }
  /// The contents of the file.
  [[nodiscard]] std::string text() const;
  /// Creates the file again.
  void put(const std::string& text);

  /// Sets the faults of one rank (store::parse_fault_plan). Call it before open().
  void fail(int rank, const std::string& plan);
  [[nodiscard]] WatchedStore::Watch& watch(int rank) { return watched_.at(index(rank))->watch(); }

  /// Places the ranks on several nodes. Call it before open().
  void spread_over_nodes() { one_node_ = false; }

  /// Opens on all ranks and returns their results. After an error there are no files.
  std::vector<Status> open(const AccessMode& mode, const InfoPairs& info = {});
  /// Opens on all ranks and requires success.
  void must_open(const AccessMode& mode, const InfoPairs& info = {});
  std::vector<Status> close();
  [[nodiscard]] OpenFile& file(int rank) { return *files_.at(index(rank)); }
  [[nodiscard]] OpenRequest request(int rank, const AccessMode& mode, const InfoPairs& info);

  /// Runs make(file, rank), a Task<T>, on all ranks until all are done, one step of one rank at a
  /// time.
  template <class T, class Make>
  std::vector<T> run(Make make) {
    return run_ranks<T>([&](int rank) { return make(file(rank), rank); });
  }
  /// As above. Requires success on every rank.
  template <class Make>
  void must(Make make) {
    for (const Status& status : run<Status>(make)) {
      REQUIRE_MESSAGE(status.ok(), status.error().message);
    }
  }

  [[nodiscard]] testing::InProcessNetwork& network() { return *network_; }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  template <class T, class Make>
  std::vector<T> run_ranks(Make make) {
    auto results = testing::run_polled<T>(*network_, make, ++seed_);
    REQUIRE_MESSAGE(results.has_value(), network_->failure().value_or(""));
    CHECK(network_->unmatched_count() == 0);
    return *std::move(results);
  }

  std::uint64_t seed_;
  bool one_node_ = true;
  std::unique_ptr<testing::InProcessNetwork> network_;
  std::shared_ptr<testing::MemoryStore> memory_ = std::make_shared<testing::MemoryStore>();
  std::vector<std::shared_ptr<WatchedStore>> watched_;
  std::uint64_t open_count_ = 0;
  std::vector<std::shared_ptr<OpenFile>> files_;
};

/// An access whose memory is `text`. The caller owns `text`.
Access access_to(std::string& text, plan::Direction direction, Position position,
                 std::int64_t offset = 0);
inline Access reading(std::string& text, Position position, std::int64_t offset = 0) {
  return access_to(text, plan::Direction::read, position, offset);
}
inline Access writing(std::string& text, Position position, std::int64_t offset = 0) {
  return access_to(text, plan::Direction::write, position, offset);
}

/// The error class that all ranks returned; nullopt if all succeeded. Fails the test if the ranks
/// disagree.
std::optional<ErrorClass> agreed(const std::vector<Status>& outcomes);
std::optional<ErrorClass> agreed(const std::vector<Outcome>& outcomes);

/// Blocks of bytes at displacements. Tiles start at `origin` and are `extent` apart.
View view_of(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& offsets,
             std::int64_t extent, std::int64_t origin = 0);

}  // namespace nacre::file::fixtures

#endif  // NACRE_TESTS_UNIT_FILE_WORLD_H_
