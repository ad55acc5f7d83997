// Random accesses for tests, and a byte-by-byte model of them.
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

/// The number of repeats of a random test: `wanted`, or with NACRE_TEST_FEWER=n in the environment
/// one n-th of it, at least 1. ThreadSanitizer, which makes tests ten times slower, uses that.
int repeats(int wanted);

/// A random number in [low, high].
std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);

/// A random type with data whose copies are monotone and do not overlap, at offsets >= 0.
plan::TypeMap random_monotone_type(Random& random);
/// A random type whose bytes may be in any order.
plan::TypeMap random_memory_type(Random& random);

/// The file offset of each data byte of an access.
std::vector<std::int64_t> offsets_of(const plan::TiledMap& map, std::int64_t first_byte,
                                     std::int64_t byte_count);

/// The access and the buffer of one rank. Movable: its MemoryAccess stays valid.
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

/// A random access with a random buffer. `span`: the approximate range of offsets.
RankAccess random_access(Random& random, std::int64_t bytes_max, std::int64_t span);

/// Opens `path` for reading and writing at the first use.
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

/// Creates a file with the contents `bytes`.
void create_file(store::Store& store, const std::string& path, const Bytes& bytes);

Bytes random_bytes(Random& random, std::int64_t count);

/// Applies a write access to `file`, the model of a file.
void overlay(Bytes& file, const RankAccess& access);
/// The contents of `file` after the ranks have written one after another.
Bytes after_writes(Bytes file, const std::vector<RankAccess>& ranks);
/// If ranks overlap, the byte of any of them is right: takes the byte found if it is one of them.
void accept_any_winner(Bytes& expected, const Bytes& found, const std::vector<RankAccess>& ranks);

}  // namespace nacre::collective::fixtures

#endif  // NACRE_TESTS_UNIT_COLLECTIVE_RANDOM_ACCESS_H_
