#include "plan/decide/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "machine/machine.h"
#include "plan/algorithms/aggregator_count.h"

namespace nacre::plan {
namespace {

/// Another plan has to be faster than the plan of the rules by this factor: the error of a typical
/// prediction.
constexpr double clearly = 0.9;
/// Plans whose scores differ by less are equally fast; the one with fewer aggregators is chosen,
/// but no fewer than one for each OST.
constexpr double barely = 0.995;
/// Of the time of all resources. Between plans with the same bottleneck the slack of the others
/// decides.
constexpr double weight_of_slack = 0.02;

/// Reads of ranges of a striped file, compared with other reads, took longer than predicted where
/// ranges are as short as the stripes of one round (latency on the emulated flash Lustre: 1.22
/// times the prediction, and 1.05 times by OST); longer ranges did not.
constexpr double caution_in_ranges = 1.04;
/// Reads in steps for groups took longer where ranges took no longer than predicted (60 reads by 16
/// ranks on 4 and 8 nodes of the emulated flash Lustre and ranger: 4 groups compared with 4 ranges,
/// 1.11 to 1.33 times as long; 8 groups compared with 4 ranges, 108 KiB, 1.7 times as long as
/// predicted, and the ranges 0.7 times; in virtual time 1.0).
constexpr double caution_in_groups = 1.5;
/// Other reads for groups took longer than predicted where files have no stripes (bt and block4d of
/// 9 and 16 ranks, file system in memory: 2.0 to 2.7 times the prediction, direct reads 1.3 to 2.1
/// times).
constexpr double caution_in_groups_without_stripes = 1.3;

/// How much slower the storage may be than the figures of a class say. On emulated machines whose
/// OSTs are 100 to 1,000 times slower, reads in virtual time took 1.32 times as long in the mean as
/// by the machines' own files, and 1.73 times by the figures of the class alone.
constexpr double doubt_of_class = 32;

/// Whether `a` takes no longer than `b` even if the machine file is wrong, by up to the factor
/// `doubt`, about all resources that `a` keeps busier. Resources are busy at the same time, but for
/// locks and agreements.
bool is_safe_instead(const PredictedPlan& a, const PredictedPlan& b) {
  constexpr double doubt = 8;
  constexpr double rounding = 1.001;
  const double bottleneck = a.prediction.of(a.prediction.bottleneck());
  double longer = 0;
  for (std::size_t i = 0; i < a.prediction.busy.size(); ++i) {
    const double more = a.prediction.busy[i] - b.prediction.busy[i];
    if (more <= (rounding - 1) * b.prediction.busy[i]) continue;
    const auto resource = static_cast<Resource>(i);
    const bool adds = resource == Resource::locks || resource == Resource::agreement;
    const double beyond = adds ? doubt * more : doubt * a.prediction.busy[i] - bottleneck;
    longer += std::clamp(beyond, 0.0, doubt * more);
  }
  return longer <= std::max(0.0, b.prediction.seconds - a.prediction.seconds);
}

std::int64_t slots_of(const PlanInputs& inputs) {
  const StripedRegion* region = inputs.settings.main_region_of(inputs.summary.bounds);
  return region == nullptr ? 1 : region->slot_count();
}

/// Numbers of aggregators that may be fastest: the powers of two, and multiples and parts of the
/// numbers of OSTs and of nodes.
std::vector<std::int64_t> aggregator_counts(const PlanInputs& inputs) {
  const std::int64_t most = aggregator_count_max(inputs.settings, inputs.participants);
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count <= most; count *= 2) counts.push_back(count);
  for (const std::int64_t base : {slots_of(inputs), std::int64_t{inputs.participants.node_count}}) {
    for (const std::int64_t part : {1, 2, 3, 4}) {
      counts.push_back(base * part);
      counts.push_back(base / part);
    }
  }
  std::erase_if(counts, [&](std::int64_t count) { return count < 1 || count > most; });
  std::ranges::sort(counts);
  const auto repeated = std::ranges::unique(counts);
  counts.erase(repeated.begin(), repeated.end());
  return counts;
}

/// Whether the requests that one node has on the way keep an OST busy.
bool one_node_loads_an_ost(const machine::Machine& machine) {
  if (machine.ost.bandwidth == 0) return true;
  const auto bandwidth = static_cast<double>(machine.ost.bandwidth);
  const auto request = static_cast<double>(machine.rpc_bytes);
  const double turn = static_cast<double>(machine.ost_latency_us) * 1e-6 + request / bandwidth;
  return request * static_cast<double>(machine.rpcs_in_flight) >= turn * bandwidth;
}

bool has_free_domains(const CollectiveSettings& settings) {
  return settings.pattern == DomainPattern::automatic && settings.osts_per_aggregator == 1;
}

/// Whether a range of the file for each of `count` aggregators may be fastest although it is
/// striped: a long contiguous read waits for many OSTs at once, and the stripes of one OST for one
/// after the other. Ranges shorter than a stripe wait for one OST, and share it (latency on the
/// emulated flash Lustre: 0.22 s in ranges of half a stripe, 0.16 s by OST). In steps the nodes
/// have read ahead, but on disks many short requests of all nodes take longer than predicted (steps
/// on the emulated ranger, in virtual time: 0.12 s in ranges of 27 KiB, 0.28 s in ranges of 6 KiB).
bool may_read_ranges(const PlanInputs& inputs, std::int64_t count) {
  const StripedRegion* region = inputs.settings.main_region_of(inputs.summary.bounds);
  if (region == nullptr || region->slot_count() == 1) return false;
  const std::int64_t least =
      inputs.summary.continues_steps() ? region->stripe_size / 4 : region->stripe_size;
  return (count == 1 || inputs.summary.bounds.length / count >= least) &&
         inputs.participants.direction == Direction::read &&
         inputs.settings.machine->ost_latency_us > 0 && has_free_domains(inputs.settings);
}

/// Blocks of stripes that may be fastest if they are dealt in turn: aggregators of several nodes
/// then share OSTs, which pays if one node cannot have enough requests on the way. Only of writes:
/// reads of such blocks took 1.7 times as long as predicted, because they disturb the read-ahead of
/// the nodes.
std::vector<std::int32_t> stripe_blocks(const PlanInputs& inputs) {
  std::vector<std::int32_t> blocks;
  const CollectiveSettings& settings = inputs.settings;
  const bool is_read = inputs.participants.direction == Direction::read;
  if (!has_free_domains(settings) || is_read || one_node_loads_an_ost(*settings.machine)) {
    return blocks;
  }
  for (const std::int32_t stripes : {2, 4}) {
    if (stripes < slots_of(inputs)) blocks.push_back(stripes);
  }
  return blocks;
}

/// One for each OST or node, or as many as a hint says.
std::vector<std::int64_t> counts_in_turn(const PlanInputs& inputs) {
  const std::int64_t most = aggregator_count_max(inputs.settings, inputs.participants);
  std::vector<std::int64_t> counts{slots_of(inputs), inputs.participants.node_count};
  if (inputs.settings.aggregator_count != 0) counts = {0};
  std::erase_if(counts, [&](std::int64_t count) { return count > most; });
  return counts;
}

/// Numbers of groups of ranks that may be fastest: one for each node, OST or rank, or half as many,
/// whose ranges are longer. 16 contiguous reads of 8 nodes took 0.40 s with 4 groups and 0.53 s
/// directly (seg, emulated big-red).
std::vector<std::int64_t> group_counts(const PlanInputs& inputs) {
  const std::int64_t most = aggregator_count_max(inputs.settings, inputs.participants);
  const std::int64_t nodes = inputs.participants.node_count;
  const std::int64_t slots = slots_of(inputs);
  std::vector<std::int64_t> counts{nodes, slots, inputs.participants.rank_count, nodes / 2,
                                   slots / 2};
  std::erase_if(counts, [&](std::int64_t count) { return count < 2 || count > most; });
  return counts;
}

/// A write with an aggregator for each OST may be predicted to be slower by this factor than the
/// chosen one, which has fewer or more.
/// - Fewer: nodes keep written bytes in their caches, and then the links of all aggregators send
///   the bytes of several calls at once, which no prediction of one call shows. 24 writes of
///   0.7 MiB (flash8, emulated flash Lustre) took 0.195 s with 4 aggregators and 0.149 s with 8,
///   one for each OST, predicted to be slower by 1 %. If the fullest link has as many bytes in both
///   plans, nothing is gained (4 OSTs on 3 nodes: 1.1 times as long with 4 aggregators as with 2).
/// - More: the first request is on its OST earlier, because requests are shorter. Disks need longer
///   for many short requests, which the prediction does not contain.
constexpr double barely_of_writes = 0.92;

/// Whether each aggregator has OSTs of its own, and there are no more such sets of OSTs. Of reads
/// that touch fewer stripes, equal ones would differ in their number of aggregators, depending on
/// their place in the file, and OSTs would change their aggregators.
bool has_one_aggregator_per_set(const CollectivePlan& plan, Direction direction) {
  return plan.aggregator_sets > 1 && plan.aggregator_count == plan.aggregator_sets &&
         (direction == Direction::write ||
          (plan.end - plan.origin) / plan.block_bytes > plan.aggregator_sets);
}

/// Of groups on striped files, only those that read in steps are predicted with caution.
bool reads_in_steps(const PredictedPlan& groups) { return groups.caution > 1; }

/// A rank that reads directly or for a group sends a request, and needs a lock, for each OST of its
/// range; an aggregator only for its own OSTs (four ranks on two nodes of a real Lustre,
/// interleaved pieces on 4 OSTs: 104 to 120 requests by direct reads, 50 by OST). Groups that read
/// in steps ask each OST once, and then read ahead.
bool asks_osts_less_often(const CollectivePlan& a, const PredictedPlan& b, Direction direction) {
  if (direction == Direction::write || a.algorithm != Algorithm::two_phase) return false;
  return row_of(b.plan).needs_groups() ? !reads_in_steps(b) : b.plan.algorithm == Algorithm::direct;
}

class Comparison {
 public:
  explicit Comparison(const PlanInputs& inputs) : inputs_(inputs) {}

