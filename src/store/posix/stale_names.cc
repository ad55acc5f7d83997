#include "store/posix/stale_names.h"

#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/file_system.h"
#include "store/path.h"

namespace nacre::store {

bool may_exist_now(const std::string& path) {
  std::string parent = directory_of(path);
  const std::string directory = parent + ".";
  std::optional<FileSystemFacts> facts = facts_of_path(directory);
  while (parent.size() > 1 && parent.back() == '/') parent.pop_back();
  const bool is_directory_missing = !facts && errno == ENOENT && parent.size() > 1;
  if (is_directory_missing && may_exist_now(parent)) facts = facts_of_path(directory);
  if (!facts || facts->coherent) return false;
  struct statx ignored {};
  return ::statx(AT_FDCWD, directory.c_str(), AT_STATX_FORCE_SYNC, STATX_MTIME | STATX_CTIME,
                 &ignored) == 0;
}

}  // namespace nacre::store
