// Whether the results of a Program are right.
#ifndef NACRE_TESTS_SIMULATION_EVALUATION_H_
#define NACRE_TESTS_SIMULATION_EVALUATION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/layout/layout.h"
#include "program.h"
#include "random_access.h"
#include "results.h"

namespace nacre::simulation {

/// What a file is after the program.
struct FoundFile {
  collective::fixtures::Bytes contents;
  std::optional<plan::Layout> layout;
};
/// The file of a path; none if it does not exist.
using FindFile = std::function<std::optional<FoundFile>(const std::string& path)>;

/// What is wrong; nothing if all ranks said the same class of error in each collective call, no
/// call failed without a fault, the files exist if they must, files and buffers contain possible
/// bytes (PossibleFile), and the layouts are complete. `after`: the steps with the buffers of the
/// run.
[[nodiscard]] std::optional<std::string> evaluate(const Program& program,
                                                  const std::vector<Step>& after,
                                                  const Results& results, const FindFile& find);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_EVALUATION_H_
