// FileProfile: counts and times of the calls on an open file, on one rank.
#ifndef NACRE_FILE_REPORT_FILE_PROFILE_H_
#define NACRE_FILE_REPORT_FILE_PROFILE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "collective/profile/profile.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
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

/// Calls that move no data and may take time. Open and close are not among them.
enum class PlainCall : std::uint8_t {
  set_view,
  set_info,
  set_size,
  preallocate,
  get_size,
  seek_shared,
  get_position_shared,
  set_atomicity,
  sync,
};
inline constexpr std::array<std::string_view, 9> plain_call_names{"set_view",
                                                                  "set_info",
                                                                  "set_size",
                                                                  "preallocate",
                                                                  "get_size",
                                                                  "seek_shared",
                                                                  "get_position_shared",
                                                                  "set_atomicity",
                                                                  "sync"};

/// A collective call with its plan, for FileProfile::note_plan().
struct PlannedCall {
  plan::Direction direction;
  const plan::CollectivePlan& plan;
  bool in_steps;
  const std::shared_ptr<const plan::RankGroups>& groups;  ///< null except in segmentation
  const plan::AccessSummary& summary;                     ///< on rank 0
  std::int64_t saturation_bytes;
  std::int64_t bytes;  ///< of this rank
  std::int64_t ticks;  ///< clock_ticks() of this rank
};

/// A call from which its time is predicted, on rank 0.
struct PredictedCall {
  plan::CollectivePlan plan;
  plan::AccessSummary summary;
  plan::CollectiveSettings settings;
};

/// The collective calls that used one plan.
struct PlanUse {
  plan::Direction direction = plan::Direction::read;
  plan::CollectivePlan plan;  ///< of the first call
  bool in_steps = false;      ///< of all calls: AccessSummary::in_steps
  std::shared_ptr<const plan::RankGroups> groups =
      nullptr;                        ///< of the first call; null except in segmentation
  plan::AccessSummary summary;        ///< of the first call, on rank 0
  std::int64_t saturation_bytes = 0;  ///< CollectiveSettings::saturation() of the first call
  plan::OstsTouched osts = {};        ///< by the first call, on a striped file
  /// Of the last call for which represents_calls(); nullopt on ranks other than 0.
  std::optional<PredictedCall> predicted = {};
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  ///< of this rank
  std::int64_t ticks = 0;  ///< clock_ticks() of this rank

  [[nodiscard]] std::int64_t nanoseconds() const;
  /// Whether `call` counts as one of these calls.
  [[nodiscard]] bool is_of(const PlannedCall& call) const {
    return direction == call.direction && in_steps == call.in_steps &&
           saturation_bytes == call.saturation_bytes &&
           plan::are_equal_elsewhere(plan, call.plan) &&
           (groups == call.groups || have_equal_groups(call));
  }
  /// Whether the plan's time is predicted from the last call: its number is a power of two. Of N
  /// calls the last such call is in the second half, where most bytes of the file are: the head of
  /// a layout that grows is short, and has few OSTs.
  [[nodiscard]] bool represents_calls() const {
    return std::has_single_bit(static_cast<std::uint64_t>(calls));
  }
  void add(const PlannedCall& call) {
    ++calls;
    bytes += call.bytes;
    ticks += call.ticks;
  }

 private:
  [[nodiscard]] bool have_equal_groups(const PlannedCall& call) const {
    return groups != nullptr && call.groups != nullptr && *groups == *call.groups;
  }
};

/// Any thread may count independent calls. Only the collective calls of the file, which run one
/// after the other, record plans.
class FileProfile {
 public:
  /// Calls of further plans are only counted.
  static constexpr std::size_t plans_max = 16;

  FileProfile()
      : profiles_{collective::Profile(collective::collective_sampling),
                  collective::Profile(collective::collective_sampling),
                  collective::Profile(collective::independent_sampling),
                  collective::Profile(collective::independent_sampling)} {
    for (collective::Profile& profile : profiles_) profile.timeline = &timeline;
  }

  [[nodiscard]] collective::Profile& of(plan::Direction direction, bool is_collective) {
    const auto reads = static_cast<std::size_t>(direction == plan::Direction::read);
    return profiles_[(is_collective ? 0 : 2) + reads];
  }
  /// Counts calls of the store for which the OSTs were unknown. `stripes`: of the file at its
  /// close.
  void resolve_osts(const plan::StripeMap& stripes) {
    for (collective::Profile& profile : profiles_) profile.osts.resolve(stripes);
  }
  [[nodiscard]] const collective::Profile& of(CallKind kind) const {
    return profiles_[static_cast<std::size_t>(kind)];
  }

  /// The calls of one kind that move no data.
  struct PlainCalls {
    collective::Tally calls;
    collective::Tally nanoseconds;
  };
  [[nodiscard]] PlainCalls& of(PlainCall call) {
    return plain_calls_[static_cast<std::size_t>(call)];
  }
  [[nodiscard]] const PlainCalls& of(PlainCall call) const {
    return plain_calls_[static_cast<std::size_t>(call)];
  }
  /// The time of this rank in all calls of the file.
  [[nodiscard]] std::int64_t total_nanoseconds() const;

  /// Records a call with its plan. Plans that differ only in their place in the file count as one,
  /// so that a program that proceeds through a file has one plan instead of thousands. Returns the
  /// record of the plan (valid until the next call), or null if there are plans_max others.
  PlanUse* note_plan(const PlannedCall& call) {
    if (last_plan_ == nullptr || !last_plan_->is_of(call)) return note_other_plan(call);
    last_plan_->add(call);
    return last_plan_;
  }
  [[nodiscard]] const std::vector<PlanUse>& plans() const { return plans_; }
  /// Calls with plans beyond plans_max.
  [[nodiscard]] std::int64_t other_plan_calls() const { return other_plan_calls_; }

  collective::Timeline timeline;  ///< since the open; neither open nor close is part of it
  std::int64_t open_nanoseconds = 0;
  /// Of the system's open that a rank other than 0 makes at its first access; part of that access.
  std::int64_t late_open_nanoseconds = 0;
  std::int64_t close_nanoseconds = 0;

 private:
  PlanUse* note_other_plan(const PlannedCall& call);

  std::array<collective::Profile, call_kind_names.size()> profiles_;  // by CallKind
  std::array<PlainCalls, plain_call_names.size()> plain_calls_;       // by PlainCall
  std::vector<PlanUse> plans_;
  PlanUse* last_plan_ = nullptr;  // in plans_; most calls use the plan of the call before
  std::int64_t other_plan_calls_ = 0;
};

/// Counts a call that moves no data, and measures the time of its lifetime.
class PlainCallClock {
 public:
  PlainCallClock(FileProfile& profile, PlainCall call)
      : calls_(profile.of(call)), timeline_(profile.timeline) {}
  ~PlainCallClock() {
    const std::int64_t end = monotonic_nanoseconds();
    calls_.calls.add(1);
    calls_.nanoseconds.add(end - begin_);
    timeline_.add(collective::Activity::other, begin_, end);
  }
  PlainCallClock(const PlainCallClock&) = delete;
  PlainCallClock& operator=(const PlainCallClock&) = delete;

 private:
  FileProfile::PlainCalls& calls_;
  collective::Timeline& timeline_;
  std::int64_t begin_ = monotonic_nanoseconds();
};

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_FILE_PROFILE_H_
