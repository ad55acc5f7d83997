// The table of all hints. Hints are checked, listed and documented from their rows.
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
  layout,       ///< options of `lfs setstripe` (plan/layout/stripe_options.h)
  text,         ///< any text
  output,       ///< set by Nacre for the program; ignored if the program sets it
};

/// The calls that may set a hint.
enum class HintTime : std::uint8_t {
  always,  ///< MPI_File_open, _set_view and _set_info
  open,    ///< MPI_File_open and MPI_File_delete only
};

struct HintRow {
  std::string_view name;
  HintKind kind;
  HintTime time = HintTime::always;
  std::string_view default_value = "";  ///< "": not set
  std::int64_t minimum = 0;             ///< of count and bytes
  std::string_view choices = "";        ///< of choice, separated by '|'
  std::string_view meaning;
  bool has_effect = true;  ///< false: accepted and returned; `meaning` says why it has none
};

[[nodiscard]] std::span<const HintRow> hint_table();

/// The row of `name`, or nullptr.
[[nodiscard]] const HintRow* find_hint(std::string_view name);

/// The hint that a misspelt `name` is likely to mean: one that two changes of a letter lead to. Or
/// nullptr.
[[nodiscard]] const HintRow* likely_hint(std::string_view name);

/// NACRE_ALGORITHM for nacre_algorithm, NACRE_CB_NODES for cb_nodes.
[[nodiscard]] std::string environment_name(std::string_view hint);

/// The value in its normal form: numbers in plain digits, booleans as "true" or "false", without
/// blanks at the ends. ErrorClass::info_value names the hint, the value and the right values.
[[nodiscard]] Result<std::string> checked_value(const HintRow& row, std::string_view value);

/// Every hint with its variable, kind, minimum, choices, default, time and meaning, and whether it
/// is used, as a JSON array of objects.
[[nodiscard]] std::string hints_as_json();

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINT_TABLE_H_