  void add(Algorithm algorithm, PlanReason reason, std::int64_t aggregator_count = 0,
           DomainChoice domains = {}) {
    CollectivePlan plan = laid_out(Candidate{algorithm, reason}, with(aggregator_count, domains));
    const auto is_same = [&](const PredictedPlan& other) { return other.is_for(plan); };
    if (std::ranges::any_of(plans_, is_same)) return;
    const Prediction prediction = predict(plan, inputs_);
    plans_.push_back({plan, prediction, aggregator_count, domains, caution_in(plan, domains)});
  }

  /// `reason`: of the domains that the rules choose.
  void add_two_phase(PlanReason reason) {
    add(Algorithm::two_phase, reason);
    if (inputs_.settings.aggregator_count == 0) {
      for (const std::int64_t count : aggregator_counts(inputs_)) {
        add(Algorithm::two_phase, reason, count);
        if (may_read_ranges(inputs_, count)) {
          add(Algorithm::two_phase, PlanReason::cost, count, {DomainPattern::even});
        }
      }
    }
    for (const std::int32_t stripes : stripe_blocks(inputs_)) {
      for (const std::int64_t count : counts_in_turn(inputs_)) {
        add(Algorithm::two_phase, PlanReason::cost, count, {DomainPattern::stripes, stripes});
      }
    }
  }

