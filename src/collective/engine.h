// The engine: one collective data access from call to agreement, over a Store file and a Transport.
#ifndef NACRE_COLLECTIVE_ENGINE_H_
#define NACRE_COLLECTIVE_ENGINE_H_

#include <cstdint>
#include <optional>
#include <string>

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
  /// memory.byte_count == file.byte_count. The buffer stays put until the task has ended.
  plan::MemoryAccess memory;
  /// Why this rank cannot take part as asked (bad datatype, wrong mode, ...). It still takes part
  /// in the protocol; the call then ends with this error on every rank before any byte is
  /// exchanged (ranks that move theirs by themselves may have done so). Its `file` and `memory` are
  /// not looked at.
  std::optional<Error> refusal;
  /// For the direct algorithm.
  IndependentSettings independent;
  /// Aggregators may hold the group lock of this number, where all ranks say so. Only where this
  /// process does nothing else with the file until the call has ended: by another open it would
  /// wait for the lock, and by this one have a part in pages of others.
  std::optional<std::int32_t> group_lock;
};

struct Outcome {
  /// Data bytes of this rank that were really transferred, up to the first one that was not. After
  /// an error: direct, exact; else 0 (what aggregators moved before it is not told apart by
  /// rank).
  std::int64_t bytes = 0;
  std::optional<Error> error;   ///< the same class on all ranks
  plan::CollectivePlan plan;    ///< what was run, for explain; the same on all ranks
  SharedGroups groups;          ///< likewise; null but in segmentation
  plan::AccessSummary summary;  ///< on rank 0: what it was decided from
  std::string locks_refusal;  ///< why plan.write_locks are the usual ones and not those decided on
};

/// Collective over `transport`. `call` is owned by the coroutine: the program may free or change
/// what it was made from. `transport` outlives the task.
///
/// Where ranks write the same byte, it is one of them. Bytes that no rank writes are never written.
/// Reads end at the end of the file: what lies beyond stays as it was in memory (exchanged: the end
/// as it was when the call began). What it does is counted in the
/// profile of file.profiler.
Task<Outcome> run_collective(Transport& transport, CollectiveFile file, CollectiveCall call,
                             plan::CollectiveSettings settings);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ENGINE_H_
