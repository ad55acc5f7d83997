#include "store/posix/mount_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <glob.h>

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

/// Whether one of the files of the pattern has the line.
bool has_line(const std::string& pattern, std::string_view line) {
  glob_t found{};
  const bool is_found = ::glob(pattern.c_str(), 0, nullptr, &found) == 0;
  bool has = false;
  for (std::size_t i = 0; is_found && i < found.gl_pathc; ++i) {
    const std::string text = text_or_empty(found.gl_pathv[i]);
    has = has || std::ranges::count(split_filled(text, '\n'), line) > 0;
  }
  ::globfree(&found);
  return has;
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

std::string local_locks_cause_in(const FileSystem& system, std::string_view mountinfo,
                                 std::string_view mount_number) {
  const auto is_set = [&](std::string_view option) {
    return has_mount_option(mountinfo, mount_number, option);
  };
  for (const std::string_view option : split_filled(system.local_locks_options, '\n')) {
    if (is_set(option)) return "mounted with " + std::string(option);
  }
  const std::vector<std::string_view> global = split_filled(system.global_locks_options, '\n');
  if (!global.empty() && std::ranges::none_of(global, is_set)) {
    return "mounted without " + std::string(global.front());
  }
  const std::vector<std::string_view> settings = split_filled(system.local_locks_settings, '\n');
  if (!settings.empty() && has_line(std::string(settings[0]), settings[1])) {
    return "set up with " + std::string(settings[1]);
  }
  return {};
}

std::string local_locks_cause_of(int descriptor) {
  const FileSystem* const system = file_system_of(facts_of_file(descriptor));
  if (system == nullptr) return {};
  const bool depends_on_mount =
      !system->local_locks_options.empty() || !system->global_locks_options.empty();
  const MountTable table = depends_on_mount ? mount_table_for(descriptor) : MountTable();
  return local_locks_cause_in(*system, table.mountinfo, table.number);
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
