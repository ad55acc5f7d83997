// The texts that set hints: configuration files, environment variables, ROMIO's hint files.
#ifndef NACRE_FILE_HINTS_HINT_SOURCES_H_
#define NACRE_FILE_HINTS_HINT_SOURCES_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace nacre::file {

/// A hint, for all files or for files that match a pattern.
struct HintEntry {
  std::string glob;  ///< "" for all files
  std::string name;
  std::string value;
  int line = 0;  ///< of the hint's name, from 1
};

/// The hints of the configuration file at `path`, in TOML:
///
///   [hints]
///   cb_nodes = 8
///   [files."*.nc"]
///   nacre_algorithm = "two_phase"
///
/// Returns first the hints for all files, then those with patterns, each in the order of the file:
/// if two patterns match, the later one applies. No entries if the file does not exist.
/// ErrorClass::info_value, with path and line, if it does not have the form above. The caller
/// checks names and values of hints.
[[nodiscard]] Result<std::vector<HintEntry>> read_config(const std::string& path);

/// Parses the text of a file. `path` is for messages.
[[nodiscard]] Result<std::vector<HintEntry>> parse_config(const std::string& text,
                                                          const std::string& path);

/// The grammar of Cray's MPICH_MPIIO_HINTS: "glob:key=value:key=value,glob2:key=value".
/// ErrorClass::info_value names the part that is wrong. `line` of the entries is 0.
[[nodiscard]] Result<std::vector<HintEntry>> parse_hint_rules(const std::string& text);

/// Parses the file that ROMIO_HINTS names: a key, blanks and a value on each line; # begins a
/// comment. As ROMIO does, ignores other lines, and lines whose key an earlier line has set.
[[nodiscard]] std::vector<HintEntry> parse_romio_hints(const std::string& text);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINT_SOURCES_H_
