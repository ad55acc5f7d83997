// The machine file that holds for an open file.
#ifndef NACRE_FILE_MACHINE_FIND_MACHINE_H_
#define NACRE_FILE_MACHINE_FIND_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "file/hints/hints.h"
#include "machine/machine.h"
#include "machine/machine_file.h"
#include "store/store.h"

namespace nacre::file {

/// The figures of the machine for a file, and where they stand.
struct FoundMachine {
  machine::Machine machine;
  std::string origin;       ///< a path, or the name of a class that is part of the library
  std::string remark = {};  ///< that the figures are of another file system than the file's
};

/// A file that Nacre looks for a machine for.
struct MachineQuery {
  std::string path;
  store::FileSystemFacts file_system;
};

/// The first of these: the file or class that the hint nacre_machine names; the machine file of the
/// user, then of the site, that is for the mount of the file, or else for its kind of file system;
/// the class of its file system. Figures that a machine file does not name are those of the class.
/// A file that the hint names holds for any file system, with a remark if it is for another one.
/// Reads the folders once per process. Nothing if the hint is "none". ErrorClass::info_value: a
/// machine file is invalid; the message names file and line.
[[nodiscard]] Result<std::optional<FoundMachine>> find_machine(
    const MachineQuery& query, const Hints& hints,
    const Environment& environment = process_environment());

/// Whether find_machine() depends on FileSystemFacts::on_flash.
[[nodiscard]] bool depends_on_drives(const store::FileSystemFacts& facts, const Hints& hints);

/// The folders of machine files, the user's first.
[[nodiscard]] std::vector<std::string> machine_folders(const Environment& environment);

}  // namespace nacre::file

#endif  // NACRE_FILE_MACHINE_FIND_MACHINE_H_