  /// Of plans that are equally fast the first is taken. A read that turns out to be in steps keeps
  /// the groups of static segmentation, and the nodes have begun to read ahead for them.
  void add_segmentation() {
    const bool is_read = inputs_.participants.direction == Direction::read;
    std::array algorithms{Algorithm::dynamic_segmentation, Algorithm::static_segmentation};
    if (is_read) std::ranges::reverse(algorithms);
    for (const Algorithm algorithm : algorithms) {
      for (const std::int64_t count : group_counts(inputs_)) {
        add(algorithm, PlanReason::cost, count);
      }
    }
  }

  std::vector<PredictedPlan> take() { return std::move(plans_); }

 private:
  [[nodiscard]] PlanInputs with(std::int64_t aggregator_count, const DomainChoice& domains) const {
    return {inputs_.summary, inputs_.settings, inputs_.participants,
            nullptr,         aggregator_count, domains};
  }

  [[nodiscard]] double caution_in(const CollectivePlan& plan, const DomainChoice& domains) const {
    if (domains.pattern == DomainPattern::even) return caution_in_ranges;
    const bool reads = inputs_.participants.direction == Direction::read;
    if (!reads || !row_of(plan).needs_groups()) return 1;
    if (inputs_.summary.in_steps) return caution_in_groups;
    return inputs_.settings.stripes == nullptr ? caution_in_groups_without_stripes : 1;
  }

