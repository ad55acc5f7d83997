// The names of the collective algorithms, as settings and plans carry them.
#ifndef NACRE_PLAN_CALL_ALGORITHM_H_
#define NACRE_PLAN_CALL_ALGORITHM_H_

#include <cstdint>

namespace nacre::plan {

/// What each one does is said in its row (algorithms/algorithm_table.h).
enum class Algorithm : std::uint8_t {
  automatic,  ///< in settings: the choice is left to decide()
  direct,
  two_phase,
  dynamic_segmentation,
  static_segmentation,
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_ALGORITHM_H_
