#include "plan/decide/choice_memory.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace nacre::plan {
namespace {

/// Plans that are kept beside the chosen one: as many of the fastest, and of those that are the
/// fastest if the figures are those of another machine.
constexpr std::size_t alternatives_max = 6;
/// Calls after which the time of a plan is known.
constexpr int calls_to_judge = 4;
/// The same for reads in steps: the nodes read ahead from the third one on, and take most locks in
/// the first ones.
constexpr int reads_in_steps_to_judge = 8;
/// A prediction is wrong if calls take longer by this factor. Smaller errors are those of the
/// model.
constexpr double far_off = 2;
/// Beyond this factor the model misses the cause, so that no other prediction can be trusted
/// either.
constexpr double beyond_reason = 8;
/// Beyond this factor the figures are those of another machine. The rules need none. (Reads of
/// steps of 64 MiB on the emulated ranger, in virtual time and with the figures of the class
/// lustre, whose OSTs are 128 times as fast: 16.9 s directly, and 5.3 s after such a change.)
constexpr double another_machine = 32;
/// Another plan has to be faster than the observed time by this factor.
constexpr double worthwhile = 0.7;
/// A new plan is left after its second call or later if its shortest call but for the first takes
/// longer than that of the plan before by this factor.
constexpr double clearly_slower = 1.25;
/// Seconds that the first call of a new plan may take beyond `far_off`: it sets up views and
/// memory.
constexpr double setup = 2e-3;
/// The score of another plan than that of a similar call has to be lower by this factor.
constexpr double clearly = 0.85;
/// Less is enough where steps begin, because the nodes do not read ahead yet.
constexpr double slightly = 0.98;
constexpr double shortest = 1e-9;  // seconds

bool are_reads_in_steps(const CallShape& shape) {
  return shape.participants.direction == Direction::read && shape.summary.continues_steps();
}

int calls_to_judge_of(const CallShape& shape) {
  return are_reads_in_steps(shape) ? reads_in_steps_to_judge : calls_to_judge;
}

}  // namespace

CallShape shape_of(const AccessSummary& summary, const CollectiveSettings& settings,
                   const Participants& participants) {
  CallShape shape{.summary = summary,
                  .participants = participants,
                  .stripes = settings.stripes,
                  .region = settings.main_region_of(summary.bounds)};
  shape.summary.bounds.offset = 0;
  shape.summary.node_bounds.offset = 0;
  if (summary.slots != 0) shape.nodes_per_slot = std::llround(4 * summary.nodes_per_slot());
  shape.summary.slots = 0;
  shape.summary.node_slots = 0;
  shape.summary.slots_of_others = 0;
  shape.participants.may_hold_group_lock = false;  // it changes the locks, not the plan
  return shape;
}

const Choice* ChoiceMemory::find(const CallShape& shape) {
  Entry* const entry = entry_of(shape);
  if (entry == nullptr) return nullptr;
  entry->used = ++uses_;
  return &entry->trials[entry->current].choice;
}

std::size_t ChoiceMemory::steadied(const CallShape& shape, std::vector<PredictedPlan>& plans,
                                   std::size_t chosen, Figures figures) const {
  const Entry* const like = last_like(shape);
  if (like == nullptr) return chosen;
  const Choice& usual = like->trials[like->current].choice;
  const auto is_usual = [&](const PredictedPlan& one) {
    return one.plan.algorithm == usual.candidate.algorithm &&
           one.aggregator_count == usual.aggregator_count &&
           one.domains.pattern == usual.domains.pattern &&
           one.domains.stripes == usual.domains.stripes;
  };
  const auto found = std::ranges::find_if(plans, is_usual);
  if (found == plans.end()) return chosen;
  const bool was_changed = usual.candidate.reason == PlanReason::observed;
  if (was_changed) found->plan.reason = PlanReason::observed;
  const bool begins_steps =
      shape.summary.continues_steps() && !like->shape.summary.continues_steps();
  const bool is_close = (begins_steps ? slightly : clearly) * score_of(*found, figures) <
                        score_of(plans[chosen], figures);
  return was_changed || is_close ? static_cast<std::size_t>(found - plans.begin()) : chosen;
}

