#include "store/posix/mount_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/split.h"
#include "store/system/text_file.h"

namespace nacre::store {

std::string mount_number_in(std::string_view fdinfo) {
  constexpr std::string_view key = "mnt_id:";
  for (const std::string_view line : split_filled(fdinfo, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::size_t digits = line.find_first_not_of(" \t", key.size());
    return digits == std::string_view::npos ? "" : std::string(line.substr(digits));
  }
  return "";
}

bool has_mount_option(std::string_view mountinfo, std::string_view mount_number,
                      std::string_view option) {
  return std::ranges::any_of(split_filled(mountinfo, '\n'), [&](std::string_view line) {
    const std::vector<std::string_view> fields = split_filled(line, ' ');
    return !fields.empty() && fields.front() == mount_number &&
           std::ranges::count(split(fields.back(), ','), option) > 0;
  });
}

const FileSystem* file_system_with_local_locks(int descriptor) {
  const FileSystem* const system = file_system_of(facts_of_file(descriptor));
  if (system == nullptr || system->local_locks_option.empty()) return nullptr;
  const auto file = read_text_file("/proc/self/fdinfo/" + std::to_string(descriptor));
  const auto mounts = read_text_file("/proc/self/mountinfo");
  if (!file || !file->has_value() || !mounts || !mounts->has_value()) return nullptr;
  const std::string number = mount_number_in(**file);
  return has_mount_option(**mounts, number, system->local_locks_option) ? system : nullptr;
}

}  // namespace nacre::store
