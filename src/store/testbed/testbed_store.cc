#include "store/testbed/testbed_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/xattr.h>

#include "store/path.h"
#include "store/pieces.h"

namespace nacre::store {
namespace {

/// FUSE without a page cache sends so few pieces with one request that it would wait for many
/// requests, one after the other. A client of Lustre has them in flight together.
template <class Piece>
bool are_many_and_short(std::span<const Piece> pieces) {
  constexpr std::int64_t few = 32;
  constexpr std::int64_t page_bytes = 4096;
  return std::ssize(pieces) > few && total_bytes(pieces) < page_bytes * std::ssize(pieces);
}

class TestbedFile final : public LustreStoreFile {
 public:
  using LustreStoreFile::LustreStoreFile;

  Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) override {
    if (!are_many_and_short(pieces)) return LustreStoreFile::read(pieces, offset);
    std::vector<std::byte> joined(static_cast<std::size_t>(total_bytes(pieces)));
    const ReadPiece whole{joined.data(), std::ssize(joined)};
    Transfer done = LustreStoreFile::read({&whole, 1}, offset);
    const std::byte* from = joined.data();
    for (const ReadPiece& piece : first_pieces(pieces, done.bytes)) {
      std::copy_n(from, piece.size, piece.data);
      from += piece.size;
    }
    return done;
  }
  Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) override {
    if (!are_many_and_short(pieces)) return LustreStoreFile::write(pieces, offset);
    std::vector<std::byte> joined;
    joined.reserve(static_cast<std::size_t>(total_bytes(pieces)));
    for (const WritePiece& piece : pieces) {
      joined.insert(joined.end(), piece.data, piece.data + piece.size);
    }
    const WritePiece whole{joined.data(), std::ssize(joined)};
    return LustreStoreFile::write({&whole, 1}, offset);
  }

 protected:
  int acquire_group_lock(std::int32_t number) override { return set("testbed.group_lock", number); }
  int release_group_lock(std::int32_t number) override {
    return set("testbed.group_unlock", number);
  }
  int narrow_locks_of(int /*descriptor*/) override { return set("testbed.narrow_locks", 1); }
  int request_locks(std::span<const Extent> ranges) override {
    std::string text;
    for (const Extent& range : ranges) {
      text += ' ' + std::to_string(range.offset) + ' ' + std::to_string(range.length);
    }
    return set("testbed.lock_ahead", text);
  }

 private:
  /// Sets the attribute of the file's directory. The kernel blocks calls on the file's own
  /// attributes during a write, and that write may be waiting for the lock.
  int set(const char* attribute, std::int32_t number) {
    return set(attribute, ' ' + std::to_string(number));
  }
  int set(const char* attribute, const std::string& words) {
    const std::string directory = directory_of(path());
    const std::string text = std::to_string(identity().inode) + words;
    return ::setxattr(directory.c_str(), attribute, text.data(), text.size(), 0);
  }
};

}  // namespace

std::unique_ptr<StoreFile> TestbedStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return LustreStore::make_file(std::move(opened));
  return std::make_unique<TestbedFile>(std::move(opened));
}

}  // namespace nacre::store
