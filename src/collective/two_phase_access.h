// TwoPhaseAccess: what a rank brings to a two-phase access.
#ifndef NACRE_COLLECTIVE_TWO_PHASE_ACCESS_H_
#define NACRE_COLLECTIVE_TWO_PHASE_ACCESS_H_

#include "collective/profile.h"
#include "plan/memory_access.h"
#include "plan/run_cursor.h"

namespace nacre::collective {

/// file.byte_count <= memory.byte_count. Refers to its parts, which outlive it.
struct TwoPhaseAccess {
  plan::Direction direction = plan::Direction::read;
  const plan::FileAccess& file;
  const plan::MemoryAccess& memory;
  Profiler& profiler;

  [[nodiscard]] bool reads() const { return direction == plan::Direction::read; }
  /// Which data byte of the memory is data byte `position` of the view.
  [[nodiscard]] std::int64_t memory_position(std::int64_t position) const {
    return position - file.first_byte;
  }
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TWO_PHASE_ACCESS_H_
