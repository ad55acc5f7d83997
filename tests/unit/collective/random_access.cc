#include "random_access.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <doctest/doctest.h>

namespace nacre::collective::fixtures {
namespace {

using plan::TypeMap;

TypeMap random_type(Random& random, int depth);

TypeMap random_repeat(Random& random, int depth) {
  const TypeMap child = random_type(random, depth - 1);
  const std::int64_t gap = pick(random, 0, 3) == 0 ? 0 : pick(random, 0, 40);
  const std::int64_t stride = child.true_lb() + child.true_extent() + gap;
  return TypeMap::repeat(child, pick(random, 1, 6), stride).value();
}

TypeMap random_indexed(Random& random, int depth) {
  const TypeMap child = random_type(random, depth - 1);
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> displacements;
  std::int64_t end = pick(random, 0, 20);
  for (std::int64_t i = pick(random, 1, 8); i > 0; --i) {
    lengths.push_back(pick(random, 0, 3));
    displacements.push_back(end);
    end += lengths.back() * (child.lb() + child.extent()) + pick(random, 0, 50);
  }
  return TypeMap::indexed(child, lengths, displacements).value();
}

TypeMap random_structure(Random& random, int depth) {
  std::vector<TypeMap::Field> fields;
  std::int64_t end = 0;
  for (std::int64_t i = pick(random, 1, 3); i > 0; --i) {
    const TypeMap child = random_type(random, depth - 1);
    fields.push_back({end, 1, child.node()});
    end += child.true_lb() + child.true_extent() + pick(random, 0, 30);
  }
  return TypeMap::structure(fields).value();
}

TypeMap random_type(Random& random, int depth) {
  if (depth == 0) return TypeMap::bytes(pick(random, 1, 24));
  switch (pick(random, 0, 3)) {
    case 0:
      return TypeMap::bytes(pick(random, 1, 200));
    case 1:
      return random_repeat(random, depth);
    case 2:
      return random_indexed(random, depth);
    default:
      return random_structure(random, depth);
  }
}

}  // namespace

int repeats(int wanted) {
  const char* fewer = std::getenv("NACRE_TEST_FEWER");
  return fewer == nullptr ? wanted : std::max(1, wanted / std::max(1, std::atoi(fewer)));
}

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

TypeMap random_monotone_type(Random& random) {
  while (true) {
    const TypeMap type = random_type(random, static_cast<int>(pick(random, 0, 3)));
    const std::int64_t end = type.true_lb() + type.true_extent();
    const TypeMap tile = type.resized(0, end + pick(random, 0, 60)).value();
    if (tile.size() > 0 && tile.tiles_monotone() && tile.true_lb() >= 0) return tile;
  }
}

TypeMap random_memory_type(Random& random) {
  const TypeMap type = random_monotone_type(random);
  if (pick(random, 0, 2) != 0) return type;
  // Three blocks, the last one first.
  const std::vector<std::int64_t> ones{1, 1, 1};
  const std::vector<std::int64_t> back{2 * type.extent(), type.extent(), 0};
  return TypeMap::indexed(type, ones, back).value().resized(0, 3 * type.extent()).value();
}

std::vector<std::int64_t> offsets_of(const plan::TiledMap& map, std::int64_t first_byte,
                                     std::int64_t byte_count) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < byte_count; ++i) {
    offsets.push_back(plan::offset_of(map, first_byte + i));
  }
  return offsets;
}

RankAccess random_access(Random& random, std::int64_t bytes_max, std::int64_t span) {
  RankAccess access;
  access.file.view = {random_monotone_type(random), pick(random, 0, span)};
  access.file.first_byte = pick(random, 0, 3) == 0 ? 0 : pick(random, 0, 500);
  access.file.byte_count = pick(random, 0, 4) == 0 ? 0 : pick(random, 1, bytes_max);
  access.memory_type = pick(random, 0, 2) == 0 ? TypeMap::bytes(1) : random_memory_type(random);
  const std::vector<std::int64_t> offsets = access.memory_offsets();
  const auto last = std::max_element(offsets.begin(), offsets.end());
  access.buffer = random_bytes(random, last == offsets.end() ? 1 : *last + 1);
  return access;
}

Result<store::StoreFile*> LazyFile::file() {
  if (!file_) {
    store::OpenOptions options;
    options.read = true;
    options.write = true;
    Result<std::unique_ptr<store::StoreFile>> opened = store_->open(path_, options);
    if (!opened) return std::move(opened).error();
    file_ = *std::move(opened);
  }
  return file_.get();
}

void create_file(store::Store& store, const std::string& path, const Bytes& bytes) {
  store::OpenOptions options;
  options.write = true;
  options.create = true;
  const auto file = store.open(path, options);
  REQUIRE(file.ok());
  const store::WritePiece piece{bytes.data(), std::ssize(bytes)};
  REQUIRE((*file)->resize(0).ok());
  if (!bytes.empty()) REQUIRE_FALSE((*file)->write({&piece, 1}, 0).error.has_value());
}

Bytes random_bytes(Random& random, std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void overlay(Bytes& file, const RankAccess& access) {
  const auto in_file = access.file_offsets();
  const auto in_memory = access.memory_offsets();
  for (std::size_t i = 0; i < in_file.size(); ++i) {
    const auto offset = static_cast<std::size_t>(in_file[i]);
    if (offset >= file.size()) file.resize(offset + 1);
    file[offset] = access.buffer[static_cast<std::size_t>(in_memory[i])];
  }
}

Bytes after_writes(Bytes file, const std::vector<RankAccess>& ranks) {
  for (const RankAccess& access : ranks) overlay(file, access);
  return file;
}

void accept_any_winner(Bytes& expected, const Bytes& found, const std::vector<RankAccess>& ranks) {
  for (const RankAccess& access : ranks) {
    const auto in_file = access.file_offsets();
    const auto in_memory = access.memory_offsets();
    for (std::size_t i = 0; i < in_file.size(); ++i) {
      const auto offset = static_cast<std::size_t>(in_file[i]);
      if (offset >= found.size()) continue;
      const std::byte byte = access.buffer[static_cast<std::size_t>(in_memory[i])];
      if (byte == found[offset]) expected[offset] = byte;
    }
  }
}

}  // namespace nacre::collective::fixtures
