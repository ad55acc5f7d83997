// The files of a process whose calls are counted.
#ifndef NACRE_POSIX_COUNTS_COUNTED_FILES_H_
#define NACRE_POSIX_COUNTS_COUNTED_FILES_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "posix/counts/file_counts.h"
#include "posix/system/lock.h"
#include "posix/system/system.h"

namespace nacre::posix {

/// A file and what the process did with it.
struct CountedFile {
  static constexpr std::size_t path_bytes_max = 1024;

  FileIdentity identity;
  std::array<char, path_bytes_max> path;  ///< absolute; the first bytes of a longer path
  std::uint16_t path_bytes = 0;
  FileCounts counts;

  [[nodiscard]] std::string_view name() const { return {path.data(), path_bytes}; }
};

/// Calls on paths that led to no file of the job.
struct ElsewhereCounts {
  CallCounts failed_opens;
  CallCounts failed_stats;
  CallCounts stats;  ///< of directories, of files that the process has not opened, of system files
};

/// All counted files of this process. Its memory comes from the system, page by page.
/// Constant-initialised. Threads may call every function at any time.
class CountedFiles {
 public:
  static constexpr std::uint32_t file_count_max = 4096;

  /// The number of the file in this table, from 1; 0: it is not counted, since it is no regular
  /// file or lies in a directory of the system. Files beyond the table's size have the last number.
  /// `path` and `flags`: as the program opened it. An empty file of another name that was opened
  /// with O_CREAT is a new file, which has the inode of one that was removed.
  [[nodiscard]] std::uint32_t find_or_add(int descriptor, const char* path, int flags);
  /// The number of a file that the process has opened before; 0: it has not. Takes no lock.
  [[nodiscard]] std::uint32_t find(const FileIdentity& identity);
  [[nodiscard]] FileCounts& counts(std::uint32_t number) { return files_[number - 1].counts; }

  /// The files that have numbers up to this one.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] CountedFile& file(std::uint32_t number) { return files_[number - 1]; }
  /// Whether the last file of the table stands for several.
  [[nodiscard]] bool is_full() const { return count_ == file_count_max; }
  /// At the exit of the process, which closes all streams.
  void count_rests();
  /// Forgets all counts, and keeps the files: descriptors refer to them.
  void clear_counts();
  /// In a child of fork() no other thread is inside, whatever it was doing.
  void after_fork_in_child() { lock_.reset(); }

  ElsewhereCounts elsewhere;

 private:
  static constexpr std::uint32_t slot_count = 2 * file_count_max;

  using Slot = std::atomic<std::uint32_t>;

  [[nodiscard]] Slot* slot_of(const FileIdentity& identity);
  [[nodiscard]] bool allocate();

  Lock lock_;
  CountedFile* files_ = nullptr;
  Slot* slots_ = nullptr;  ///< numbers of files, by hash of their identity
  std::atomic<std::uint32_t> count_ = 0;
};

/// Whether a path, absolute or not, certainly lies in a directory of the system: /proc, /usr, ...
[[nodiscard]] bool is_of_system(std::string_view path);

}  // namespace nacre::posix

#endif  // NACRE_POSIX_COUNTS_COUNTED_FILES_H_
