// Hints in environment variables, and in ROMIO's hint files.
#ifndef NACRE_FILE_HINTS_HINT_RULES_H_
#define NACRE_FILE_HINTS_HINT_RULES_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "file/hints/config_file.h"

namespace nacre::file {

/// The grammar of Cray's MPICH_MPIIO_HINTS: "glob:key=value:key=value,glob2:key=value".
/// ErrorClass::info_value names the part that is wrong. `line` of the entries is 0.
[[nodiscard]] Result<std::vector<ConfigEntry>> parse_hint_rules(const std::string& text);

/// Parses the file that ROMIO_HINTS names: a key, blanks and a value on each line; # begins a
/// comment. Ignores other lines, as ROMIO does.
[[nodiscard]] std::vector<ConfigEntry> parse_romio_hints(const std::string& text);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINT_RULES_H_
