// Nacre's configuration files: TOML, hints for all files and for those that match a pattern.
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

/// The entries of the file at `path`, those for all files first, each kind in the order of the file
/// (where two patterns match, the lower one wins); none where there is no such file.
/// ErrorClass::info_value, with path and line, where it is not of the form above; names and values
/// of hints are the caller's to check.
[[nodiscard]] Result<std::vector<ConfigEntry>> read_config(const std::string& path);

/// The same of the text itself. `path` is for messages.
[[nodiscard]] Result<std::vector<ConfigEntry>> parse_config(const std::string& text,
                                                            const std::string& path);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_CONFIG_FILE_H_
