#include "store/posix/mount_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/split.h"
#include "store/system/text_file.h"

namespace nacre::store {
namespace {

/// The number of a mount, and the mount table. Empty texts if /proc is missing.
struct MountTable {
  std::string number;
  std::string mountinfo;
};

MountTable mount_table_for(int descriptor) {
  const auto file = read_text_file("/proc/self/fdinfo/" + std::to_string(descriptor));
  const auto mounts = read_text_file("/proc/self/mountinfo");
  if (!file || !file->has_value() || !mounts || !mounts->has_value()) return {};
  return {mount_number_in(**file), **mounts};
}

/// The line of the mount with this number; empty if there is none.
std::string_view line_of_mount(std::string_view mountinfo, std::string_view mount_number) {
  for (const std::string_view line : split_filled(mountinfo, '\n')) {
    if (split(line, ' ').front() == mount_number) return line;
  }
  return {};
}

}  // namespace

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
  const std::string_view line = line_of_mount(mountinfo, mount_number);
  const std::vector<std::string_view> fields = split_filled(line, ' ');
  return !fields.empty() && std::ranges::count(split(fields.back(), ','), option) > 0;
}

std::string_view local_locks_option_of(int descriptor) {
  const FileSystem* const system = file_system_of(facts_of_file(descriptor));
  if (system == nullptr || system->local_locks_options.empty()) return {};
  const MountTable table = mount_table_for(descriptor);
  for (const std::string_view option : split_filled(system->local_locks_options, ' ')) {
    if (has_mount_option(table.mountinfo, table.number, option)) return option;
  }
  return {};
}

std::string mount_type_in(std::string_view mountinfo, std::string_view mount_number) {
  constexpr std::string_view separator = " - ";
  const std::string_view line = line_of_mount(mountinfo, mount_number);
  const std::size_t fields = line.find(separator);
  if (fields == std::string_view::npos) return "";
  return std::string(split(line.substr(fields + separator.size()), ' ').front());
}

std::string mount_type_of(int descriptor) {
  const MountTable table = mount_table_for(descriptor);
  return mount_type_in(table.mountinfo, table.number);
}

}  // namespace nacre::store
