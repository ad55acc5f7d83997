#include "collective/engine.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes_of.h"
#include "base/clock.h"
#include "collective/agreement/agreements.h"
#include "collective/agreement/rank_grouping.h"
#include "collective/decision.h"
#include "collective/exchange/exchange.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/segment.h"
#include "plan/call/access_summary.h"
#include "plan/decide/decide.h"
#include "plan/nodes/aggregators.h"

namespace nacre::collective {
namespace {

using plan::Direction;

/// Of an aggregator. It requests the locks of further blocks when it writes them.
constexpr std::int32_t blocks_locked_ahead_max = 1000;

/// The part of `access` before `file_end`.
void cut(plan::FileAccess& access, std::int64_t file_end) {
  if (file_end == no_end || access.byte_count == 0) return;
  const std::int64_t before = plan::bytes_before(access.view, file_end) - access.first_byte;
  access.byte_count = std::clamp<std::int64_t>(before, 0, access.byte_count);
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
    if (maker_ && decision.failed_rank == no_rank) {
      maker_->learn(outcome_, clock_ticks() - begin);
      maker_->note_caches(outcome_);
    }
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

  /// Counts the messages since `before`.
  void count_messages(const Transport::Sent& before) {
    file_.profiler.profile().messages.add(transport_.sent().messages - before.messages);
    file_.profiler.profile().message_bytes.add(transport_.sent().bytes - before.bytes);
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
    maker_.emplace(file_, call_, settings_, participants());
    const Decision decision = maker_->decide(contribution);
    if (!maker_->error().ok()) local_ = maker_->error();
    outcome_.summary = maker_->summary();
    outcome_.locks_obstacle = maker_->locks_obstacle();
    return decision;
  }

  [[nodiscard]] int node() const { return transport_.nodes().node_of(transport_.rank()); }

  [[nodiscard]] plan::Participants participants() const {
    return {call_.direction, transport_.size(), transport_.nodes().node_count()};
  }

  /// Forms new groups of ranks and completes the plan with them.
  Task<Unit> agree_on_groups() {
    const GroupingRequest request = grouping_request(outcome_.plan, settings_, participants());
    const plan::RankLoad load{bounds(call_.file), call_.file.byte_count};
    SharedGroups groups = co_await share_groups(transport_, load, request);
    if (maker_) maker_->complete_with_groups(outcome_.plan, *groups);
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
  std::optional<DecisionMaker> maker_;  // on rank 0
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
