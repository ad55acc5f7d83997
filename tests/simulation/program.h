// Program: a random program of a simulated job, with the faults that it meets.
#ifndef NACRE_TESTS_SIMULATION_PROGRAM_H_
#define NACRE_TESTS_SIMULATION_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faults.h"
#include "file/hints/hints.h"
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
  sync,
  resize,
  preallocate,
  set_atomicity,
};

/// The accesses of one call, by rank.
using Accesses = std::vector<collective::fixtures::RankAccess>;

struct Step {
  Action action = Action::write_all;
  /// Of reads and writes: of each call, through the same views. Several calls: nonblocking
  /// collective calls. By the shared pointer: all ranks have one view; where the bytes of each rank
  /// go if the ranks come in their order, and at write_shared all have equally many.
  std::vector<Accesses> calls;
  /// The collective calls are in flight (nonblocking, or split) while each rank makes these
  /// accesses by itself, in the same direction. Empty: the call blocks.
  Accesses beside;
  bool individual = false;  ///< by the individual pointers, not by explicit offsets
  std::int64_t number = 0;  ///< of resize and preallocate: bytes; of set_atomicity: 0 or 1;
                            ///< of the shared pointer: where it begins
  std::vector<std::int64_t> pauses;  ///< nanoseconds that each rank computes before the step, and
                                     ///< while calls are in flight
};

struct Program {
  std::uint64_t seed = 0;
  machine::Machine machine;
  plan::NodeMap nodes;
  std::int64_t buffered_bytes_max = 0;  ///< longer messages wait for their receive
  file::InfoPairs hints;
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

/// Parts of a program that are left out, by their index.
struct Omissions {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> faults;
};
[[nodiscard]] Program without(Program program, const Omissions& omissions);

/// The program in words, a line for each part.
[[nodiscard]] std::string described(const Program& program);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_PROGRAM_H_
