#include "collective/engine.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/bytes_of.h"
#include "base/clock.h"
#include "collective/agreement/agreements.h"
#include "collective/agreement/rank_grouping.h"
#include "collective/exchange/exchange.h"
#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/segment.h"
#include "plan/call/access_summary.h"
#include "plan/decide/candidates.h"
#include "plan/decide/decide.h"
#include "plan/decide/write_locks.h"
#include "plan/nodes/aggregators.h"

namespace nacre::collective {
namespace {

using plan::Direction;

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Of an aggregator. It requests the locks of further blocks when it writes them.
constexpr std::int32_t blocks_locked_ahead_max = 1000;
constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

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

/// The part of `access` before `file_end`.
void cut(plan::FileAccess& access, std::int64_t file_end) {
  if (file_end == no_end || access.byte_count == 0) return;
  const std::int64_t before = plan::bytes_before(access.view, file_end) - access.first_byte;
  access.byte_count = std::clamp<std::int64_t>(before, 0, access.byte_count);
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

class Engine {
 public:
  Engine(Transport& transport, const CollectiveFile& file, CollectiveCall& call,
         const plan::CollectiveSettings& settings)
      : transport_(transport), file_(file), call_(call), settings_(settings) {}

  Task<Outcome> run() {
    enter(Phase::plan);
    const Transport::Sent sent_before = transport_.sent();
    plan::AccessSummary own;
    if (call_.refusal) {
      call_.file.byte_count = 0;
      local_ = *call_.refusal;
    } else {
      own = plan::summarize(call_.file, call_.memory, node(), settings_.stripes.get());
    }
    const bool expects_direct = call_.learns && file_.repeated.is(call_.direction, call_.file);
    if (expects_direct || plan::moves_by_itself({own, settings_, participants()})) {
      moved_ = true;
      local_ = access_directly();
      enter(Phase::plan);
    }
    asked_bytes_ = call_.file.byte_count;
    const Decision decision = co_await agree_on_plan(own);
    outcome_.plan = decision.plan;
    outcome_.in_steps = decision.in_steps;
    expect_next(decision.repeats);
    // All ranks have arrived, so that late ranks do not count.
    const std::int64_t begin = clock_ticks();
    if (decision.failed_rank != no_rank) {
      enter(Phase::agreement);
      Task<Error> spread = broadcast_error(transport_, std::move(local_), decision.failed_rank);
      outcome_.error = co_await spread;
    } else if (plan::row_of(decision.plan).exchanges()) {
      if (moved_) {
        call_.file.byte_count = 0;
      } else {
        cut(call_.file, decision.file_end);
      }
      if (plan::row_of(decision.plan).needs_groups()) {
        if (!decision.reuses_groups) co_await agree_on_groups();
        outcome_.groups = file_.groups.groups();
      }
      co_await run_exchange(decision.keeps_round_memory);
    } else if (!decision.all_moved && decision.plan.reason != plan::PlanReason::no_data) {
      co_await run_direct();
    }
    learn(clock_ticks() - begin);
    if (decision.failed_rank == no_rank) note_caches();
    count_messages(sent_before);
    co_return std::move(outcome_);
  }

 private:
  void enter(Phase phase) { file_.profiler.enter(phase); }

  void expect_next(bool repeats) {
    if (repeats) {
      file_.repeated.keep(call_.direction, call_.file);
    } else {
      file_.repeated.forget();
    }
  }

  /// Rank 0 remembers how long the plan took, in clock_ticks().
  void learn(std::int64_t ticks) {
    using enum plan::PlanReason;
    const plan::PlanReason reason = outcome_.plan.reason;
    const bool is_other_plan = reason == no_memory || reason == no_size || reason == cached;
    if (!decided_for_ || is_other_plan || outcome_.error) return;
    if (file_.choices == nullptr || !call_.learns) return;
    if (ticks <= 0) return;  // the processor's counters differ
    const plan::CallShape shape = plan::shape_of(outcome_.summary, settings_, *decided_for_);
    file_.choices->learn(shape, static_cast<double>(ticks) * nanoseconds_per_tick() * 1e-9);
  }

  /// Counts the messages since `before`.
  void count_messages(const Transport::Sent& before) {
    file_.profiler.profile().messages.add(transport_.sent().messages - before.messages);
    file_.profiler.profile().message_bytes.add(transport_.sent().bytes - before.bytes);
  }

  /// Rank 0 remembers whose caches have the bytes. After an error nobody knows.
  void note_caches() {
    if (file_.choices == nullptr || transport_.rank() != 0) return;
    const plan::CollectivePlan unknown{.algorithm = plan::Algorithm::direct};
    file_.choices->note_caches(call_.direction, outcome_.summary.bounds,
                               outcome_.error ? unknown : outcome_.plan);
  }

  plan::CollectivePlan decide_for(const plan::Participants& all) {
    decided_for_ = all;
    plan::CollectivePlan plan = plan::decide(outcome_.summary, settings_, all, file_.choices);
    outcome_.locks_obstacle = plan::write_locks_obstacle(plan, settings_, all);
    return plan;
  }

  Task<Decision> agree_on_plan(const plan::AccessSummary& own) {
    Contribution contribution;
    if (!local_.ok()) contribution.failed_rank = transport_.rank();
    contribution.summary = own;
    contribution.moved = moved_ ? Moved::all : Moved::none;
    contribution.knows_groups = file_.groups.knows(call_.file);
    contribution.keeps_round_memory = file_.rounds.are_kept();
    contribution.may_lock = call_.group_lock.has_value();
    const std::span<std::byte> contribution_bytes = bytes_of(contribution);
    co_await reduce(transport_, contribution_bytes, &fold_contributions);
    Decision decision;
    if (transport_.rank() == 0) {
      decision = decide(contribution);
    }
    const std::span<std::byte> decision_bytes = bytes_of(decision);
    co_await broadcast(transport_, decision_bytes, 0);
    co_return decision;
  }

  Decision decide(const Contribution& contribution) {
    Decision decision;
    decision.failed_rank = contribution.failed_rank;
    if (decision.failed_rank != no_rank) return decision;
    decision.all_moved = contribution.moved == Moved::all;
    decision.keeps_round_memory = contribution.keeps_round_memory;
    outcome_.summary = contribution.summary;
    plan::AccessSummary& summary = outcome_.summary;
    if (file_.choices != nullptr) {
      const auto steps = file_.choices->count_steps(summary, call_.direction);
      const bool are_in_steps =
          steps.count >= 2 || (steps.count == 1 && !may_be_cached(summary) && goes_on(summary));
      summary.in_steps = are_in_steps && !steps.are_broken;
      summary.in_broken_steps = are_in_steps && steps.are_broken;
    }
    decision.in_steps = summary.in_steps;
    plan::Participants all = participants();
    all.may_hold_group_lock = contribution.may_lock;
    if (decision.all_moved) {
      decision.plan = plan::plan_of_moved({outcome_.summary, settings_, all}, file_.choices);
      outcome_.locks_obstacle = plan::write_locks_obstacle(decision.plan, settings_, all);
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

  /// Decides again for a read with an exchange. Rank 0 finds the end of the file before the
  /// exchange, so that no message has to carry it and no rank requests bytes beyond it.
  void decide_within_file(Decision& decision, const plan::Participants& all) {
    const Result<std::int64_t>& size = file_size();
    if (!size) {
      local_ = size.error();
      decision.failed_rank = 0;
    } else if (*size == 0) {
      decision.plan = {.algorithm = plan::Algorithm::direct, .reason = plan::PlanReason::no_size};
    } else {
      decision.file_end = *size;
      outcome_.summary = cut_at_end(outcome_.summary, *size);
      decision.plan = decide_for(all);
    }
  }

  /// Whether aggregators may have the bytes in their caches. The file then has bytes up to the end
  /// of the call, and rank 0 need not ask for its size, which may take locks from other nodes.
  [[nodiscard]] bool may_be_cached(const plan::AccessSummary& summary) const {
    return settings_.keeps_written && file_.choices->write_of(summary.bounds) != nullptr;
  }

  /// Whether the call is a read, and the first or second of several that the file has bytes for.
  [[nodiscard]] bool goes_on(const plan::AccessSummary& summary) {
    constexpr std::int64_t several = 5;
    if (call_.direction == Direction::write) return false;
    const Result<std::int64_t>& size = file_size();
    if (!size) return false;
    const std::int64_t calls_before = summary.bounds.offset == 0 ? 0 : 1;
    const std::int64_t calls_from_here = (*size - summary.bounds.offset) / summary.bounds.length;
    return calls_before + calls_from_here >= several;
  }

  /// Whether the choice for this call will not change.
  [[nodiscard]] bool is_settled(const plan::Participants& all) const {
    if (file_.choices == nullptr || !call_.learns) return false;
    return file_.choices->is_settled(plan::shape_of(outcome_.summary, settings_, all));
  }

  /// Completes the plan if it can use the groups of the last call.
  Decision with_groups(Decision decision, const Contribution& contribution) {
    decision.reuses_groups = plan::row_of(decision.plan).needs_groups() &&
                             contribution.knows_groups &&
                             file_.groups.are_for(grouping_request(decision.plan));
    if (decision.reuses_groups) {
      complete_with_groups(decision.plan, *file_.groups.groups());
    }
    return decision;
  }

  void complete_with_groups(plan::CollectivePlan& plan, const plan::RankGroups& groups) const {
    plan::row_of(plan).lay_out(
        plan, {outcome_.summary, settings_, participants(), &groups, plan::chosen_count(plan)});
  }

  [[nodiscard]] int node() const { return transport_.nodes().node_of(transport_.rank()); }

  [[nodiscard]] plan::Participants participants() const {
    return {call_.direction, transport_.size(), transport_.nodes().node_count()};
  }

  /// The size of the file, or at least the end of the call. Asks the file system once, and not at
  /// all if the file had that size before: on Lustre, the size takes a request to each OST whose
  /// lock another node has.
  const Result<std::int64_t>& file_size() {
    if (size_) return *size_;
    if (file_.choices != nullptr && file_.choices->size() >= outcome_.summary.bounds.end()) {
      return size_.emplace(file_.choices->size());
    }
    Result<store::StoreFile*> file = file_.source.file();
    if (!file) return size_.emplace(std::move(file).error());
    size_.emplace((*file)->size());
    if (file_.choices != nullptr && *size_) file_.choices->note_size(**size_);
    return *size_;
  }

  [[nodiscard]] GroupingRequest grouping_request(const plan::CollectivePlan& plan) const {
    return {settings_.initial_groups,
            plan::group_target(settings_, participants(), plan::chosen_count(plan))};
  }

  /// Forms new groups of ranks and completes the plan with them.
  Task<Unit> agree_on_groups() {
    const GroupingRequest request = grouping_request(outcome_.plan);
    const plan::RankLoad load{bounds(call_.file), call_.file.byte_count};
    SharedGroups groups = co_await share_groups(transport_, load, request);
    if (transport_.rank() == 0) {
      complete_with_groups(outcome_.plan, *groups);
    }
    const std::span<std::byte> plan_bytes = bytes_of(outcome_.plan);
    co_await broadcast(transport_, plan_bytes, 0);
    file_.groups.keep(std::move(groups), request, call_.file, asked_bytes_);
    co_return Unit{};
  }

  [[nodiscard]] plan::Aggregators aggregators() const {
    return plan::aggregators_of(outcome_.plan, outcome_.groups, transport_.nodes());
  }

  /// This rank's bytes by their places in rounds.
  [[nodiscard]] plan::FileAccess placed() const {
    if (plan::row_of(outcome_.plan).order == plan::RoundOrder::file) return call_.file;
    return plan::arranged(outcome_.plan, *outcome_.groups, transport_.rank(),
                          call_.file.byte_count);
  }

  Task<Unit> run_exchange(bool keeps_round_memory) {
    enter(Phase::views);
    const plan::Aggregators all = aggregators();
    const plan::FileDomains domains = plan::domains_of(outcome_.plan, settings_);
    const ExchangePlan plan{outcome_.plan, all, domains};
    const bool has_begun = co_await begin_rounds(plan, keeps_round_memory);
    if (!has_begun) {
      outcome_.plan = {.algorithm = plan::Algorithm::direct, .reason = plan::PlanReason::no_memory};
      outcome_.groups.reset();
      co_await run_direct();
      co_return Unit{};
    }
    const plan::FileAccess places = placed();
    const ExchangeAccess access{call_.direction, call_.file,     places,
                                call_.memory,    file_.profiler, file_.copies};
    if (outcome_.plan.write_locks != plan::WriteLocks::usual) {
      co_await acquire_locks(domains, all.of_rank(transport_.rank()));
    }
    ExchangeResult result = co_await collective::run_exchange(transport_, file_, plan, access);
    release_group_lock();
    enter(Phase::agreement);
    Task<Status> agreement =
        agree_with_minimum(transport_, std::move(result.status), result.file_end);
    const Status status = co_await agreement;
    file_.rounds.end_call();
    if (status.ok()) {
      cut(call_.file, result.file_end);
      if (!moved_) outcome_.bytes = call_.file.byte_count;
    } else {
      outcome_.error = status.error();
    }
    co_return Unit{};
  }

  /// Acquires the write locks of the plan on all aggregators or on none: an aggregator without the
  /// group lock would wait for those that hold it.
  Task<Unit> acquire_locks(const plan::FileDomains& domains, std::optional<int> domain) {
    enter(Phase::file);
    Status taken = domain ? acquire_own_locks(domains, *domain) : Status();
    enter(Phase::agreement);
    Task<Status> agreement = agree(transport_, std::move(taken));
    const Status agreed = co_await agreement;
    if (!agreed.ok()) {
      outcome_.locks_refusal = agreed.error().message;
      release_group_lock();
      Task<plan::WriteLocks> left = locks_after_refusal(domain.has_value());
      outcome_.plan.write_locks = co_await left;
    }
    enter(Phase::views);
    co_return Unit{};
  }

  /// Of locks ahead, narrow locks are left if all aggregators have them.
  Task<plan::WriteLocks> locks_after_refusal(bool aggregates) {
    if (outcome_.plan.write_locks != plan::WriteLocks::ahead) co_return plan::WriteLocks::usual;
    const Result<store::StoreFile*> file = file_.source.file();
    Status narrowed;
    if (aggregates) narrowed = file ? (*file)->narrow_locks() : file.error();
    Task<Status> agreement = agree(transport_, std::move(narrowed));
    const Status agreed = co_await agreement;
    co_return agreed.ok() ? plan::WriteLocks::narrow : plan::WriteLocks::usual;
  }

  Status acquire_own_locks(const plan::FileDomains& domains, int domain) {
    const Result<store::StoreFile*> file = file_.source.file();
    if (!file) return file.error();
    if (outcome_.plan.write_locks == plan::WriteLocks::narrow) return (*file)->narrow_locks();
    if (outcome_.plan.write_locks == plan::WriteLocks::ahead) {
      Status narrowed = (*file)->narrow_locks();
      if (!narrowed.ok()) return narrowed;
      return (*file)->lock_ahead(domains.ranges_of(domain, blocks_locked_ahead_max));
    }
    Result<std::unique_ptr<store::FileLock>> lock = (*file)->lock_group(*call_.group_lock);
    if (!lock) return std::move(lock).error();
    group_lock_ = *std::move(lock);
    return {};
  }

  /// Lustre sends the bytes that this rank has written to the OSTs before other clients write.
  void release_group_lock() {
    if (group_lock_ == nullptr) return;
    enter(Phase::file);
    group_lock_.reset();
  }

  /// Whether all ranks have memory for the rounds of `plan`. `keeps_round_memory`: all ranks have
  /// memory of earlier calls.
  Task<bool> begin_rounds(const ExchangePlan& plan, bool keeps_round_memory) {
    const bool all_have_it = keeps_round_memory && file_.rounds.suffice_for(plan);
    Status begun = co_await file_.rounds.begin_call(transport_, plan, all_have_it);
    if (all_have_it) co_return true;
    Task<Status> agreement = agree(transport_, std::move(begun));
    const Status agreed = co_await agreement;
    if (!agreed.ok()) file_.rounds.abandon_call();
    co_return agreed.ok();
  }

  Status access_directly() {
    if (call_.file.byte_count == 0) return {};
    enter(Phase::file);
    Result<store::StoreFile*> file = file_.source.file();
    if (!file) return std::move(file).error();
    const IndependentAccess access{call_.direction, call_.file, call_.memory};
    store::Transfer transfer = access_runs(**file, access, call_.independent, file_.profiler);
    outcome_.bytes = transfer.bytes;
    if (transfer.error) return *std::move(transfer.error);
    return {};
  }

  Task<Unit> run_direct() {
    Status local;
    if (!moved_) local = access_directly();
    enter(Phase::agreement);
    Task<Status> agreement = agree(transport_, std::move(local));
    const Status status = co_await agreement;
    if (!status.ok()) outcome_.error = status.error();
    co_return Unit{};
  }

  Outcome outcome_;
  Transport& transport_;
  const CollectiveFile& file_;
  CollectiveCall& call_;
  const plan::CollectiveSettings& settings_;
  Status local_;        // an error of this rank before the decision
  bool moved_ = false;  // this rank moved its bytes before the decision
  std::unique_ptr<store::FileLock> group_lock_;
  std::optional<plan::Participants> decided_for_;  // on rank 0
  std::optional<Result<std::int64_t>> size_;       // likewise, if the plan depends on it
  std::int64_t asked_bytes_ = 0;
};

}  // namespace

Task<Outcome> run_collective(Transport& transport, CollectiveFile file, CollectiveCall call,
                             plan::CollectiveSettings settings) {
  Engine engine(transport, file, call, settings);
  Outcome outcome = co_await engine.run();
  co_return outcome;
}

}  // namespace nacre::collective
