#include "store/posix/mount_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "store/system/text_file.h"

namespace nacre::store {
namespace {

/// The fields of a line, apart by blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (blank > 0) fields.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return fields;
}

bool is_in_list(std::string_view list, std::string_view word) {
  const std::string in_commas = "," + std::string(list) + ",";
  return in_commas.find("," + std::string(word) + ",") != std::string::npos;
}

}  // namespace

bool has_mount_option(std::string_view mountinfo, dev_t device, std::string_view option) {
  constexpr std::size_t device_field = 2;
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    const std::vector<std::string_view> fields = fields_of(mountinfo.substr(0, end));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    const bool is_it = fields.size() > device_field && fields[device_field] == wanted;
    if (is_it && is_in_list(fields.back(), option)) return true;
  }
  return false;
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
