// ExchangePlan and ExchangeAccess: the input of an exchange.
#ifndef NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_
#define NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_

#include "collective/profile/profile.h"
#include "plan/call/collective_plan.h"
#include "plan/direction.h"
#include "plan/nodes/aggregators.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

class RoundCopies;

/// The same on all ranks. Its parts must outlive it.
struct ExchangePlan {
  const plan::CollectivePlan& plan;
  const plan::Aggregators& aggregators;
  const plan::FileDomains& domains;
};

/// The access of one rank. file.byte_count <= memory.byte_count. Its parts must outlive it.
struct ExchangeAccess {
  plan::Direction direction = plan::Direction::read;
  const plan::FileAccess& file;
  /// The same bytes by their places in the plan's rounds: equal to `file` except in static
  /// segmentation.
  const plan::FileAccess& placed;
  const plan::MemoryAccess& memory;
  Profiler& profiler;
  RoundCopies& copies;

  [[nodiscard]] bool reads() const { return direction == plan::Direction::read; }
  /// The data byte of the memory that is data byte `position` of `placed`.
  [[nodiscard]] std::int64_t memory_position(std::int64_t position) const {
    return position - placed.first_byte;
  }
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_EXCHANGE_ACCESS_H_
