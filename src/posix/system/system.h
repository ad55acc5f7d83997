// System calls that pass by every interposed function and are no cancellation points, and memory
// that comes from no allocator: interposed functions run inside allocators and signal handlers.
#ifndef NACRE_POSIX_SYSTEM_SYSTEM_H_
#define NACRE_POSIX_SYSTEM_SYSTEM_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>

namespace nacre::posix {

/// Restores errno at the end of its scope.
class ErrnoKeeper {
 public:
  ErrnoKeeper() = default;
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;
  ~ErrnoKeeper() { errno = kept_; }

 private:
  int kept_ = errno;
};

/// A file, whatever its names.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// The file of an open descriptor or of a path, relative to `directory`: nullopt if there is none
/// or it is not regular. Asks the client of a network file system only, not its servers.
[[nodiscard]] std::optional<FileIdentity> regular_file(int descriptor);
[[nodiscard]] std::optional<FileIdentity> regular_file(int directory, const char* path);
/// Whether the file of an open descriptor has no bytes.
[[nodiscard]] bool is_empty(int descriptor);
/// The absolute path of an open descriptor; empty if the system does not say.
[[nodiscard]] std::string_view path_of(int descriptor, std::span<char> room);

/// The system's pread and pwrite, repeated after EINTR.
[[nodiscard]] ssize_t system_read(int descriptor, void* to, std::size_t bytes, std::int64_t offset);
[[nodiscard]] ssize_t system_write(int descriptor, const void* from, std::size_t bytes,
                                   std::int64_t offset);
/// The system's write, at the descriptor's own position, repeated after EINTR.
[[nodiscard]] ssize_t system_append(int descriptor, const void* from, std::size_t bytes);
/// The system's lseek. The position of a descriptor is kept by the system alone: processes and
/// descriptors may share it.
std::int64_t system_seek(int descriptor, std::int64_t offset, int whence);

/// The process; not cached, so that it differs in a child of vfork.
[[nodiscard]] int system_process();

/// Whether the program may read, or write, all of these bytes: a system call would not fail with
/// EFAULT. Costs one or two system calls for each page, and changes nothing.
[[nodiscard]] bool is_readable(const void* from, std::size_t bytes);
[[nodiscard]] bool is_writable(void* to, std::size_t bytes);

/// Zeroed pages; null if there is no memory.
[[nodiscard]] std::byte* map_memory(std::size_t bytes);
/// The same for this process alone: a child of fork() has no memory there.
[[nodiscard]] std::byte* map_own_memory(std::size_t bytes);
/// The same, which is zero again in every child that does not share this process's memory. Null if
/// the system (Linux before 4.14) cannot do that.
[[nodiscard]] std::byte* map_wiped_memory(std::size_t bytes);
void unmap_memory(std::byte* memory, std::size_t bytes);

/// Appends `text` with one call to the file at `path`, which it creates if necessary. 0, or an
/// errno.
[[nodiscard]] int append_once(const char* path, std::string_view text);

/// Which file standard error is, at the start of the process.
void note_standard_error();
/// Prints to standard error, unless the program has put another file in its place.
void print_warning(std::string_view text);

}  // namespace nacre::posix

#endif  // NACRE_POSIX_SYSTEM_SYSTEM_H_
