// The decision on a collective call: what each rank contributes to it, and what rank 0 makes of it.
#ifndef NACRE_COLLECTIVE_DECISION_H_
#define NACRE_COLLECTIVE_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "collective/agreement/rank_grouping.h"
#include "collective/collective_file.h"
#include "collective/engine.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/decide/decide.h"

namespace nacre::collective {

inline constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Which ranks with bytes have moved them before the decision.
enum class Moved : std::uint8_t { none, some, all };

/// The input of each rank to the decision.
struct Contribution {
  /// Of the bytes to move; if all ranks have moved theirs already, of those.
  plan::AccessSummary summary;
  std::int32_t failed_rank = no_rank;  ///< the lowest rank that failed
  Moved moved = Moved::none;
  // Of this rank, then of all ranks:
  bool knows_groups = false;        ///< RankGroupCache::knows()
  bool keeps_round_memory = false;  ///< NodeRounds::are_kept()
  bool may_lock = false;            ///< CollectiveCall::group_lock is set
};

/// A Combine of Contributions.
void fold_contributions(std::span<std::byte> into, std::span<const std::byte> from);

/// Made by rank 0, broadcast to all ranks.
struct Decision {
  plan::CollectivePlan plan;
  std::int32_t failed_rank = no_rank;
  bool all_moved : 1 = false;           ///< all ranks have moved their bytes already
  bool repeats : 1 = false;             ///< equal calls will be direct too
  bool reuses_groups : 1 = false;       ///< the plan uses the groups of the last call
  bool keeps_round_memory : 1 = false;  ///< of all ranks
  bool in_steps : 1 = false;            ///< Outcome::in_steps
  std::int64_t file_end = no_end;       ///< reads stop here
};

/// What groups the ranks of a plan of segmentation form.
[[nodiscard]] GroupingRequest grouping_request(const plan::CollectivePlan& plan,
                                               const plan::CollectiveSettings& settings,
                                               const plan::Participants& participants);

/// On rank 0, for one call.
class DecisionMaker {
 public:
  /// The arguments must outlive this.
  DecisionMaker(const CollectiveFile& file, const CollectiveCall& call,
                const plan::CollectiveSettings& settings, const plan::Participants& participants)
      : file_(file), call_(call), settings_(settings), participants_(participants) {}

  /// `contribution`: of all ranks. The decision names rank 0 as failed if it cannot read the size
  /// of the file: error() says why.
  [[nodiscard]] Decision decide(const Contribution& contribution);
  [[nodiscard]] const Status& error() const { return error_; }
  /// Of all ranks; of a read with an exchange, with bounds up to the end of the file.
  [[nodiscard]] const plan::AccessSummary& summary() const { return summary_; }
  /// plan::write_locks_obstacle()
  [[nodiscard]] std::string_view locks_obstacle() const { return locks_obstacle_; }

  /// Completes a plan of segmentation.
  void complete_with_groups(plan::CollectivePlan& plan, const plan::RankGroups& groups) const;
  /// Remembers how long the plan took, in clock_ticks().
  void learn(const Outcome& outcome, std::int64_t ticks) const;
  /// Remembers whose caches have the bytes. After an error nobody knows.
  void note_caches(const Outcome& outcome) const;

 private:
  plan::CollectivePlan decide_for(const plan::Participants& all);
  void decide_within_file(Decision& decision, const plan::Participants& all);
  void find_steps();
  [[nodiscard]] bool may_be_cached() const;
  [[nodiscard]] bool goes_on();
  [[nodiscard]] bool is_settled(const plan::Participants& all) const;
  [[nodiscard]] Decision with_groups(Decision decision, const Contribution& contribution) const;
  const Result<std::int64_t>& file_size();

  const CollectiveFile& file_;
  const CollectiveCall& call_;
  const plan::CollectiveSettings& settings_;
  plan::Participants participants_;
  plan::AccessSummary summary_;
  std::string_view locks_obstacle_;
  Status error_;
  std::optional<plan::Participants> decided_for_;
  std::optional<Result<std::int64_t>> size_;  // if the plan depends on it
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DECISION_H_
