#include "store/system/directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>

namespace nacre::store {

std::vector<std::string> files_in(const std::string& directory, std::string_view suffix) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    if (path.ends_with(suffix)) found.push_back(std::move(path));
  }
  std::ranges::sort(found);
  return found;
}

std::optional<std::uint64_t> device_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

void walk_up_mount(std::string directory, const std::function<bool(const std::string&)>& visit) {
  struct stat here {};
  if (::stat(directory.c_str(), &here) != 0) return;
  while (!visit(directory)) {
    directory += "../";
    struct stat above {};
    if (::stat(directory.c_str(), &above) != 0) return;
    const bool is_top = above.st_dev != here.st_dev || above.st_ino == here.st_ino;
    if (is_top) return;
    here = above;
  }
}

}  // namespace nacre::store
