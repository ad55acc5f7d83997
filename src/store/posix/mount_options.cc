#include "store/posix/mount_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/split.h"
#include "store/system/text_file.h"

namespace nacre::store {

bool has_mount_option(std::string_view mountinfo, dev_t device, std::string_view option) {
  constexpr std::size_t device_field = 2;
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  return std::ranges::any_of(split_filled(mountinfo, '\n'), [&](std::string_view line) {
    const std::vector<std::string_view> fields = split_filled(line, ' ');
    return fields.size() > device_field && fields[device_field] == wanted &&
           std::ranges::count(split(fields.back(), ','), option) > 0;
  });
}

const FileSystem* file_system_with_local_locks(int descriptor) {
  const FileSystem* const system = file_system_of(facts_of_file(descriptor));
  struct stat file {};
  if (system == nullptr || system->local_locks_option.empty()) return nullptr;
  if (::fstat(descriptor, &file) != 0) return nullptr;
  const auto mounts = read_text_file("/proc/self/mountinfo");
  const bool are_local = mounts && mounts->has_value() &&
                         has_mount_option(**mounts, file.st_dev, system->local_locks_option);
  return are_local ? system : nullptr;
}

}  // namespace nacre::store
