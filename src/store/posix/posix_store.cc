#include "store/posix/posix_store.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file_system.h"
#include "store/memory/shared_memory.h"
#include "store/posix/shared_counter.h"
#include "store/posix/stale_names.h"
#include "store/system/errno.h"

namespace nacre::store {
namespace {

int access_mode(const OpenOptions& options) {
  return options.write ? (options.read ? O_RDWR : O_WRONLY) : O_RDONLY;
}

int open_flags(const OpenOptions& options) {
  int flags = O_CLOEXEC | O_NOCTTY | access_mode(options);
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  return flags;
}

/// A second open of the file with O_DIRECT. Invalid if not requested, or if the file system
/// refuses.
Descriptor open_directly(const Descriptor& file, const OpenOptions& options, int more_flags) {
  if (!options.direct_reads && !options.direct_writes) return Descriptor();
  return reopen(file.number(), access_mode(options) | O_DIRECT | more_flags);
}

/// Refuses directories, pipes and sockets: they have no bytes at offsets.
Status check_kind(const struct statx& file, const std::string& path) {
  if (S_ISDIR(file.stx_mode)) return error_from_errno(EISDIR, "open", path);
  if (!S_ISFIFO(file.stx_mode) && !S_ISSOCK(file.stx_mode)) return {};
  return Error{ErrorClass::bad_file, ESPIPE,
               "open " + path + ": a pipe or socket has no offsets; name a regular file"};
}

FileSystemFacts facts_of(const Descriptor& file, const struct statx& found,
                         const OpenOptions& options) {
  FileSystemFacts facts = options.facts ? *options.facts : facts_of_file(file.number());
  // Clients cache whole pages, so two writers conflict on a page even if blocks are smaller.
  facts.block_size_bytes = std::max<std::int64_t>(found.stx_blksize, sysconf(_SC_PAGESIZE));
  return facts;
}

/// What the file is; of `path` if it could not be opened. Not by fstat: it asks for the size, for
/// which Lustre locks every object of the file on every OST. These locks are taken away again from
/// rank 0 when other nodes begin to write. Fails for directories, pipes and sockets.
Result<struct statx> looked_at(const Result<Descriptor>& file, const std::string& path) {
  struct statx found {};
  const int place = file ? file->number() : AT_FDCWD;
  const int looked = ::statx(place, file ? "" : path.c_str(), AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                             STATX_TYPE | STATX_MODE | STATX_INO, &found);
  if (looked != 0) return error_from_errno(errno, "open", path);
  if (Status kind = check_kind(found, path); !kind) return kind.error();
  return found;
}

/// Clears O_NONBLOCK.
Status make_blocking(const Descriptor& file, const std::string& path) {
  const int flags = fcntl(file.number(), F_GETFL);
  if (flags >= 0 && fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK) == 0) return {};
  return error_from_errno(errno, "open", path);
}

}  // namespace

Result<std::unique_ptr<StoreFile>> PosixStore::open(const std::string& path,
                                                    const OpenOptions& options) {
  if (!options.read && !options.write) {
    return Error{ErrorClass::amode, 0,
                 "open " + path + ": the mode allows neither reading nor writing"};
  }
  if (path.find('\0') != std::string::npos) return error_from_errno(EINVAL, "open", path);
  // O_NONBLOCK: an open of a pipe does not wait for its other end. The flag is cleared below,
  // because some archive file systems fail nonblocking reads of offline files.
  const int flags_of_open = open_flags(options) | O_NONBLOCK;
  Result<Descriptor> file = open_descriptor(path, flags_of_open, options);
  const bool is_missing = !file && file.error().system_errno == ENOENT;
  if (is_missing && !options.one_node && may_exist_now(path)) {
    file = open_descriptor(path, flags_of_open, options);
  }
  if (!file && file.error().system_errno != ENXIO) return std::move(file).error();
  const Result<struct statx> found = looked_at(file, path);
  if (!found) return found.error();
  if (!file) return std::move(file).error();
  if (Status blocking = make_blocking(*file, path); !blocking) return std::move(blocking).error();
  const FileSystemFacts facts = facts_of(*file, *found, options);
  Descriptor direct = open_directly(*file, options, reopen_flags());
  return make_file({.path = path,
                    .options = options,
                    .file = *std::move(file),
                    .direct = std::move(direct),
                    .identity = {has_local_inodes(facts) ? 0 : found->stx_ino},
                    .facts = facts});
}

Result<Descriptor> PosixStore::open_descriptor(const std::string& path, int flags,
                                               const OpenOptions& options) {
  Descriptor file(
      retry_interrupted([&] { return ::open(path.c_str(), flags, options.permissions); }));
  if (!file.valid()) return error_from_errno(errno, "open", path);
  return file;
}

std::unique_ptr<StoreFile> PosixStore::make_file(OpenedFile opened) {
  opened.facts.has_layouts = false;
  return std::make_unique<PosixStoreFile>(std::move(opened));
}

Status PosixStore::remove(const std::string& path) {
  const auto unlinked = [&] {
    return retry_interrupted([&] { return ::unlink(path.c_str()); }) == 0;
  };
  if (unlinked()) return {};
  const int reason = errno;
  if (reason == ENOENT && may_exist_now(path) && unlinked()) return {};
  return error_from_errno(reason, "delete", path);
}

Result<std::unique_ptr<SharedCounter>> PosixStore::counter(const CounterKey& key, bool create) {
  return key.one_node ? memory_counter(key.id, create) : file_counter(key, create, counter_flags());
}

void PosixStore::forget_counter(const CounterKey& key) {
  if (key.one_node) {
    SharedMemory::forget(key.id);
  } else {
    forget_file_counter(key);
  }
}

}  // namespace nacre::store