void ChoiceMemory::keep(const CallShape& shape, const std::vector<PredictedPlan>& plans,
                        std::size_t chosen) {
  Entry entry{.shape = shape};
  const auto add_trial = [&](const PredictedPlan& one) {
    entry.trials.push_back({.choice = choice_of(one), .prediction = one.prediction});
  };
  add_trial(plans[chosen]);
  std::vector<const PredictedPlan*> others;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i != chosen) others.push_back(&plans[i]);
  }
  const auto add_fastest = [&](auto seconds) {
    const std::size_t count = std::min(others.size(), alternatives_max);
    std::ranges::partial_sort(others, others.begin() + static_cast<std::ptrdiff_t>(count), {},
                              seconds);
    for (std::size_t i = 0; i < count; ++i) add_trial(*others[i]);
    others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto seconds = [](const PredictedPlan* one) { return one->prediction.seconds; };
  add_fastest(seconds);
  add_fastest([](const PredictedPlan* one) {
    return one->prediction.seconds_on_slower_storage(another_machine);
  });
  const Algorithm usual = plans.front().plan.algorithm;
  const auto find_usual = [&] {
    return std::ranges::find(entry.trials, usual,
                             [](const Trial& one) { return one.choice.candidate.algorithm; });
  };
  if (find_usual() == entry.trials.end()) {
    const auto is_usual = [&](const PredictedPlan* one) { return one->plan.algorithm == usual; };
    auto of_rules = others | std::views::filter(is_usual);
    add_trial(**std::ranges::min_element(of_rules, {}, seconds));
  }
  entry.by_rules = static_cast<std::size_t>(find_usual() - entry.trials.begin());
  add(std::move(entry));
}

void ChoiceMemory::keep(const CallShape& shape, const Choice& choice) {
  add({.shape = shape, .trials = {{.choice = choice}}, .is_settled = true});
}

void ChoiceMemory::learn(const CallShape& shape, double seconds) {
  Entry* const entry = entry_of(shape);
  if (entry != nullptr && !entry->is_settled) entry->learn(seconds);
}

void ChoiceMemory::Entry::learn(double seconds) {
  Trial& trial = trials[current];
  ++trial.calls;
  const bool is_first = trial.calls == 1;  // it sets up views and memory
  if (!is_first) {
    trial.sum += seconds;
    const double shortest_call = trial.calls == 2 ? seconds : std::min(trial.observed, seconds);
    trial.observed = are_reads_in_steps(shape) ? trial.sum / (trial.calls - 1) : shortest_call;
  }
  if (current != before) return learn_of_changed(seconds);
  if (is_first) return;
  const double factor = trial.observed / std::max(trial.prediction.seconds, shortest);
  const bool is_of_other_machine = factor >= another_machine;
  if (trial.calls < (is_of_other_machine ? calls_to_judge : calls_to_judge_of(shape))) return;
  std::size_t better = current;
  if (is_of_other_machine) {
    better = on_slower_storage();
  } else if (factor > far_off && factor < beyond_reason) {
    better = corrected(factor);
  }
  if (better == current) return settle_on(current);
  current = better;
  trials[current].choice.candidate.reason = PlanReason::observed;
}

/// Returns to the plan before if one call is far slower; if the shortest call but for the first is
/// clearly slower, from the second call on; or if it is slower at all after `calls` calls. Reads in
/// steps take no time if the nodes have read ahead, and then long, so that only several of them
/// tell.
void ChoiceMemory::Entry::learn_of_changed(double seconds) {
  const Trial& trial = trials[current];
  const double usual = trials[before].observed;
  const int calls = calls_to_judge_of(shape);
  if (are_reads_in_steps(shape)) {
    if (trial.sum > far_off * usual * calls) return settle_on(before);
    if (trial.calls == calls) settle_on(trial.observed > usual ? before : current);
    return;
  }
  const double slack = trial.calls == 1 ? setup : 0;
  if (seconds > far_off * usual + slack) return settle_on(before);
  if (trial.calls == calls) return settle_on(trial.observed > usual ? before : current);
  if (trial.calls > 1 && trial.observed > clearly_slower * usual) settle_on(before);
}

void ChoiceMemory::Entry::settle_on(std::size_t trial) {
  trials = {trials[trial]};
  current = before = by_rules = 0;
  is_settled = true;
}

/// The plan that is clearly the fastest if the bottleneck is slower by `factor`; otherwise the
/// current one.
std::size_t ChoiceMemory::Entry::corrected(double factor) const {
  const Trial& trial = trials[current];
  const Resource slow = trial.prediction.bottleneck();
  const auto seconds_of = [&](const Trial& one) {
    return std::max(one.prediction.seconds, factor * one.prediction.of(slow));
  };
  const auto fastest = std::ranges::min_element(trials, {}, seconds_of);
  const bool is_worthwhile = seconds_of(*fastest) <= worthwhile * trial.observed;
  return is_worthwhile ? static_cast<std::size_t>(fastest - trials.begin()) : current;
}

