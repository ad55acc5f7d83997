// Nacre's configuration files: TOML, with hints for all files and for files that match a pattern.
//
//   [hints]
//   cb_nodes = 8
//   [files."*.nc"]
//   nacre_algorithm = "two_phase"
#ifndef NACRE_FILE_HINTS_CONFIG_FILE_H_
#define NACRE_FILE_HINTS_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace nacre::file {

struct ConfigEntry {
  std::string glob;  ///< "" for all files
  std::string name;
  std::string value;
  int line = 0;  ///< of the hint's name, from 1
};

/// The entries of the file at `path`: first those for all files, then those with patterns, each in
/// the order of the file. If two patterns match a file, the later one applies. No entries if the
/// file does not exist. ErrorClass::info_value, with path and line, if it does not have the form
/// above. The caller checks names and values of hints.
[[nodiscard]] Result<std::vector<ConfigEntry>> read_config(const std::string& path);

/// Parses the text of a file. `path` is for messages.
[[nodiscard]] Result<std::vector<ConfigEntry>> parse_config(const std::string& text,
                                                            const std::string& path);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_CONFIG_FILE_H_
