// The names of the collective algorithms, as settings and plans carry them.
#ifndef NACRE_PLAN_CALL_ALGORITHM_H_
#define NACRE_PLAN_CALL_ALGORITHM_H_

#include <cstdint>

namespace nacre::plan {

/// Rows of algorithms/algorithm_table.h describe them.
enum class Algorithm : std::uint8_t {
  automatic,  ///< only in settings: decide() chooses
  direct,
  two_phase,
  dynamic_segmentation,
  static_segmentation,
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_ALGORITHM_H_
