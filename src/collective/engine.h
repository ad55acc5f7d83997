// The engine: executes one collective data access over a StoreFile and a Transport.
#ifndef NACRE_COLLECTIVE_ENGINE_H_
#define NACRE_COLLECTIVE_ENGINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collective/agreement/rank_grouping.h"
#include "collective/collective_file.h"
#include "collective/files/independent.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/direction.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

struct CollectiveCall {
  plan::Direction direction = plan::Direction::read;
  plan::FileAccess file;
  /// memory.byte_count == file.byte_count. The buffer must stay in place until the task ends.
  plan::MemoryAccess memory;
  /// An error in this rank's arguments (invalid datatype, wrong mode, ...). The rank still takes
  /// part in the protocol. The call then fails with this error on all ranks before any byte is
  /// exchanged; with the direct algorithm other ranks may have moved their bytes. `file` and
  /// `memory` are ignored.
  std::optional<Error> refusal;
  /// Settings of the direct algorithm.
  IndependentSettings independent;
  /// Number of the group lock that aggregators may hold, if all ranks set it. Only valid if this
  /// process accesses the file in no other way until the call ends: another open would wait for the
  /// lock, and this open would share pages with other ranks.
  std::optional<std::int32_t> group_lock;
  /// The time of the call is that of its plan: the call is blocking, and corrections are allowed.
  bool learns = false;
};

struct Outcome {
  /// Data bytes of this rank that were transferred, up to the first byte that was not. After an
  /// error exact if the rank accessed the file by itself, otherwise 0: aggregators do not record
  /// bytes by rank.
  std::int64_t bytes = 0;
  std::optional<Error> error;       ///< the same class on all ranks
  plan::CollectivePlan plan;        ///< the executed plan; the same on all ranks
  bool in_steps = false;            ///< AccessSummary::in_steps, on all ranks
  SharedGroups groups;              ///< the same on all ranks; null except in segmentation
  plan::AccessSummary summary;      ///< on rank 0: the input of the decision
  std::string locks_refusal;        ///< why the plan's write locks were not used
  std::string_view locks_obstacle;  ///< on rank 0: plan::write_locks_obstacle()
};

/// Collective over `transport`, which must outlive the task. The coroutine owns `call`.
///
/// If several ranks write the same byte, the file gets the byte of one of them. Bytes that no rank
/// writes are never written. Reads end at the end of the file (with an exchange, at its end when
/// the call began); memory for later bytes stays unchanged. Counts and times go to file.profiler.
Task<Outcome> run_collective(Transport& transport, CollectiveFile file, CollectiveCall call,
                             plan::CollectiveSettings settings);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ENGINE_H_
