// The table of all settings: one row each, from which hints are checked, listed and documented.
#ifndef NACRE_FILE_HINTS_HINT_TABLE_H_
#define NACRE_FILE_HINTS_HINT_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nacre::file {

enum class HintKind : std::uint8_t {
  boolean,      ///< true or false (also enable/disable, yes/no, 1/0)
  count,        ///< a whole number
  bytes,        ///< a whole number, with k, m, g or t for powers of 1024
  choice,       ///< one of a list
  permissions,  ///< octal, as of chmod
  groups,       ///< groups of ranks (group_hint.h)
  layout,       ///< options of `lfs setstripe` (plan/stripe_options.h)
  text,         ///< anything: kept and shown, for other layers to read
  told,         ///< what Nacre tells the program; ignored when the program sets it
};

/// With which calls a program may set a hint.
enum class HintTime : std::uint8_t {
  always,  ///< MPI_File_open, _set_view and _set_info
  open,    ///< MPI_File_open (and _delete) only: it says how a file is made or who serves it
};

struct HintRow {
  std::string_view name;
  HintKind kind;
  HintTime time;
  std::string_view default_value;  ///< "" stands for "not set"
  std::int64_t least;              ///< count, bytes
  std::string_view choices;        ///< choice: separated by '|'
  std::string_view meaning;
};

[[nodiscard]] std::span<const HintRow> hint_table();

/// The row of `name`, or nullptr.
[[nodiscard]] const HintRow* find_hint(std::string_view name);

/// NACRE_ALGORITHM for nacre_algorithm, NACRE_CB_NODES for cb_nodes.
[[nodiscard]] std::string environment_name(std::string_view hint);

/// The value as it is kept (numbers plain, booleans "true" or "false", no blanks around), or
/// ErrorClass::info_value with a message that names the hint, the value and what would be right.
[[nodiscard]] Result<std::string> checked_value(const HintRow& row, std::string_view value);

/// Every hint with its variable, kind, least value, choices, default, meaning and the time until
/// which it counts, as a JSON array of objects.
[[nodiscard]] std::string hints_as_json();

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINT_TABLE_H_
