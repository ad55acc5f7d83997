// Runs a Program in virtual time and checks everything that a failing program may rely on.
#ifndef NACRE_TESTS_SIMULATION_TRIAL_H_
#define NACRE_TESTS_SIMULATION_TRIAL_H_

#include <optional>
#include <string>

#include "program.h"

namespace nacre::simulation {

/// What is wrong, with the errors of all calls; nothing if all ranks returned in time, all said the
/// same class of error in each collective call, no call failed without a fault, file and buffers
/// contain possible bytes (PossibleFile), the file's layout is complete, and the run has taken no
/// more memory than it may and left no memory and no descriptor.
[[nodiscard]] std::optional<std::string> try_out(const Program& program);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_TRIAL_H_