  const PlanInputs& inputs_;
  std::vector<PredictedPlan> plans_;
};

}  // namespace

std::vector<PredictedPlan> compare_plans(const Candidate& rule, const PlanInputs& inputs) {
  Comparison comparison(inputs);
  comparison.add(rule.algorithm, rule.reason);
  const bool is_free = inputs.settings.algorithm == Algorithm::automatic;
  if (is_free) comparison.add(Algorithm::direct, PlanReason::cost);
  if (is_free || inputs.settings.algorithm == Algorithm::two_phase) {
    const bool is_usual = rule.algorithm == Algorithm::two_phase;
    comparison.add_two_phase(is_usual ? rule.reason : PlanReason::cost);
  }
  if (is_free && inputs.settings.aggregator_count == 0) comparison.add_segmentation();
  return comparison.take();
}

Figures figures_of(const CollectiveSettings& settings) {
  const bool is_of_class = settings.machine->is_of_class && settings.stripes != nullptr;
  return is_of_class ? Figures::of_class : Figures::measured;
}

double score_of(const PredictedPlan& one, Figures figures) {
  const auto& busy = one.prediction.busy;
  double score =
      one.prediction.seconds + weight_of_slack * std::accumulate(busy.begin(), busy.end(), 0.0);
  if (figures == Figures::of_class) {
    score = std::sqrt(score * one.prediction.seconds_on_slower_storage(doubt_of_class));
  }
  return one.caution * score;
}

std::size_t choose(const std::vector<PredictedPlan>& plans, Direction direction, Figures figures) {
  const auto score_of = [&](const PredictedPlan& one) { return plan::score_of(one, figures); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    const double factor = is_safe_instead(plans[i], plans[0]) ? barely : clearly;
    const double score = score_of(plans[i]);
    const bool beats_rule = score < factor * score_of(plans[0]);
    if (beats_rule && (best == 0 || score < barely * score_of(plans[best]))) best = i;
  }
  const double factor = direction == Direction::write ? barely_of_writes : barely;
  const auto is_better_spread = [&](const PredictedPlan& one) {
    const PredictedPlan& chosen = plans[best];
    if (!has_one_aggregator_per_set(one.plan, direction)) return false;
    if (one.plan.algorithm != chosen.plan.algorithm) {
      return asks_osts_less_often(one.plan, chosen, direction) && score_of(one) < score_of(chosen);
    }
    const bool may_gain = direction == Direction::read ||
                          one.plan.aggregator_count <= chosen.plan.aggregator_count ||
                          one.prediction.of(Resource::link) < chosen.prediction.of(Resource::link);
    return may_gain && factor * score_of(one) < score_of(chosen);
  };
  const auto spread = std::ranges::find_if(plans, is_better_spread);
  return spread == plans.end() ? best : static_cast<std::size_t>(spread - plans.begin());
}

Choice choice_of(const PredictedPlan& one) {
  return {{one.plan.algorithm, one.plan.reason}, one.aggregator_count, one.domains};
}

CollectivePlan laid_out(const Choice& choice, const PlanInputs& inputs) {
  return laid_out(choice.candidate, {inputs.summary, inputs.settings, inputs.participants,
                                     inputs.groups, choice.aggregator_count, choice.domains});
}

}  // namespace nacre::plan
