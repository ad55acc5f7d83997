// ExchangeAccess: what a rank brings to an exchange.
#ifndef NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_
#define NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_

#include "collective/profile/profile.h"
#include "plan/call/collective_plan.h"
#include "plan/direction.h"
#include "plan/nodes/aggregators.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// What all ranks of an exchange know. Refers to its parts, which outlive it.
struct ExchangePlan {
  const plan::CollectivePlan& plan;
  const plan::Aggregators& aggregators;
  const plan::FileDomains& domains;
};

/// file.byte_count <= memory.byte_count. Refers to its parts, which outlive it.
struct ExchangeAccess {
  plan::Direction direction = plan::Direction::read;
  const plan::FileAccess& file;
  /// The same bytes by their places in the plan's rounds: `file`, but for static segmentation.
  const plan::FileAccess& placed;
  const plan::MemoryAccess& memory;
  Profiler& profiler;

  [[nodiscard]] bool reads() const { return direction == plan::Direction::read; }
  /// Which data byte of the memory is data byte `position` of `placed`.
  [[nodiscard]] std::int64_t memory_position(std::int64_t position) const {
    return position - placed.first_byte;
  }
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_
