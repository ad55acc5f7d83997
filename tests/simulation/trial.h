// Runs a Program in virtual time and checks everything that a failing program may rely on.
#ifndef NACRE_TESTS_SIMULATION_TRIAL_H_
#define NACRE_TESTS_SIMULATION_TRIAL_H_

#include <optional>
#include <string>

#include "program.h"

namespace nacre::simulation {

/// What is wrong; nothing if all ranks returned, all said the same class of error in each
/// collective call, no call failed without a fault, and file and buffers contain possible bytes
/// (PossibleFile), and the run has left no memory and no descriptor.
[[nodiscard]] std::optional<std::string> try_out(const Program& program);

/// Runs the program, and returns what each call returned on each rank that got an error, in words.
[[nodiscard]] std::string errors_of(const Program& program);

/// Leaves out parts of `program`, which try_out() finds wrong, as long as it finds the rest wrong.
[[nodiscard]] Omissions shrink(const Program& program);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_TRIAL_H_
