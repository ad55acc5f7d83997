// The groups of ranks of the segmentation algorithms. Rank 0 forms them, all ranks know them, and
// they are reused while accesses stay the same.
#ifndef NACRE_COLLECTIVE_AGREEMENT_RANK_GROUPING_H_
#define NACRE_COLLECTIVE_AGREEMENT_RANK_GROUPING_H_

#include <cstdint>
#include <memory>

#include "collective/agreement/agreements.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/nodes/grouping.h"
#include "plan/nodes/rank_groups.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

using SharedGroups = std::shared_ptr<const plan::RankGroups>;

/// The settings of the grouping; the same on all ranks.
struct GroupingRequest {
  std::shared_ptr<const plan::InitialGroups>
      initial;  ///< null: in the order of the accesses in the file
  plan::GroupTarget target;

  friend bool operator==(const GroupingRequest& a, const GroupingRequest& b);
};

/// Keeps the groups of a file, on each rank.
class RankGroupCache {
 public:
  /// The last groups, the same on all ranks; null before the first grouping.
  [[nodiscard]] const SharedGroups& groups() const { return groups_; }
  /// Whether this rank accesses as many bytes through the same view as at the last grouping. The
  /// place in the file may differ, as in the next time step of a loop.
  [[nodiscard]] bool knows(const plan::FileAccess& access) const;
  /// Whether the groups were formed for this request; the same on all ranks.
  [[nodiscard]] bool are_for(const GroupingRequest& request) const;
  /// `asked_bytes`: size of the access before it was truncated at the end of the file.
  void keep(SharedGroups groups, GroupingRequest request, const plan::FileAccess& access,
            std::int64_t asked_bytes);

 private:
  SharedGroups groups_;
  GroupingRequest request_;
  plan::TypeMap type_;
  std::int64_t byte_count_ = 0;
};

/// Collective. Rank 0 groups the ranks by their accesses. Memory and messages: 24 bytes per rank on
/// rank 0, on other ranks 24 bytes per rank below them in the tree; RankGroups on all ranks.
Task<SharedGroups> share_groups(Transport& transport, const plan::RankLoad& load,
                                const GroupingRequest& request);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_RANK_GROUPING_H_
