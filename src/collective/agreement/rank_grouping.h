// The groups of ranks that segmentation works with: made by one rank, known by all, and kept while
// accesses stay as they are.
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

/// How ranks are to be grouped; the same on all ranks.
struct GroupingRequest {
  std::shared_ptr<const plan::InitialGroups> initial;  ///< null: as accesses lie
  plan::GroupTarget target;

  friend bool operator==(const GroupingRequest& a, const GroupingRequest& b);
};

/// One a rank and file.
class RankGroupCache {
 public:
  /// The last ones, the same on all ranks; null before the first.
  [[nodiscard]] const SharedGroups& groups() const { return groups_; }
  /// Whether this rank brings what it brought to them: as many bytes, through the same view.
  /// Where in the file they lie may differ: the next time step of a loop.
  [[nodiscard]] bool knows(const GroupingRequest& request, const plan::FileAccess& access) const;
  /// `asked_bytes`: of the access before it was cut at the end of the file.
  void keep(SharedGroups groups, GroupingRequest request, const plan::FileAccess& access,
            std::int64_t asked_bytes);

 private:
  SharedGroups groups_;
  GroupingRequest request_;
  plan::TypeMap type_;
  std::int64_t byte_count_ = 0;
};

/// Collective. Rank 0 groups the ranks by what they bring. Memory and messages: 24 bytes a rank on
/// rank 0, on other ranks as much for those below them in the tree; what RankGroups takes on all.
Task<SharedGroups> share_groups(Transport& transport, const plan::RankLoad& load,
                                const GroupingRequest& request);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_RANK_GROUPING_H_
