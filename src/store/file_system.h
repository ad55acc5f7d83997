// The known file systems, and the file system of a file.
#ifndef NACRE_STORE_FILE_SYSTEM_H_
#define NACRE_STORE_FILE_SYSTEM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/store.h"

namespace nacre::store {

/// When processes see the writes of other processes to the same file.
enum class Sharing : std::uint8_t {
  local,     ///< at once; only the processes of one node can share the file
  coherent,  ///< at once, on all nodes
  cached,    ///< late: each node caches data or sizes
};

/// A file system that Nacre knows: a row of file_systems.toml, which documents the fields.
struct FileSystem {
  std::string_view name;
  std::uint32_t magic = 0;  ///< statfs's f_type
  /// Its type in the mount table. Empty: the magic is enough to recognise it.
  std::string_view mount_type = {};
  Sharing sharing = Sharing::coherent;
  /// Creates the store that opens its files. Null: PosixStore.
  Store* (*store)() = nullptr;
  bool has_layouts = false;    ///< StoreFile::layouts() of that store
  bool keeps_written = false;  ///< as in FileSystemFacts
  bool serial_writes = false;  ///< as in FileSystemFacts
  /// The kernel may have cached pages that other nodes have written since.
  bool stale_pages = false;
  bool syncs_each_open = false;  ///< fsync covers the writes through the same open file only
  bool local_inodes = false;     ///< nodes may number the files by themselves
  /// The class of its machine (src/machine/classes). Empty: local or remote.
  const char* machine = "";
  /// The same if Store::has_flash_targets(). Empty: `machine`.
  const char* flash_machine = "";
  /// An extended attribute of its files, which distinguishes file systems with the same magic.
  /// Nacre looks for it only if the environment variable `marker_setting` is set.
  const char* marker_attribute = nullptr;
  const char* marker_setting = nullptr;
  // The next three are lists, one entry a line. What limits byte-range locks to the processes of
  // one node: one of these mount options,
  std::string_view local_locks_options = {};
  /// or none of these mount options (an empty list says nothing),
  std::string_view global_locks_options = {};
  /// or in one of the files of the pattern (glob(3)) that is the first entry, the line that is the
  /// second.
  std::string_view local_locks_settings = {};
  /// Advice to users if byte-range locks are missing. Empty: nothing helps.
  std::string_view locks_advice = {};
};

/// All known file systems. Rows with a marker or a mount type precede other rows with the same
/// magic.
[[nodiscard]] std::span<const FileSystem> known_file_systems();
/// The row of `facts`; null if the file system is unknown.
[[nodiscard]] const FileSystem* file_system_of(const FileSystemFacts& facts);
/// Its name, or the magic of an unknown one: "0x1badface".
[[nodiscard]] std::string name_of(const FileSystemFacts& facts);
/// FileSystem::stale_pages; false if the file system is unknown.
[[nodiscard]] bool has_stale_pages(const FileSystemFacts& facts);
/// FileSystem::syncs_each_open; false if the file system is unknown.
[[nodiscard]] bool syncs_each_open(const FileSystemFacts& facts);
/// FileSystem::local_inodes; false if the file system is unknown.
[[nodiscard]] bool has_local_inodes(const FileSystemFacts& facts);
/// The store that opens files on this file system.
[[nodiscard]] Store& store_of(const FileSystemFacts& facts);

/// The facts of a statfs f_type. Pure; a row with a marker or a mount type is not found.
/// block_size_bytes is left at its default, here and below.
[[nodiscard]] FileSystemFacts facts_of_magic(std::uint32_t magic);
/// The facts of the file system of an open file. Never fails: the facts of an unknown file system
/// if the system call fails.
[[nodiscard]] FileSystemFacts facts_of_file(int descriptor);
/// The same by name; follows links. Returns nothing and sets errno if statfs(2) fails.
[[nodiscard]] std::optional<FileSystemFacts> facts_of_path(const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_FILE_SYSTEM_H_
