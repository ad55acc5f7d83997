// Machine files: the figures of a machine as TOML, their names, ranges and meanings.
#ifndef NACRE_MACHINE_MACHINE_FILE_H_
#define NACRE_MACHINE_MACHINE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"

namespace nacre::machine {

/// The version of the vocabulary that this library reads and writes.
inline constexpr std::int64_t machine_version = 1;

/// A machine and what its file says of it: section [machine].
struct MachineFile {
  std::string name = {};         ///< default: the name of the file without its folder and suffix
  std::string description = {};  ///< for users
  std::string file_system = {};  ///< a row of store/file_systems.toml; "": any
  std::string mount = {};        ///< a mount point, which the figures are for; "": any
  std::string measured = {};     ///< who measured it, when and how; "": nobody
  Machine machine = {};
};

/// Sets the figure that a machine file calls "SECTION.KEY". The error message lists the names, or
/// the valid values.
[[nodiscard]] Status set_machine(Machine& machine, std::string_view name, std::string_view value);
/// Applies the text of a machine file to `file`; figures that it does not name stay. `path` is for
/// error messages.
[[nodiscard]] Status read_machine(MachineFile& file, const std::string& text,
                                  const std::string& path);
/// One line for each figure: its name, value and description.
[[nodiscard]] std::string describe_machine(Machine machine);
/// All figures as a JSON object of {"value", "description"} by "SECTION.KEY".
[[nodiscard]] std::string machine_as_json(Machine machine);

/// A machine of which one figure is not known: it is 0.
struct WithoutFigure {
  std::string_view name;  ///< of the figure: "SECTION.KEY"
  Machine machine;
};
/// One for each figure that can be 0 and is not.
[[nodiscard]] std::vector<WithoutFigure> without_each_figure(const Machine& machine);

/// A machine file that is part of the library.
struct ShippedMachine {
  std::string_view name;
  std::string_view text;
};
/// One for each class of machines, from src/machine/classes.
[[nodiscard]] std::span<const ShippedMachine> shipped_machines();
/// The figures of class `name`, which exists. Parsed once per process.
[[nodiscard]] const Machine& shipped_machine(std::string_view name);

}  // namespace nacre::machine

#endif  // NACRE_MACHINE_MACHINE_FILE_H_
