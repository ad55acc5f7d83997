#include "store/system/process.h"

#include <array>
#include <cstddef>
#include <optional>
#include <sstream>

#include <unistd.h>

#include "store/system/text_file.h"

namespace nacre::store {
std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::vector<std::string> command_line() {
  constexpr std::size_t bytes_max = 4 << 10;
  std::vector<std::string> words;
  std::istringstream text(text_or_empty("/proc/self/cmdline").substr(0, bytes_max));
  for (std::string word; std::getline(text, word, '\0');) words.push_back(std::move(word));
  return words;
}

std::string parent_process() {
  const std::string parent = std::to_string(getppid());
  const std::string stat = text_or_empty("/proc/" + parent + "/stat");
  // proc(5): the name, in parentheses, may contain spaces; the start time is field 22.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return host_name() + ':' + parent + ':' + field;
}

}  // namespace nacre::store
