#include "store/posix/posix_store.h"

#include <cerrno>

#include <unistd.h>

#include "store/errno.h"
#include "store/lustre/lustre_layout.h"
#include "store/lustre/lustre_mount.h"
#include "store/posix/descriptor.h"
#include "store/posix/posix_store_file.h"
#include "store/posix/shared_counter.h"

namespace nacre::store {

Result<std::unique_ptr<StoreFile>> PosixStore::open(const std::string& path,
                                                    const OpenOptions& options) {
  return PosixStoreFile::open(path, options);
}

Status PosixStore::remove(const std::string& path) {
  if (retry_interrupted([&] { return ::unlink(path.c_str()); }) == 0) return {};
  return error_from_errno(errno, "delete", path);
}

Result<std::unique_ptr<SharedCounter>> PosixStore::counter(const CounterKey& key, bool create) {
  return key.one_node ? memory_counter(key.id, create) : file_counter(key, create);
}

Result<std::int32_t> PosixStore::target_count(const std::string& path) {
  if (!is_on_lustre(path)) return Store::target_count(path);
  return ost_count(directory_of(path));
}

void PosixStore::forget_counter(const CounterKey& key) {
  if (key.one_node) {
    forget_memory_counter(key.id);
  } else {
    forget_file_counter(key);
  }
}

}  // namespace nacre::store
