#include "collective/decision.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/choice_memory.h"
#include "plan/decide/write_locks.h"

namespace nacre::collective {
namespace {

using plan::Direction;

void fold_summaries(Contribution& into, const Contribution& from) {
  if (from.summary.bytes == 0) return;
  if (into.summary.bytes == 0) into.moved = from.moved;
  const bool into_has_moved = into.moved == Moved::all;
  const bool from_has_moved = from.moved == Moved::all;
  if (into_has_moved && !from_has_moved) {
    plan::AccessSummary nothing;
    nothing.node = into.summary.node;
    into.summary = nothing;
  }
  if (into_has_moved || !from_has_moved) plan::fold(into.summary, from.summary);
  if (into.moved != from.moved) into.moved = Moved::some;
}

/// The summary of a read, with bounds up to the end of the file. Other figures stay: a summary does
/// not tell how many bytes lie before the end. But ranges that do not overlap still do not.
plan::AccessSummary cut_at_end(plan::AccessSummary summary, std::int64_t file_end) {
  const bool is_interleaved = summary.is_interleaved();
  summary.bounds = intersection(summary.bounds, {0, file_end});
  if (summary.bounds.empty()) return {};
  if (!is_interleaved) summary.span_bytes = std::min(summary.span_bytes, summary.bounds.length);
  return summary;
}

}  // namespace

void fold_contributions(std::span<std::byte> into, std::span<const std::byte> from) {
  Contribution a;
  Contribution b;
  std::memcpy(&a, into.data(), sizeof a);
  std::memcpy(&b, from.data(), sizeof b);
  fold_summaries(a, b);
  a.failed_rank = std::min(a.failed_rank, b.failed_rank);
  a.knows_groups = a.knows_groups && b.knows_groups;
  a.keeps_round_memory = a.keeps_round_memory && b.keeps_round_memory;
  a.may_lock = a.may_lock && b.may_lock;
  std::memcpy(into.data(), &a, sizeof a);
}

GroupingRequest grouping_request(const plan::CollectivePlan& plan,
                                 const plan::CollectiveSettings& settings,
                                 const plan::Participants& participants) {
  return {settings.initial_groups,
          plan::group_target(settings, participants, plan::chosen_count(plan))};
}

Decision DecisionMaker::decide(const Contribution& contribution) {
  Decision decision;
  decision.failed_rank = contribution.failed_rank;
  if (decision.failed_rank != no_rank) return decision;
  decision.all_moved = contribution.moved == Moved::all;
  decision.keeps_round_memory = contribution.keeps_round_memory;
  summary_ = contribution.summary;
  find_steps();
  decision.in_steps = summary_.in_steps;
  plan::Participants all = participants_;
  all.may_hold_group_lock = contribution.may_lock;
  if (decision.all_moved) {
    decision.plan = plan::plan_of_moved({summary_, settings_, all}, file_.choices);
    locks_obstacle_ = plan::write_locks_obstacle(decision.plan, settings_, all);
    decision.repeats = is_settled(all);
    return decision;
  }
  decision.plan = decide_for(all);
  const bool exchanges = plan::row_of(decision.plan).exchanges();
  decision.repeats = !exchanges && contribution.moved == Moved::none && is_settled(all);
  const bool ends_in_file = decision.plan.reason == plan::PlanReason::cached;
  if (call_.direction == Direction::read && exchanges && !ends_in_file) {
    decide_within_file(decision, all);
  }
  return decision.failed_rank == no_rank ? with_groups(decision, contribution) : decision;
}

plan::CollectivePlan DecisionMaker::decide_for(const plan::Participants& all) {
  decided_for_ = all;
  plan::CollectivePlan plan = plan::decide(summary_, settings_, all, file_.choices);
  locks_obstacle_ = plan::write_locks_obstacle(plan, settings_, all);
  return plan;
}

/// Decides again for a read with an exchange. Rank 0 finds the end of the file before the exchange,
/// so that no message has to carry it and no rank requests bytes beyond it.
void DecisionMaker::decide_within_file(Decision& decision, const plan::Participants& all) {
  const Result<std::int64_t>& size = file_size();
  if (!size) {
    error_ = size.error();
    decision.failed_rank = 0;
  } else if (*size == 0) {
    decision.plan = {.algorithm = plan::Algorithm::direct, .reason = plan::PlanReason::no_size};
  } else {
    decision.file_end = *size;
    summary_ = cut_at_end(summary_, *size);
    decision.plan = decide_for(all);
  }
}

/// Whether equal calls lead to this one.
void DecisionMaker::find_steps() {
  if (file_.choices == nullptr) return;
  const auto steps = file_.choices->count_steps(summary_, call_.direction);
  const bool are_in_steps = steps.count >= 2 || (steps.count == 1 && !may_be_cached() && goes_on());
  summary_.in_steps = are_in_steps && !steps.are_broken;
  summary_.in_broken_steps = are_in_steps && steps.are_broken;
}

/// Whether aggregators may have the bytes in their caches. The file then has bytes up to the end of
/// the call, and rank 0 need not ask for its size, which may take locks from other nodes.
bool DecisionMaker::may_be_cached() const {
  return settings_.keeps_written && file_.choices->write_of(summary_.bounds) != nullptr;
}

/// Whether the call is a read, and the first or second of several that the file has bytes for.
bool DecisionMaker::goes_on() {
  constexpr std::int64_t several = 5;
  if (call_.direction == Direction::write) return false;
  const Result<std::int64_t>& size = file_size();
  if (!size) return false;
  const std::int64_t calls_before = summary_.bounds.offset == 0 ? 0 : 1;
  const std::int64_t calls_from_here = (*size - summary_.bounds.offset) / summary_.bounds.length;
  return calls_before + calls_from_here >= several;
}

/// Whether the choice for this call will not change.
bool DecisionMaker::is_settled(const plan::Participants& all) const {
  if (file_.choices == nullptr || !call_.learns) return false;
  return file_.choices->is_settled(plan::shape_of(summary_, settings_, all));
}

/// Completes the plan if it can use the groups of the last call.
Decision DecisionMaker::with_groups(Decision decision, const Contribution& contribution) const {
  decision.reuses_groups =
      plan::row_of(decision.plan).needs_groups() && contribution.knows_groups &&
      file_.groups.are_for(grouping_request(decision.plan, settings_, participants_));
  if (decision.reuses_groups) complete_with_groups(decision.plan, *file_.groups.groups());
  return decision;
}

void DecisionMaker::complete_with_groups(plan::CollectivePlan& plan,
                                         const plan::RankGroups& groups) const {
  plan::row_of(plan).lay_out(
      plan, {summary_, settings_, participants_, &groups, plan::chosen_count(plan)});
}

/// The size of the file, or at least the end of the call. Asks the file system once, and not at all
/// if the file had that size before: on Lustre, the size takes a request to each OST whose lock
/// another node has.
const Result<std::int64_t>& DecisionMaker::file_size() {
  if (size_) return *size_;
  if (file_.choices != nullptr && file_.choices->size() >= summary_.bounds.end()) {
    return size_.emplace(file_.choices->size());
  }
  Result<store::StoreFile*> file = file_.source.file();
  if (!file) return size_.emplace(std::move(file).error());
  size_.emplace((*file)->size());
  if (file_.choices != nullptr && *size_) file_.choices->note_size(**size_);
  return *size_;
}

void DecisionMaker::learn(const Outcome& outcome, std::int64_t ticks) const {
  using enum plan::PlanReason;
  const plan::PlanReason reason = outcome.plan.reason;
  const bool is_other_plan = reason == no_memory || reason == no_size || reason == cached;
  if (!decided_for_ || is_other_plan || outcome.error) return;
  if (file_.choices == nullptr || !call_.learns) return;
  if (ticks <= 0) return;  // the processor's counters differ
  const plan::CallShape shape = plan::shape_of(summary_, settings_, *decided_for_);
  file_.choices->learn(shape, static_cast<double>(ticks) * nanoseconds_per_tick() * 1e-9);
}

void DecisionMaker::note_caches(const Outcome& outcome) const {
  if (file_.choices == nullptr) return;
  const plan::CollectivePlan unknown{.algorithm = plan::Algorithm::direct};
  file_.choices->note_caches(call_.direction, summary_.bounds,
                             outcome.error ? unknown : outcome.plan);
}

}  // namespace nacre::collective
