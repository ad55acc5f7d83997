#include "search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "base/json.h"
#include "file/machine/find_machine.h"
#include "file/view.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/call/access_summary.h"
#include "plan/decide/candidates.h"
#include "plan/decide/choice.h"
#include "plan/decide/plan_words.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "sim/files/file_system.h"

namespace nacre::simulate {
namespace {

using plan::Direction;

constexpr double nanoseconds_per_second = 1e9;

struct Candidate {
  std::vector<std::string> hints;
  plan::Prediction prediction;
  double seconds = 0;
};

/// What all ranks access in one collective call.
struct CollectiveCall {
  Direction direction = Direction::write;
  std::vector<plan::FileAccess> files;     // by rank
  std::vector<plan::MemoryAccess> memory;  // by rank
  std::int64_t count = 0;                  // collective calls of the job in this direction
};

const std::vector<sim::CallSeries>& of_direction(const sim::RankCalls& calls, Direction direction) {
  return direction == Direction::write ? calls.writes : calls.reads;
}

/// The number of the series with the most bytes in a call of rank 0; nothing: no collective call.
std::optional<std::size_t> largest_series(const std::vector<sim::CallSeries>& all) {
  std::optional<std::size_t> largest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_collective || all[i].calls.empty()) continue;
    const std::int64_t most = largest ? all[*largest].calls.front().bytes : -1;
    if (all[i].calls.front().bytes > most) largest = i;
  }
  return largest;
}

Result<CollectiveCall> collective_call(const Options& options) {
  const sim::RankCalls first = options.calls_of(0);
  CollectiveCall call;
  std::optional<std::size_t> number = largest_series(first.writes);
  if (!number) {
    call.direction = Direction::read;
    number = largest_series(first.reads);
  }
  if (!number) return Error{ErrorClass::arg, 0, "--search: the job makes no collective call"};
  for (const sim::CallSeries& series : of_direction(first, call.direction)) {
    if (series.is_collective) call.count += std::ssize(series.calls);
  }
  for (int rank = 0; rank < options.ranks(); ++rank) {
    const sim::RankCalls calls = options.calls_of(rank);
    const sim::CallSeries& series = of_direction(calls, call.direction)[*number];
    const sim::CallSeries::Call& one = series.calls.front();
    Result<plan::FileAccess> access =
        file::access_at({.map = series.view}, one.offset_bytes, one.bytes);
    if (!access) return std::move(access).error();
    call.files.push_back(*std::move(access));
    call.memory.push_back({nullptr, series.memory, one.bytes});
  }
  return call;
}

/// Ranks of a node are folded before nodes are.
plan::AccessSummary summary_of(const Options& options, const CollectiveCall& call,
                               const plan::StripeMap& stripes) {
  plan::AccessSummary all;
  std::size_t rank = 0;
  for (int node = 0; node < options.nodes; ++node) {
    plan::AccessSummary of_node;
    for (int i = 0; i < options.ranks_of(node); ++i, ++rank) {
      plan::fold(of_node, plan::summarize(call.files[rank], call.memory[rank], node, &stripes));
    }
    plan::fold(all, of_node);
  }
  return all;
}

Result<plan::StripeMap> stripes_of(std::int32_t count, std::int64_t size, std::int64_t osts) {
  plan::Striping striping{.stripe_size = size, .stripe_count = count};
  for (std::int32_t ost = 0; ost < count; ++ost) striping.objects.push_back({.ost = ost});
  return plan::StripeMap::of(plan::plain_layout(std::move(striping)),
                             checked_cast<std::int32_t>(osts));
}

