// Figures of memory in the files of /proc.
#ifndef NACRE_TOOLS_COMMON_FIELD_BYTES_H_
#define NACRE_TOOLS_COMMON_FIELD_BYTES_H_

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace nacre {

/// The value, in bytes, of a line such as "VmHWM:     1234 kB" in a file of /proc; 0 if the file
/// has no such line.
inline std::int64_t field_bytes(const char* path, std::string_view name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::istringstream rest(line.substr(name.size() + 1));
    std::int64_t kibibytes = 0;
    rest >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

}  // namespace nacre

#endif  // NACRE_TOOLS_COMMON_FIELD_BYTES_H_
