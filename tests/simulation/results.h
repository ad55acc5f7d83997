// Results: what the calls of a Program returned.
#ifndef NACRE_TESTS_SIMULATION_RESULTS_H_
#define NACRE_TESTS_SIMULATION_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program.h"
#include "testing/faults/fault_plan.h"

namespace nacre::simulation {

/// What a call returned on one rank.
struct Returned {
  std::int64_t bytes = 0;
  std::optional<Error> error;
  std::vector<testing::StoreCall> failed;  ///< calls of the store with an injected error, meanwhile
};
using ByRank = std::vector<Returned>;

/// What a step returned. The view is set before accesses, and then the shared pointer.
struct StepResults {
  ByRank views;
  ByRank seeks;
  std::vector<ByRank> calls;  ///< at least one
  ByRank beside;
  ByRank closed;
  Returned removed;  ///< on rank 0
  ByRank opened;
};

struct Results {
  explicit Results(const Program& program);
  /// The errors of all calls, a line for each.
  [[nodiscard]] std::string errors() const;

  std::vector<ByRank> opened;  ///< of each file, before the steps
  std::vector<StepResults> steps;
  std::vector<ByRank> closed;  ///< of each file, after the steps
};

[[nodiscard]] inline bool has_failed(const Returned& one) { return one.error.has_value(); }

// The kinds of steps.
[[nodiscard]] bool accesses(Action action);
[[nodiscard]] bool reads(Action action);
[[nodiscard]] bool is_by_shared_pointer(Action action);
[[nodiscard]] bool is_collective(Action action);
[[nodiscard]] bool opens(Action action);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_RESULTS_H_
