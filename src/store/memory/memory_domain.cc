#include "store/memory/memory_domain.h"

#include <cstdlib>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "base/fnv_hash.h"
#include "store/system/process.h"
#include "store/system/text_file.h"

namespace nacre::store {

std::uint64_t shared_memory_domain() {
  constexpr const char* shared_memory_path = "/dev/shm";  // the directory of shm_open(3)
  struct stat directory {};
  if (stat(shared_memory_path, &directory) != 0 || !S_ISDIR(directory.st_mode)) return 0;
  if (access(shared_memory_path, W_OK | X_OK) != 0) return 0;
  const std::string boot = text_or_empty("/proc/sys/kernel/random/boot_id");
  const std::string host = host_name();
  if (boot.empty() && host.empty()) return 0;
  const char* node = std::getenv("NACRE_NODE_ID");
  const std::uint64_t domain =
      fnv_hash(boot + '\n' + host + '\n' + std::to_string(directory.st_dev) + '\n' +
               std::to_string(directory.st_ino) + '\n' + (node != nullptr ? node : ""));
  return domain != 0 ? domain : 1;
}

}  // namespace nacre::store
