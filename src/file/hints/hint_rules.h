// Hints written by other means than Nacre's own files: rules in a variable, files of ROMIO's.
#ifndef NACRE_FILE_HINTS_HINT_RULES_H_
#define NACRE_FILE_HINTS_HINT_RULES_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "file/hints/config_file.h"

namespace nacre::file {

/// The grammar of Cray's MPICH_MPIIO_HINTS: "glob:key=value:key=value,glob2:key=value".
/// ErrorClass::info_value, which names the part that is not of it. Lines are not counted.
[[nodiscard]] Result<std::vector<ConfigEntry>> parse_hint_rules(const std::string& text);

/// What the file that ROMIO_HINTS names holds: on each line a key, blanks and a value; # begins a
/// comment. A line of anything else is left out, as ROMIO does.
[[nodiscard]] std::vector<ConfigEntry> parse_romio_hints(const std::string& text);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINT_RULES_H_
