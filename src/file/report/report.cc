#include "file/report/report.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <numeric>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/hexadecimal.h"
#include "base/json.h"
#include "collective/agreement/agreements.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/decide.h"
#include "plan/decide/plan_words.h"
#include "plan/nodes/aggregators.h"

namespace nacre::file {
namespace {

using collective::Count;
using collective::Spread;
using plan::Direction;

constexpr int schema = 2;
/// Aggregators that are listed by their rank.
constexpr std::int32_t aggregators_listed_max = 64;
constexpr std::size_t compared_listed_max = 6;
// Of a layout.
constexpr std::size_t regions_listed_max = 16;
constexpr std::size_t osts_listed_max = 64;
/// OSTs whose figures are listed.
constexpr std::int64_t osts_counted_max = 512;

void take_larger(std::span<std::byte> into, std::span<const std::byte> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// Decimal, whatever the program's locale.
std::string seconds(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0";
  constexpr std::int64_t second = 1'000'000'000;
  std::string fraction = std::to_string(nanoseconds % second);
  fraction.insert(0, 9 - fraction.size(), '0');
  return std::to_string(nanoseconds / second) + '.' + fraction;
}

std::string plain(std::int64_t value) { return std::to_string(value); }

std::string plain_int(std::int32_t value) { return std::to_string(value); }

/// Minimum, median, maximum and sum over the ranks, each written by `text`.
std::string spread_json(const Spread& spread, std::string (*text)(std::int64_t)) {
  return JsonObject()
      .add("min", text(spread.min()))
      .add("median", text(spread.median()))
      .add("max", text(spread.max()))
      .add("sum", text(spread.sum()))
      .text();
}

/// The ranks that opened the file at their first access.
std::string late_opens_json(const Spread& nanoseconds) {
  return JsonObject()
      .add_number("ranks", nanoseconds.nonzero_count())
      .add("seconds", spread_json(nanoseconds, &seconds))
      .text();
}

std::string sizes_json(const collective::ProfileDigest& digest) {
  JsonObject sizes;
  for (std::size_t i = 0; i < digest.file_calls.size(); ++i) {
    const std::int64_t min = i == 0 ? 0 : std::int64_t{1} << (i - 1);
    if (digest.file_calls[i] != 0) sizes.add_number(plain(min), digest.file_calls[i]);
  }
  return sizes.text();
}

std::string busiest_json(const collective::ProfileDigest& digest) {
  const auto end = std::ranges::find(digest.busiest, -1, &collective::FileShare::rank);
  return json_array(std::span(digest.busiest.begin(), end), [](const auto& share) {
    return JsonObject()
        .add_number("rank", share.rank)
        .add_number("bytes", share.bytes)
        .add_number("calls", share.calls)
        .add("seconds", seconds(share.nanoseconds))
        .text();
  });
}

std::string nodes_json(const NodeShares& nodes) {
  const auto end = std::ranges::find(nodes.busiest, -1, &NodeShare::rank);
  const auto share_json = [](const NodeShare& share) {
    return JsonObject()
        .add_text("host", share.host.data())
        .add_number("first_rank", share.rank)
        .add_number("bytes", share.bytes)
        .add_number("calls", share.calls)
        .add("seconds", seconds(share.nanoseconds))
        .text();
  };
  return JsonObject()
      .add("bytes", spread_json(nodes.bytes, &plain))
      .add("file_bytes", spread_json(nodes.file_bytes, &plain))
      .add_number("with_file_bytes", nodes.file_bytes.nonzero_count())
      .add("busiest", json_array(std::span(nodes.busiest.begin(), end), share_json))
      .text();
}

std::string first_ranks_json(const collective::RankBands& bands) {
  return json_array(std::views::iota(0, bands.count()),
                    [&](int band) { return plain_int(bands.first_rank(band)); });
}

/// The OSTs that were accessed; of more than osts_counted_max those that took the most time, and
/// how many others there are.
void add_osts(JsonObject& json, const std::vector<collective::OstTally>& by_ost) {
  std::vector<std::int64_t> accessed;
  for (std::int64_t ost = 0; ost < std::ssize(by_ost); ++ost) {
    if (by_ost[static_cast<std::size_t>(ost)].calls > 0) accessed.push_back(ost);
  }
  const auto tally_of = [&](std::int64_t ost) -> const collective::OstTally& {
    return by_ost[static_cast<std::size_t>(ost)];
  };
  if (std::ssize(accessed) > osts_counted_max) {
    json.add_number("other_osts", std::ssize(accessed) - osts_counted_max);
    std::ranges::stable_sort(accessed, std::greater<>(), [&](std::int64_t ost) {
      return std::pair(tally_of(ost).alone_nanoseconds, tally_of(ost).bytes);
    });
    accessed.resize(osts_counted_max);
    std::ranges::sort(accessed);
  }
  const auto tally_json = [&](std::int64_t ost) {
    const collective::OstTally& tally = tally_of(ost);
    return JsonObject()
        .add_number("ost", ost)
        .add_number("bytes", tally.bytes)
        .add_number("calls", tally.calls)
        .add_number("alone_bytes", tally.alone_bytes)
        .add("alone_seconds", seconds(tally.alone_nanoseconds))
        .text();
  };
  json.add("osts", json_array(accessed, tally_json));
}

/// Bytes by band of ranks and by OST; OSTs that nobody accessed are left out.
std::string rank_osts_json(collective::RanksByOst ranks) {
  std::vector<std::int64_t> first_osts;
  for (std::int64_t column = 0; column < ranks.column_count(); ++column) {
    const std::int64_t ost = ranks.first_ost(column);
    const auto accesses = [&](int band) { return ranks.at(band, ost) > 0; };
    if (std::ranges::any_of(std::views::iota(0, ranks.bands.count()), accesses)) {
      first_osts.push_back(ost);
    }
  }
  const auto of_band = [&](int band) {
    return json_array(first_osts, [&](std::int64_t ost) { return plain(ranks.at(band, ost)); });
  };
  return JsonObject()
      .add("first_ranks", first_ranks_json(ranks.bands))
      .add("first_osts", json_array(first_osts, &plain))
      .add("bytes", json_array(std::views::iota(0, ranks.bands.count()), of_band))
      .text();
}

std::string shapes_json(const std::vector<collective::RankShape>& shapes) {
  return json_array(shapes, [](const collective::RankShape& of_rank) {
    const collective::CallShape& shape = of_rank.shape;
    JsonObject json;
    json.add_number("rank", of_rank.rank)
        .add_number("origin", shape.origin)
        .add_number("first_byte", shape.first_byte)
        .add_number("bytes", shape.bytes);
    if (shape.step_bytes) json.add_number("step_bytes", *shape.step_bytes);
    if (!shape.type.empty()) json.add_text("type", hexadecimal(std::span(shape.type)));
    return json.text();
  });
}

std::string kind_json(const ReducedProfile::OfKind& of_kind) {
  const collective::ProfileDigest& digest = of_kind.digest;
  JsonObject phases;
  for (std::size_t i = 0; i < collective::phase_count; ++i) {
    phases.add(collective::phase_names[i], spread_json(digest.nanoseconds[i], &seconds));
  }
  JsonObject json;
  json.add_number("ranks", digest.of(Count::calls).nonzero_count())
      .add("seconds", spread_json(digest.total_nanoseconds, &seconds))
      .add("phases", phases.text())
      .add("file_thread_seconds", spread_json(digest.file_thread_nanoseconds, &seconds))
      .add("file_busy_seconds", spread_json(digest.file_busy_nanoseconds, &seconds));
  for (std::size_t i = 0; i < digest.counts.size(); ++i) {
    json.add(collective::count_names[i], spread_json(digest.counts[i], &plain));
  }
  if (of_kind.nodes) json.add("nodes", nodes_json(*of_kind.nodes));
  json.add("file_call_sizes", sizes_json(digest)).add("busiest", busiest_json(digest));
  add_osts(json, of_kind.osts.by_ost);
  return json.add("rank_osts", rank_osts_json(of_kind.osts.ranks))
      .add("shapes", shapes_json(of_kind.shapes))
      .text();
}

std::string summary_json(const plan::AccessSummary& summary) {
  return JsonObject()
      .add_number("ranks", summary.rank_count)
      .add_number("first_byte", summary.bounds.offset)
      .add_number("end", summary.bounds.end())
      .add_number("bytes", summary.bytes)
      .add_number("pieces", summary.run_count)
      .add_number("span_bytes", summary.span_bytes)
      .text();
}

std::string osts_json(const plan::OstsTouched& osts) {
  return JsonObject()
      .add_number("least", osts.min)
      .add_number("most", osts.max)
      .add_number("aggregators_on_one", osts.domains_on_one)
      .text();
}

std::string fixed(double value) { return seconds(static_cast<std::int64_t>(value * 1e9)); }

/// `is_striped`: the file has stripes, so that plans differ in the OSTs of each aggregator.
std::string predicted_json(const plan::PredictedPlan& one, bool is_striped) {
  JsonObject busy;
  for (std::size_t i = 0; i < plan::resource_names.size(); ++i) {
    if (one.prediction.busy[i] > 0)
      busy.add(plan::resource_names[i], fixed(one.prediction.busy[i]));
  }
  const auto bottleneck = static_cast<std::size_t>(one.prediction.bottleneck());
  JsonObject json;
  json.add_text("algorithm", plan::name_of(one.plan.algorithm))
      .add_number("aggregators", one.plan.aggregator_count);
  if (is_striped && plan::row_of(one.plan).domains == plan::DomainsOf::file) {
    json.add_text("pattern", plan::name_of(one.plan.pattern));
    if (one.plan.pattern == plan::DomainPattern::stripes)
      json.add_number("domain_bytes", one.plan.block_bytes);
  }
  return json.add("seconds", fixed(one.prediction.seconds))
      .add_text("bottleneck", plan::resource_names[bottleneck])
      .add("busy", busy.text())
      .text();
}

/// Adds the predicted time of one of the calls, the plans that were compared, fastest first, and
/// the figures of the machine file that decided.
void add_predictions(JsonObject& json, const PlanUse& use, const plan::NodeMap& nodes) {
  if (!use.predicted) return;
  const auto& [plan, summary, settings] = *use.predicted;
  const plan::Participants all{use.direction, nodes.rank_count(), nodes.node_count()};
  std::vector<plan::PredictedPlan> fastest = plan::compared_plans(summary, settings, all);
  const auto is_used = [&plan](const plan::PredictedPlan& one) { return one.is_for(plan); };
  const auto found = std::ranges::find_if(fastest, is_used);
  if (found == fastest.end()) return;
  plan::PredictedPlan used = *found;
  if (plan.reason == plan::PlanReason::cached) {
    const plan::PlanInputs inputs{summary, settings, all};
    used.prediction = plan::predict(plan, inputs, plan::BytesIn::caches);
  }
  std::ranges::stable_sort(fastest, {},
                           [](const plan::PredictedPlan& one) { return one.prediction.seconds; });
  if (fastest.size() > compared_listed_max) fastest.resize(compared_listed_max);
  const bool is_striped = settings.has_stripes_of(summary.bounds);
  const auto in_json = [&](const plan::PredictedPlan& one) {
    return predicted_json(one, is_striped);
  };
  json.add("predicted", in_json(used)).add("compared", json_array(fastest, in_json));
  const auto figures = plan::deciding_figures(summary, settings, all);
  json.add("decided_by", json_array(figures, &json_string));
}

std::string plan_json(const ReducedProfile::OfPlan& of_plan, const plan::NodeMap& nodes) {
  const plan::CollectivePlan& plan = of_plan.use.plan;
  const plan::ReasonWords words = plan::words_of(plan.reason);
  JsonObject json;
  json.add_text("call", of_plan.use.direction == Direction::read ? "read" : "write")
      .add_text("algorithm", plan::name_of(plan.algorithm))
      .add_text("reason", words.name)
      .add_text("because", words.because)
      .add_text("otherwise", words.otherwise)
      .add_number("calls", of_plan.use.calls)
      .add("bytes", spread_json(of_plan.bytes, &plain))
      .add("seconds", spread_json(of_plan.nanoseconds, &seconds))
      .add("first_call", summary_json(of_plan.use.summary));
  if (of_plan.use.in_steps) json.add("in_steps", "true");
  add_predictions(json, of_plan.use, nodes);
  if (!plan::row_of(plan).exchanges()) return json.text();
  const std::shared_ptr<const plan::RankGroups>& groups = of_plan.use.groups;
  const plan::Aggregators aggregators = plan::aggregators_of(plan, groups, nodes);
  if (groups != nullptr) json.add_number("group_ranks_max", groups->size_max());
  const int listed = std::min(plan.aggregator_count, aggregators_listed_max);
  std::vector<int> ranks(static_cast<std::size_t>(listed));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (int& rank : ranks) rank = aggregators.rank_of(rank);
  const plan::CountWords count_words = plan::words_of(plan.count_reason);
  if (of_plan.use.osts.max > 0) json.add("osts", osts_json(of_plan.use.osts));
  return json.add_number("aggregators", plan.aggregator_count)
      .add_text("aggregators_reason", count_words.name)
      .add_text("aggregators_because", count_words.because)
      .add_number("saturation_bytes", of_plan.use.saturation_bytes)
      .add("aggregator_ranks", json_array(ranks, &plain))
      .add_text("pattern", plan::name_of(plan.pattern))
      .add_text("write_locks", plan::name_of(plan.write_locks))
      .add_number("domain_bytes", plan.block_bytes)
      .add_number("cycle_bytes", plan.cycle_bytes)
      .add_number("cycle_buffers", plan.cycle_buffer_count)
      .add_number("rounds_max", plan.round_count)
      .text();
}

/// Percentages of the intervals, without the intervals at the end in which nothing happened.
std::string shares_json(std::span<const std::int32_t> permille, int rank_count) {
  while (!permille.empty() && permille.back() == 0) permille = permille.first(permille.size() - 1);
  const std::int64_t whole = std::int64_t{10} * rank_count;
  return json_array(permille, [&](std::int32_t sum) { return plain((sum + (whole / 2)) / whole); });
}

/// By activity and band of ranks, without the activities that never happened.
std::string timelines_json(const collective::RankTimelines& ranks) {
  JsonObject percent;
  for (std::size_t activity = 0; activity < collective::activity_names.size(); ++activity) {
    const auto happens = [&](const collective::RankTimelines::Shares& shares) {
      return std::ranges::any_of(shares[activity], [](std::int32_t share) { return share > 0; });
    };
    if (std::ranges::none_of(ranks.permille, happens)) continue;
    const auto of_band = [&](int band) {
      return shares_json(ranks.permille[static_cast<std::size_t>(band)][activity],
                         ranks.bands.rank_count(band));
    };
    percent.add(collective::activity_names[activity],
                json_array(std::views::iota(0, ranks.bands.count()), of_band));
  }
  return JsonObject()
      .add("interval_seconds", seconds(std::int64_t{1} << ranks.interval_log2))
      .add("first_ranks", first_ranks_json(ranks.bands))
      .add("percent", percent.text())
      .text();
}

/// The striped ranges of the file; the end of the last is -1 if it ends with the file.
std::string layout_json(const plan::StripeMap* stripes) {
  if (stripes == nullptr) return "[]";
  const auto regions = stripes->regions();
  const auto listed = regions.first(std::min(regions.size(), regions_listed_max));
  return json_array(listed, [](const plan::StripedRegion& region) {
    const std::int64_t end = region.extent.end();
    const bool are_named = region.osts.front() != plan::unnamed_ost;
    const auto osts = std::span(region.osts).first(are_named ? region.osts.size() : 0);
    JsonObject json;
    json.add_number("begin", region.extent.offset)
        .add_number("end", end == plan::layout_end_of_file ? -1 : end)
        .add_number("stripe_bytes", region.stripe_size)
        .add_number("stripes", region.slot_count())
        .add("osts", json_array(osts.first(std::min(osts.size(), osts_listed_max)), &plain_int));
    if (region.object_size != 0) json.add_number("object_bytes", region.object_size);
    return json.text();
  });
}

constexpr std::array source_names{"default",     "site's file", "user's file",
                                  "environment", "program",     "open file"};  // by HintSource

/// The calls that any rank made, and the longest interval of their timelines; the same on all
/// ranks.
struct CallsMade {
  std::vector<CallKind> kinds;
  std::vector<PlainCall> plain;
  int interval_log2 = 0;
};
collective::Task<CallsMade> agree_on_calls(collective::Transport& transport,
                                           const FileProfile& profile) {
  constexpr std::size_t kind_count = call_kind_names.size();
  constexpr std::size_t call_count = kind_count + plain_call_names.size();
  std::array<std::byte, call_count + 1> used{};
  for (std::size_t i = 0; i < call_count; ++i) {
    const std::int64_t calls = i < kind_count
                                   ? profile.of(static_cast<CallKind>(i)).calls.get()
                                   : profile.of(static_cast<PlainCall>(i - kind_count)).calls.get();
    used[i] = static_cast<std::byte>(calls > 0);
  }
  used.back() = static_cast<std::byte>(profile.timeline.interval_log2());
  auto uniting = collective::all_reduce(transport, used, &take_larger);
  co_await uniting;
  CallsMade made;
  made.interval_log2 = static_cast<int>(used.back());
  for (std::size_t i = 0; i < call_count; ++i) {
    if (used[i] == std::byte{0}) continue;
    if (i < kind_count) {
      made.kinds.push_back(static_cast<CallKind>(i));
    } else {
      made.plain.push_back(static_cast<PlainCall>(i - kind_count));
    }
  }
  co_return made;
}

/// Collective. The figures of each of `kinds` on rank 0; nothing on other ranks.
collective::Task<std::vector<ReducedProfile::OfKind>> reduce_kinds(collective::Transport& transport,
                                                                   const FileProfile& profile,
                                                                   std::vector<CallKind> kinds) {
  std::vector<ReducedProfile::OfKind> reduced;
  std::vector<collective::RankFigures> figures;
  std::vector<NodeFigures> by_node;
  for (const CallKind kind : kinds) {
    figures.push_back(collective::figures_of(profile.of(kind), transport.rank()));
    const collective::FileShare& own = figures.back().share;
    by_node.push_back({profile.of(kind).bytes.get(), own.bytes, own.calls, own.nanoseconds});
  }
  auto digesting = collective::digest_figures(transport, std::move(figures));
  const std::vector<collective::ProfileDigest> digests = co_await digesting;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto reducing_osts = collective::reduce_osts(transport, profile.of(kinds[i]).osts);
    collective::ReducedOsts osts = co_await reducing_osts;
    if (digests.empty()) continue;  // not rank 0
    ReducedProfile::OfKind& of_kind = reduced.emplace_back();
    of_kind.kind = kinds[i];
    of_kind.digest = digests[i];
    of_kind.osts = std::move(osts);
  }
  if (transport.nodes().node_count() > 1) {
    auto reducing_nodes = reduce_node_shares(transport, std::move(by_node));
    const std::vector<NodeShares> nodes = co_await reducing_nodes;
    for (std::size_t i = 0; i < reduced.size(); ++i) reduced[i].nodes = nodes[i];
  }
  std::vector<const collective::AccessShape*> own_shapes;
  own_shapes.reserve(kinds.size());
  for (const CallKind kind : kinds) own_shapes.push_back(&profile.of(kind).shape);
  auto sampling = collective::sample_shapes(transport, own_shapes);
  std::vector<std::vector<collective::RankShape>> shapes = co_await sampling;
  for (std::size_t i = 0; i < reduced.size(); ++i) reduced[i].shapes = std::move(shapes[i]);
  co_return reduced;
}

/// The sum of a count over collective and independent calls.
std::int64_t sum_of(const ReducedProfile& profile, Count count, Direction direction) {
  std::int64_t sum = 0;
  for (const ReducedProfile::OfKind& of_kind : profile.kinds) {
    if (direction_of(of_kind.kind) == direction) sum += of_kind.digest.of(count).sum();
  }
  return sum;
}

}  // namespace

collective::Task<ReducedProfile> reduce_profile(collective::Transport& transport,
                                                FileProfile& profile, std::int64_t close_begin) {
  ReducedProfile reduced;
  auto agreeing = agree_on_calls(transport, profile);
  const CallsMade made = co_await agreeing;
  auto reducing_kinds = reduce_kinds(transport, profile, made.kinds);
  reduced.kinds = co_await reducing_kinds;
  auto reducing_timelines =
      collective::reduce_timelines(transport, profile.timeline, made.interval_log2);
  reduced.timelines = co_await reducing_timelines;
  reduced.open_for_nanoseconds = close_begin - profile.timeline.origin();

  profile.close_nanoseconds = monotonic_nanoseconds() - close_begin;
  // Plans are the same on all ranks, in the same order.
  std::vector<std::int64_t> more{profile.total_nanoseconds(), profile.open_nanoseconds,
                                 profile.late_open_nanoseconds, profile.close_nanoseconds};
  for (const PlainCall call : made.plain) {
    more.push_back(profile.of(call).calls.get());
    more.push_back(profile.of(call).nanoseconds.get());
  }
  for (const PlanUse& use : profile.plans()) {
    more.push_back(use.bytes);
    more.push_back(use.nanoseconds());
  }
  auto spreading = collective::spread_figures(transport, std::move(more));
  const std::vector<Spread> spreads = co_await spreading;
  if (spreads.empty()) co_return reduced;  // not rank 0
  auto next = spreads.begin();
  reduced.total_nanoseconds = *next++;
  reduced.open_nanoseconds = *next++;
  reduced.late_open_nanoseconds = *next++;
  reduced.close_nanoseconds = *next++;
  for (const PlainCall call : made.plain) {
    reduced.plain_calls.push_back({call, next[0], next[1]});
    next += 2;
  }
  for (const PlanUse& use : profile.plans()) {
    reduced.plans.push_back({use, next[0], next[1]});
    next += 2;
  }
  reduced.other_plan_calls = profile.other_plan_calls();
  co_return reduced;
}

std::string set_hints_json(const Hints& hints) {
  const auto words = [](HintSource source) {
    return source_names[static_cast<std::size_t>(source)];
  };
  JsonObject json;
  for (const auto& [name, value] : hints.effective()) {
    if (hints.source(name) == HintSource::built_in) continue;
    JsonObject hint;
    hint.add_text("value", value).add_text("from", words(hints.source(name)));
    if (const HintSource requester = hints.requester(name); requester != HintSource::built_in) {
      hint.add_text("requested_by", words(requester));
    }
    json.add(name, hint.text());
  }
  return json.text();
}

std::string report_line(const ReportedFile& file, const ReducedProfile& profile) {
  JsonObject kinds;
  for (const ReducedProfile::OfKind& of_kind : profile.kinds) {
    kinds.add(call_kind_names[static_cast<std::size_t>(of_kind.kind)], kind_json(of_kind));
  }
  JsonObject plain_calls;
  for (const ReducedProfile::OfPlainCall& of : profile.plain_calls) {
    plain_calls.add(plain_call_names[static_cast<std::size_t>(of.call)],
                    JsonObject()
                        .add("calls", spread_json(of.calls, &plain))
                        .add("seconds", spread_json(of.nanoseconds, &seconds))
                        .text());
  }
  const auto plan = [&](const ReducedProfile::OfPlan& of) { return plan_json(of, file.nodes); };
  JsonObject line;
  line.add_number("schema", schema)
      .add_text("file", file.path)
      .add_text("version", file.mpi.version)
      .add_text("mpi", file.mpi.mpi)
      .add_text("job", file.job)
      .add_text("run", file.run)
      .add("program", json_array(file.program, &json_string))
      .add("hosts", json_array(file.hosts, &json_string))
      .add("world", JsonObject()
                        .add_number("rank", file.mpi.world_rank)
                        .add_number("ranks", file.mpi.world_rank_count)
                        .text())
      .add("opened_at", seconds(file.opened_at_nanoseconds))
      .add_number("closed_at", file.closed_at_nanoseconds / 1'000'000'000)
      .add_number("ranks", file.nodes.rank_count())
      .add_number("nodes", file.nodes.node_count())
      .add_number("calls", sum_of(profile, Count::calls, Direction::read) +
                               sum_of(profile, Count::calls, Direction::write))
      .add_number("bytes_read", sum_of(profile, Count::bytes, Direction::read))
      .add_number("bytes_written", sum_of(profile, Count::bytes, Direction::write))
      .add_text("file_system", file.file_system)
      .add_text("mode", file.mode)
      .add_text("signature", file.signature)
      .add("layout", layout_json(file.stripes.get()))
      .add_text("layout_origin", file.layout_origin)
      .add_text("machine", file.machine)
      .add("hints", set_hints_json(file.hints))
      .add("notes", json_array(file.hints.notes(), &json_string))
      .add("seconds", spread_json(profile.total_nanoseconds, &seconds))
      .add("open_for_seconds", seconds(profile.open_for_nanoseconds))
      .add("timeline", timelines_json(profile.timelines))
      .add("open_seconds", spread_json(profile.open_nanoseconds, &seconds))
      .add("late_opens", late_opens_json(profile.late_open_nanoseconds))
      .add("close_seconds", spread_json(profile.close_nanoseconds, &seconds))
      .add("other_calls", plain_calls.text())
      .add("kinds", kinds.text())
      .add("plans", json_array(profile.plans, plan))
      .add_number("other_plan_calls", profile.other_plan_calls);
  return line.text() + '\n';
}

void warn_of_lost_report(const std::string& file, const Error& error) {
  static std::atomic_flag has_warned;
  if (has_warned.test_and_set()) return;
  std::fprintf(stderr,
               "nacre: the report of %s was not written: %s (errno %d); the program's data are not "
               "affected. Set NACRE_REPORT or the hint nacre_report to a file that rank 0 may "
               "append to. This process reports no further failures of this kind.\n",
               file.c_str(), error.message.c_str(), error.system_errno);
}

void warn_of_open_files(const std::vector<std::string>& files) {
  if (files.empty()) return;
  const std::string others =
      files.size() == 1 ? "" : " and " + std::to_string(files.size() - 1) + " more";
  std::fprintf(stderr,
               "nacre: %s%s: still open at MPI_Finalize, so the report has no line for it. Close "
               "each file with MPI_File_close.\n",
               files.front().c_str(), others.c_str());
}

}  // namespace nacre::file
