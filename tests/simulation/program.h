// Program: a random program of a simulated job, with the faults that it meets.
#ifndef NACRE_TESTS_SIMULATION_PROGRAM_H_
#define NACRE_TESTS_SIMULATION_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "file/hints/hints.h"
#include "machine/machine.h"
#include "plan/nodes/node_map.h"
#include "random_access.h"

namespace nacre::simulation {

/// What all ranks do, one step after the other.
enum class Action : std::uint8_t {
  write_all,
  read_all,
  write_each,     ///< each rank by itself
  write_ahead,    ///< collective and nonblocking; each rank writes by itself meanwhile
  write_ordered,  ///< collective, by the shared pointer
  write_shared,   ///< each rank by itself, by the shared pointer
  sync,
  resize,
};

struct Step {
  Action action = Action::write_all;
  /// By rank; of reads and writes. By the shared pointer: all have one view; where the bytes of
  /// each rank go if the ranks write in their order, and at write_shared all have equally many.
  std::vector<collective::fixtures::RankAccess> accesses;
  /// Of write_ahead: the writes meanwhile, through the same views.
  std::vector<collective::fixtures::RankAccess> beside;
  std::int64_t size_bytes = 0;  ///< resize; of the shared pointer: where it begins
};

/// A fault of an OST, or the eviction of a node, at a moment of the job (sim/lustre/faults.h).
struct ServerFault {
  std::int64_t at_nanoseconds = 0;
  std::string words;
};

struct Program {
  std::uint64_t seed = 0;
  machine::Machine machine;
  plan::NodeMap nodes;
  std::int64_t buffered_bytes_max = 0;  ///< longer messages wait for their receive
  file::InfoPairs hints;
  std::vector<Step> steps;
  std::vector<std::string> store_faults;  ///< rules of testing::parse_fault_plan()
  std::vector<ServerFault> server_faults;

  [[nodiscard]] bool has_faults() const { return !store_faults.empty() || !server_faults.empty(); }
  /// Writes that no sync has followed may be lost.
  [[nodiscard]] bool evicts() const {
    return std::ranges::any_of(server_faults, [](const ServerFault& fault) {
      return fault.words.find("evicted") != std::string::npos;
    });
  }
};

/// Equal for equal seeds.
[[nodiscard]] Program random_program(std::uint64_t seed);

/// Parts of a program that are left out, by their index: of steps, store faults, server faults.
struct Omissions {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> store_faults;
  std::vector<std::size_t> server_faults;
};
[[nodiscard]] Program without(Program program, const Omissions& omissions);

/// The program in words, a line for each part.
[[nodiscard]] std::string described(const Program& program);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_PROGRAM_H_
