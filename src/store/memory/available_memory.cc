#include "store/memory/available_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "base/parse_number.h"
#include "base/split.h"
#include "store/system/text_file.h"

namespace nacre::store {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

/// Names of files and fields in one version of cgroups.
struct CgroupWords {
  std::string_view mount;
  std::string_view limit;
  std::string_view usage;
  std::string_view inactive_cache;  ///< in memory.stat
  std::string_view active_cache;
};
constexpr CgroupWords version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                "memory.usage_in_bytes", "total_inactive_file",
                                "total_active_file"};
constexpr CgroupWords version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
                                "active_file"};

/// The number that `text` begins with, blanks aside.
std::optional<std::int64_t> number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const auto number = parse_leading_number<std::int64_t>(text);
  return number ? std::optional(number->value) : std::nullopt;
}

/// The rest of the first line that begins with `begin`.
std::optional<std::string_view> rest_of_line(std::string_view text, std::string_view begin) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view begin) {
  const auto rest = rest_of_line(text, begin);
  return rest ? number(*rest) : std::nullopt;
}

std::int64_t of_machine(const std::string& root) {
  const auto kibibytes = number_after(text_or_empty(root + "/proc/meminfo"), "MemAvailable:");
  return kibibytes ? *kibibytes * 1024 : unknown;
}

std::int64_t of_cgroup(const std::string& directory, const CgroupWords& words) {
  const auto limit = number(text_or_empty(directory + std::string(words.limit)));
  const auto usage = number(text_or_empty(directory + std::string(words.usage)));
  if (!limit || !usage) return unknown;
  const std::string stat = text_or_empty(directory + "memory.stat");
  const auto cache = [&](std::string_view name) {
    return number_after(stat, std::string(name) + " ").value_or(0);
  };
  const std::int64_t taken = *usage - cache(words.inactive_cache) - cache(words.active_cache);
  return std::max<std::int64_t>(0, *limit - taken);
}

/// The minimum over the cgroup at `path` and the cgroups that contain it. In a container the mount
/// may begin at the container's cgroup; the outer directories of `path` then do not exist.
std::int64_t of_cgroups(const std::string& root, const CgroupWords& words, std::string_view path) {
  const std::string mount = root + std::string(words.mount);
  std::int64_t least = unknown;
  while (!path.empty()) {
    const bool is_top = path == "/";
    const std::string directory = mount + (is_top ? "/" : std::string(path) + "/");
    least = std::min(least, of_cgroup(directory, words));
    if (is_top) break;
    path = path.substr(0, std::max<std::size_t>(1, path.rfind('/')));
  }
  return least;
}

}  // namespace

std::int64_t available_memory(const std::string& root) {
  const std::string cgroups = text_or_empty(root + "/proc/self/cgroup");
  std::int64_t least = of_machine(root);
  if (const auto path = rest_of_line(cgroups, "0::")) {
    least = std::min(least, of_cgroups(root, version_2, *path));
  }
  const std::size_t memory = std::min(cgroups.find(":memory:"), cgroups.size());
  if (const auto path = rest_of_line(std::string_view(cgroups).substr(memory), ":memory:")) {
    least = std::min(least, of_cgroups(root, version_1, *path));
  }
  return least;
}

}  // namespace nacre::store
