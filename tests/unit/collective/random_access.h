// Random accesses for tests, and what they mean byte by byte.
#ifndef NACRE_TESTS_UNIT_COLLECTIVE_RANDOM_ACCESS_H_
#define NACRE_TESTS_UNIT_COLLECTIVE_RANDOM_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "collective/collective_file.h"
#include "collective/files/file_source.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"
#include "store/store.h"

namespace nacre::collective::fixtures {

using Random = std::mt19937_64;
using Bytes = std::vector<std::byte>;

/// How often a random test is repeated: `wanted` times, or one n-th of it, at least once, where the
/// environment has NACRE_TEST_FEWER=n. For ThreadSanitizer, under which they take ten times as
/// long.
int repeats(int wanted);

/// In [low, high].
std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);

/// A type whose copies are monotone and without a byte twice, at offsets >= 0; some data bytes.
plan::TypeMap random_monotone_type(Random& random);
/// The same bytes, maybe in another order.
plan::TypeMap random_memory_type(Random& random);

/// Where each data byte of an access lies.
std::vector<std::int64_t> offsets_of(const plan::TiledMap& map, std::int64_t first_byte,
                                     std::int64_t byte_count);

/// One rank's access and its buffer. Move it and its MemoryAccess goes along.
struct RankAccess {
  plan::FileAccess file;
  plan::TypeMap memory_type;
  Bytes buffer;

  [[nodiscard]] plan::MemoryAccess memory() {
    return {buffer.data(), memory_type, file.byte_count};
  }
  [[nodiscard]] std::vector<std::int64_t> file_offsets() const {
    return offsets_of(file.view, file.first_byte, file.byte_count);
  }
  [[nodiscard]] std::vector<std::int64_t> memory_offsets() const {
    return offsets_of({memory_type, 0}, 0, file.byte_count);
  }
};

/// The buffer is filled at random. `span`: about the range of offsets.
RankAccess random_access(Random& random, std::int64_t bytes_max, std::int64_t span);

/// Opens `path` for reading and writing on first need.
class LazyFile final : public FileSource {
 public:
  LazyFile(std::shared_ptr<store::Store> store, std::string path)
      : store_(std::move(store)), path_(std::move(path)) {}
  [[nodiscard]] Result<store::StoreFile*> file() override;
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }

 private:
  std::shared_ptr<store::Store> store_;
  std::string path_;
  std::unique_ptr<store::StoreFile> file_;
};

/// Makes a file that holds `bytes`.
void create_file(store::Store& store, const std::string& path, const Bytes& bytes);

Bytes random_bytes(Random& random, std::int64_t count);

/// Writes what the access writes into `file`.
void overlay(Bytes& file, const RankAccess& access);
/// `file` after the ranks have written in turn.
Bytes after_writes(Bytes file, const std::vector<RankAccess>& ranks);
/// Where ranks overlap any of their bytes may stand: takes what was found if it is one.
void accept_any_winner(Bytes& expected, const Bytes& found, const std::vector<RankAccess>& ranks);

}  // namespace nacre::collective::fixtures

#endif  // NACRE_TESTS_UNIT_COLLECTIVE_RANDOM_ACCESS_H_
