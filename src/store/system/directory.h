// What lies in a directory, and on which device.
#ifndef NACRE_STORE_SYSTEM_DIRECTORY_H_
#define NACRE_STORE_SYSTEM_DIRECTORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::store {

/// The paths of the files in `directory` that end in `suffix`, sorted. None if the directory does
/// not exist or cannot be read.
[[nodiscard]] std::vector<std::string> files_in(const std::string& directory,
                                                std::string_view suffix);

/// The device (st_dev) of a path; follows links. Files of one mounted file system have the same.
/// Nothing if the path does not exist.
[[nodiscard]] std::optional<std::uint64_t> device_of(const std::string& path);

/// Calls `visit` for `directory` and for the directories above it on the same device, until it
/// returns true. `directory` ends in '/'. Calls nothing if it does not exist.
void walk_up_mount(std::string directory, const std::function<bool(const std::string&)>& visit);

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_DIRECTORY_H_
