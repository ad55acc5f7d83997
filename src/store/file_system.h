// What is known of each file system, and which of them a file is on.
#ifndef NACRE_STORE_FILE_SYSTEM_H_
#define NACRE_STORE_FILE_SYSTEM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/store.h"

namespace nacre::store {

/// What the processes that have a file open see of each other's writes.
enum class Sharing : std::uint8_t {
  local,     ///< one node has it; all its processes agree
  coherent,  ///< many nodes have it; all their processes agree
  cached,    ///< many nodes have it; each caches data or sizes, and they agree only at times
};

/// A file system that Nacre knows: a row of file_systems.toml, which says more of each field.
struct FileSystem {
  std::string_view name;
  std::uint32_t magic = 0;  ///< statfs's f_type
  Sharing sharing = Sharing::coherent;
  /// Opens its files. Null: PosixStore.
  Store* (*store)() = nullptr;
  bool has_layouts = false;  ///< StoreFile::layouts() of that store
  /// Tells apart file systems of one magic: its files have this extended attribute. Looked for
  /// where the environment variable `marker_setting` is set.
  const char* marker_attribute = nullptr;
  const char* marker_setting = nullptr;
  /// The mount option with which its byte-range locks hold between processes of one node only.
  std::string_view local_locks_option = {};
  /// What a user does where it has no byte-range locks. Empty: nothing helps.
  std::string_view locks_advice = {};
};

/// All of them. Rows of one magic that have a marker come first.
[[nodiscard]] std::span<const FileSystem> known_file_systems();
/// Null: not among them.
[[nodiscard]] const FileSystem* file_system_of(const FileSystemFacts& facts);
/// Its name, or the magic of an unknown one: "0x1badface".
[[nodiscard]] std::string name_of(const FileSystemFacts& facts);
/// The store that opens files of such a file system.
[[nodiscard]] Store& store_of(const FileSystemFacts& facts);

/// The facts of a statfs f_type. Pure; a row with a marker is not found. block_size_bytes is left
/// at its default, here and below.
[[nodiscard]] FileSystemFacts facts_of_magic(std::uint32_t magic);
/// The facts of the file system on which an open file lies. Never fails: where the system does not
/// say they are those of an unknown one.
[[nodiscard]] FileSystemFacts facts_of_file(int descriptor);
/// The same by name, links followed. Nothing, and errno, where statfs(2) fails.
[[nodiscard]] std::optional<FileSystemFacts> facts_of_path(const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_FILE_SYSTEM_H_