std::vector<std::int32_t> stripe_counts(const Options& options, const file::Hints& hints) {
  if (!hints.get("striping_factor").empty()) {
    return {checked_cast<std::int32_t>(
        std::clamp<std::int64_t>(hints.number("striping_factor"), 1, options.machine.osts))};
  }
  std::vector<std::int32_t> counts;
  const auto most = checked_cast<std::int32_t>(options.machine.osts);
  for (std::int32_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

/// As OpenFile::collective_settings() of a file on Lustre.
plan::CollectiveSettings settings_of(const machine::Machine& machine,
                                     const store::FileSystemFacts& facts,
                                     const file::AccessSettings& hints, Direction direction,
                                     std::shared_ptr<const plan::StripeMap> stripes) {
  const bool reads = direction == Direction::read;
  plan::CollectiveSettings settings = reads ? hints.collective_read : hints.collective_write;
  settings.alignment_bytes = stripes->regions().front().stripe_size;
  settings.one_writer_per_node = facts.one_writer_per_node;
  if (hints.independent.read_sieving) settings.sieving_bytes = facts.call_cost_bytes;
  if (settings.saturation_bytes == 0) {
    settings.saturation_bytes = reads ? machine.read_saturation : machine.write_saturation;
  }
  if (settings.saturation_bytes == 0) settings.saturation_bytes = facts.saturation_bytes;
  settings.stripes = std::move(stripes);
  settings.machine = std::make_shared<const machine::Machine>(machine);
  return settings;
}

/// The hints that lead to a plan.
std::vector<std::string> hints_of(const plan::CollectivePlan& plan, std::int32_t stripe_count) {
  std::vector<std::string> hints{"striping_factor=" + std::to_string(stripe_count),
                                 "nacre_algorithm=" + std::string(plan::name_of(plan.algorithm))};
  if (!plan::row_of(plan).exchanges()) return hints;
  if (plan.aggregator_count > 0) {
    hints.push_back("cb_nodes=" + std::to_string(plan.aggregator_count));
  }
  if (plan::row_of(plan).domains == plan::DomainsOf::file) {
    hints.push_back("nacre_pattern=" + std::string(plan::name_of(plan.pattern)));
  }
  return hints;
}

std::string json_of(const Candidate& candidate) {
  JsonObject json;
  const auto bottleneck = static_cast<std::size_t>(candidate.prediction.bottleneck());
  json.add("hints",
           json_array(candidate.hints, [](const std::string& hint) { return json_string(hint); }))
      .add_number("nanoseconds", std::llround(candidate.seconds * nanoseconds_per_second))
      .add_text("bottleneck", plan::resource_names[bottleneck]);
  return json.text();
}

}  // namespace

Result<std::string> search(const Options& options) {
  const Result<CollectiveCall> call = collective_call(options);
  if (!call) return call.error();
  if (!sim::has_layouts(options.machine)) {
    return Error{ErrorClass::arg, 0,
                 "--search: striping.count = 0: files of this machine have no stripes to search"};
  }
  file::Hints hints;
  hints.apply(options.hints, file::HintTime::open);
  const store::FileSystemFacts facts = sim::facts_of(options.machine);
  const auto known = file::find_machine({.path = {}, .file_system = facts}, hints);
  if (!known) return known.error();
  const machine::Machine& figures = known->has_value() ? (*known)->machine : options.machine;
  const std::int64_t unit = hints.number("striping_unit");
  const std::int64_t stripe_bytes = unit > 0 ? unit : options.machine.stripe_size;
  const plan::Participants participants{
      .direction = call->direction, .rank_count = options.ranks(), .node_count = options.nodes};
  std::vector<Candidate> found;
  for (const std::int32_t count : stripe_counts(options, hints)) {
    Result<plan::StripeMap> map = stripes_of(count, stripe_bytes, options.machine.osts);
    if (!map) return std::move(map).error();
    const auto stripes = std::make_shared<const plan::StripeMap>(*std::move(map));
    const plan::AccessSummary summary = summary_of(options, *call, *stripes);
    const plan::CollectiveSettings settings =
        settings_of(figures, facts, hints.access_settings(), call->direction, stripes);
    const plan::PlanInputs inputs{summary, settings, participants};
    for (const plan::PredictedPlan& one :
         plan::compare_plans(plan::choose_algorithm(inputs), inputs)) {
      const double seconds = one.prediction.seconds * static_cast<double>(call->count);
      found.push_back({hints_of(one.plan, count), one.prediction, seconds});
    }
  }
  std::ranges::stable_sort(found, {}, &Candidate::seconds);
  return json_array(found, &json_of);
}

}  // namespace nacre::simulate
