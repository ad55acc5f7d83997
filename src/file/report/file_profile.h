// FileProfile: what was done with an open file, on one rank.
#ifndef NACRE_FILE_REPORT_FILE_PROFILE_H_
#define NACRE_FILE_REPORT_FILE_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "collective/profile/profile.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/direction.h"
#include "plan/domains/osts_touched.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::file {

enum class CallKind : std::uint8_t {
  collective_write,
  collective_read,
  independent_write,
  independent_read
};
inline constexpr std::array<std::string_view, 4> call_kind_names{
    "collective_write", "collective_read", "independent_write", "independent_read"};
[[nodiscard]] constexpr plan::Direction direction_of(CallKind kind) {
  const bool reads = kind == CallKind::collective_read || kind == CallKind::independent_read;
  return reads ? plan::Direction::read : plan::Direction::write;
}

/// The collective calls that one plan was run for.
struct PlanUse {
  plan::Direction direction = plan::Direction::read;
  plan::CollectivePlan plan;                                 ///< of the first call
  std::shared_ptr<const plan::RankGroups> groups = nullptr;  ///< likewise; null but in segmentation
  plan::AccessSummary summary;                               ///< of the first call, on rank 0
  std::int64_t saturation_bytes = 0;  ///< CollectiveSettings::saturation(), likewise
  plan::OstsTouched osts = {};        ///< of a striped file, likewise
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  ///< of this rank
  std::int64_t nanoseconds = 0;
};

/// Independent calls are counted by any thread; plans are noted by the collective calls of the
/// file, which come one after the other.
class FileProfile {
 public:
  /// Plans beyond the first so many are only counted.
  static constexpr std::size_t plans_max = 16;

  [[nodiscard]] collective::Profile& of(plan::Direction direction, bool is_collective) {
    const auto reads = static_cast<std::size_t>(direction == plan::Direction::read);
    return profiles_[(is_collective ? 0 : 2) + reads];
  }
  [[nodiscard]] const collective::Profile& of(CallKind kind) const {
    return profiles_[static_cast<std::size_t>(kind)];
  }

  /// Adds a call to those of its plan. Plans that differ only in where in the file they begin and
  /// end are one, so that a program that goes on through a file has one and not thousands. What it
  /// has noted of a plan that is new, till the next call; else null.
  PlanUse* note_plan(const PlanUse& call);
  [[nodiscard]] const std::vector<PlanUse>& plans() const { return plans_; }
  /// Calls of plans that found no room.
  [[nodiscard]] std::int64_t other_plan_calls() const { return other_plan_calls_; }

  std::int64_t open_nanoseconds = 0;
  std::int64_t close_nanoseconds = 0;

 private:
  std::array<collective::Profile, call_kind_names.size()> profiles_;  // by CallKind
  std::vector<PlanUse> plans_;
  std::int64_t other_plan_calls_ = 0;
};

/// Which calls are timed. All of `large_bytes` and more, the first ones, and of the others one in
/// `interval`, which stands for as many.
struct Sampling {
  std::int64_t large_bytes;
  std::int64_t interval;
};
// A look at the clock costs 90 instructions; a small independent write 2,300 in all, with two
// looks; a small collective call some 60,000, with twenty.
inline constexpr Sampling independent_sampling{64 << 10, 128};
inline constexpr Sampling collective_sampling{1 << 20, 16};

/// Counts a call that moves `bytes` bytes of this rank. Returns the weight of its time
/// (collective::Profiler). What is sampled is a matter of a multiplicative hash and not of a fixed
/// step, so that it does not fall in with the program's own, and the same on all ranks that make
/// the same calls.
[[nodiscard]] inline std::int64_t count_call(collective::Profile& profile, std::int64_t bytes,
                                             const Sampling& sampling) {
  constexpr std::int64_t timed_at_first = 32;
  constexpr std::uint32_t golden = 0x9e3779b9U;
  const std::int64_t before = profile.calls.add(1);
  if (bytes >= sampling.large_bytes || before < timed_at_first) return 1;
  const std::uint32_t hash = static_cast<std::uint32_t>(before) * golden;
  return hash <= ~std::uint32_t{0} / sampling.interval ? sampling.interval : 0;
}

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_FILE_PROFILE_H_