/// The plan that is clearly the fastest if the storage is so slow that the current plan takes as
/// long as it was seen to. If there is none, that of the rules; reads in steps keep theirs, because
/// a change ends the read-ahead.
std::size_t ChoiceMemory::Entry::on_slower_storage() const {
  const Trial& trial = trials[current];
  const bool uses_storage = trial.prediction.of_storage() > shortest;
  const double factor = uses_storage ? trial.observed / trial.prediction.of_storage() : 0;
  const auto seconds_of = [&](const Trial& one) {
    return one.prediction.seconds_on_slower_storage(factor);
  };
  const auto fastest = std::ranges::min_element(trials, {}, seconds_of);
  const bool is_worthwhile = seconds_of(*fastest) <= worthwhile * trial.observed;
  if (uses_storage && is_worthwhile) return static_cast<std::size_t>(fastest - trials.begin());
  return are_reads_in_steps(shape) ? current : by_rules;
}

bool ChoiceMemory::is_settled(const CallShape& shape) {
  const Entry* const entry = entry_of(shape);
  return entry != nullptr && entry->is_settled;
}

void ChoiceMemory::note_caches(Direction direction, const Extent& bounds,
                               const CollectivePlan& plan) {
  if (plan.reason == PlanReason::cached || plan.reason == PlanReason::no_data) return;
  // Whoever accesses bytes otherwise takes the locks, and so empties the caches.
  std::erase_if(writes_,
                [&](const Written& one) { return !intersection(one.bounds, bounds).empty(); });
  const AlgorithmRow& row = row_of(plan);
  const bool have_own_parts = row.domains == DomainsOf::file && row.order == RoundOrder::file;
  // The cache that a group lock covers is emptied when the lock is released.
  if (direction == Direction::read || !have_own_parts || plan.write_locks == WriteLocks::group) {
    return;
  }
  if (writes_.size() == writes_max) writes_.erase(writes_.begin());
  writes_.push_back({bounds, plan});
}

const CollectivePlan* ChoiceMemory::write_of(const Extent& bounds) const {
  const auto found = std::ranges::find(writes_, bounds, &Written::bounds);
  return found == writes_.end() ? nullptr : &found->plan;
}

ChoiceMemory::Steps ChoiceMemory::count_steps(const AccessSummary& summary, Direction direction) {
  const bool are_broken = std::exchange(are_steps_broken_, false);
  const Extent now = summary.rank_count > 0 ? summary.bounds : Extent{};
  const Extent before = std::exchange(last_call_, now);
  const bool follows = std::exchange(last_direction_, direction) == direction;
  const bool is_equal = follows && !now.empty() && before.length == now.length;
  const std::int64_t step = is_equal ? now.offset - before.offset : 0;
  const bool is_repeated = std::exchange(last_step_, step) == step;
  const bool is_at_start = !now.empty() && now.offset == 0;
  if (!follows && direction == Direction::read && is_at_start && !are_broken) return {1, false};
  if (step <= 0) return {0, are_broken};
  return {is_repeated ? 2 : 1, are_broken};
}

ChoiceMemory::Entry* ChoiceMemory::entry_of(const CallShape& shape) {
  const auto found = std::ranges::find(entries_, shape, &Entry::shape);
  return found == entries_.end() ? nullptr : &*found;
}

const ChoiceMemory::Entry* ChoiceMemory::last_like(const CallShape& shape) const {
  const auto is_on_same_stripes = [&](const Entry& one) {
    return one.shape.stripes == shape.stripes && one.shape.region == shape.region;
  };
  const auto has_same_pieces = [&](const Entry& one) {
    const AccessSummary& a = one.shape.summary;
    const AccessSummary& b = shape.summary;
    return one.shape.participants == shape.participants && a.bytes == b.bytes &&
           a.run_count == b.run_count && a.memory_run_count == b.memory_run_count &&
           a.rank_count == b.rank_count && (b.continues_steps() || !a.continues_steps()) &&
           (b.continues_steps() || is_on_same_stripes(one));
  };
  const Entry* last = nullptr;
  for (const Entry& one : entries_) {
    if ((last == nullptr || one.added > last->added) && has_same_pieces(one)) last = &one;
  }
  return last;
}

void ChoiceMemory::add(Entry entry) {
  entry.added = entry.used = ++uses_;
  if (entries_.size() < entries_max) {
    entries_.push_back(std::move(entry));
  } else {
    *std::ranges::min_element(entries_, {}, &Entry::used) = std::move(entry);
  }
}

}  // namespace nacre::plan
