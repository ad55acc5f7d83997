// Program: a random program of a simulated job, with the faults that it meets.
#ifndef NACRE_TESTS_SIMULATION_PROGRAM_H_
#define NACRE_TESTS_SIMULATION_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faults.h"
#include "file/hints/hints.h"
#include "file/open_file.h"
#include "machine/machine.h"
#include "plan/nodes/node_map.h"
#include "random_access.h"

namespace nacre::simulation {

/// What all ranks do, one step after the other.
enum class Action : std::uint8_t {
  write_all,      ///< collective
  read_all,       ///< collective
  write_each,     ///< each rank by itself
  read_each,      ///< each rank by itself
  write_ordered,  ///< collective, by the shared pointer
  read_ordered,   ///< collective, by the shared pointer
  write_shared,   ///< each rank by itself, by the shared pointer
  read_shared,    ///< each rank by itself, by the shared pointer
  sync,
  resize,
  preallocate,
  get_size,  ///< each rank by itself, while no rank changes the file
  set_atomicity,
  reopen,  ///< closes the file, if it is open, and opens it again
  remove,  ///< the same; rank 0 deletes the file in between
};

/// A file that the program opens before its steps, and closes after them.
struct ProgramFile {
  std::string path;               ///< two files of a program may have one path
  file::AccessMode mode;          ///< of the first open
  std::int64_t bytes_before = 0;  ///< its contents before the job, of byte_before(); 0: none
  std::string layout_before;      ///< options of `lfs setstripe`; empty: the default
};

/// The accesses of one call, by rank.
using Accesses = std::vector<collective::fixtures::RankAccess>;

struct Step {
  Action action = Action::write_all;
  std::size_t file = 0;  ///< index of the ProgramFile
  /// Of reads and writes: of each call, through the same views. Several calls are collective. By
  /// the shared pointer: all ranks have one view; where the bytes of each rank go if the ranks come
  /// in their order, and at write_shared and read_shared all have equally many.
  std::vector<Accesses> calls;
  /// The collective calls are in flight (nonblocking, or split) while each rank makes these
  /// accesses by itself, at explicit offsets unless `individual`, in the same direction. Empty: the
  /// calls block.
  Accesses beside;
  bool individual = false;  ///< by the individual pointers, not by explicit offsets
  std::int64_t number = 0;  ///< of resize and preallocate: bytes; of set_atomicity: 0 or 1;
                            ///< of the shared pointer: where it begins
  std::vector<std::int64_t> pauses;  ///< nanoseconds that each rank computes before the step, and
                                     ///< while calls are in flight
  file::AccessMode mode;             ///< of reopen and remove
};

/// Whether a file that was opened with this mode allows the step. Otherwise no rank takes it.
[[nodiscard]] bool allows(const file::AccessMode& mode, Action action);

struct Program {
  std::uint64_t seed = 0;
  machine::Machine machine;
  plan::NodeMap nodes;
  std::int64_t buffered_bytes_max = 0;  ///< longer messages wait for their receive
  file::InfoPairs hints;
  std::vector<ProgramFile> files;  ///< one or two
  std::vector<Step> steps;
  std::vector<Fault> faults;

  /// Whether a fault makes calls fail.
  [[nodiscard]] bool excuses_errors() const;
  /// Whether a fault makes calls fail with an error of this class.
  [[nodiscard]] bool explains(const Error& error) const;
  /// Writes that no sync has followed may be lost.
  [[nodiscard]] bool loses_writes() const;
};

/// Equal for equal seeds.
[[nodiscard]] Program random_program(std::uint64_t seed);

/// What is left out of a program: parts by their index, and ranks and nodes.
struct Omissions {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> faults;
  std::vector<std::size_t> hints;
  std::vector<std::size_t> files;     ///< with their steps; the first one stays
  std::vector<std::size_t> contents;  ///< of files before the job
  std::optional<int> ranks;           ///< only the first ones are left
  std::optional<int> nodes;           ///< on which the ranks are dealt in turn
  friend bool operator==(const Omissions&, const Omissions&) = default;
};
[[nodiscard]] Program without(Program program, const Omissions& omissions);
/// Leaves out more of `program` than `omissions`, until `is_wrong` no longer holds if any more is
/// left out.
[[nodiscard]] Omissions shrink(const Program& program, Omissions omissions,
                               const std::function<bool(const Program&)>& is_wrong);

/// The program in words, a line for each part.
[[nodiscard]] std::string described(const Program& program);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_PROGRAM_H_
