#include "collective/exchange/exchange.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/exchange/aggregator_side.h"
#include "collective/exchange/driven_rounds.h"
#include "collective/exchange/local_side.h"
#include "collective/exchange/relay_side.h"
#include "collective/exchange/sole_side.h"
#include "collective/files/round_file.h"
#include "collective/views/view_exchange.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/domains/domain_walk.h"

namespace nacre::collective {
namespace {

/// Drives the rounds of a rank; ready when none is left.
class Rounds final : public Condition {
 public:
  /// `sides`: of the aggregator that the rank is, and of those to which it is a relay.
  Rounds(LocalSide& local, std::span<const std::unique_ptr<DrivenRounds>> sides, Profiler& profiler)
      : local_(local), sides_(sides), profiler_(profiler) {}

  bool ready(Transport&) override {
    bool moved = true;
    while (moved) {
      moved = local_.step();
      for (const auto& side : sides_) moved = side->step() || moved;
    }
    profiler_.wait_for(std::ranges::any_of(sides_, &DrivenRounds::waits_for_file));
    return local_.done() && std::ranges::all_of(sides_, &DrivenRounds::done);
  }
  [[nodiscard]] bool takes_all() const override { return false; }

 private:
  LocalSide& local_;
  std::span<const std::unique_ptr<DrivenRounds>> sides_;
  Profiler& profiler_;
};

/// The file access of the rounds of aggregator `self`.
std::unique_ptr<RoundFile> file_of_rounds(const CollectiveFile& file, const ExchangePlan& exchange,
                                          int self, std::vector<Segment> segments) {
  if (plan::row_of(exchange.plan).order == plan::RoundOrder::rank) {
    return make_segment_file(std::move(segments), file.source, file.profiler);
  }
  return make_domain_file(exchange.domains, plan::domain_of(exchange.plan, self),
                          exchange.plan.first_byte, file.source, file.profiler);
}

/// The walks of this rank's access through the rounds of each aggregator, by its number on the
/// node.
std::vector<plan::DomainWalk> walks_of(const Transport& transport, const NodeRounds& rounds,
                                       const ExchangePlan& exchange, const ExchangeAccess& access) {
  std::vector<plan::DomainWalk> walks;
  for (const int aggregator : rounds.aggregators()) {
    const bool serves = exchange.aggregators.serves(aggregator, transport.rank());
    walks.emplace_back(exchange.domains, plan::domain_of(exchange.plan, aggregator),
                       serves ? access.placed : plan::FileAccess{});
  }
  return walks;
}

/// The sides of the aggregators on other nodes with which this rank exchanges messages: as the
/// relay of its node, or as its only rank.
std::vector<std::unique_ptr<DrivenRounds>> sides_elsewhere(
    Transport& transport, const NodeRounds& rounds, const ExchangePlan& exchange,
    const ExchangeAccess& access, std::span<const plan::DomainWalk> walks) {
  std::vector<std::unique_ptr<DrivenRounds>> sides;
  for (int number = 0; number < std::ssize(rounds.aggregators()); ++number) {
    const auto index = static_cast<std::size_t>(number);
    if (rounds.is_here(number) || rounds.drivers()[index] != transport.rank()) continue;
    const int aggregator_rank = exchange.aggregators.rank_of(rounds.aggregators()[index]);
    if (rounds.sends_directly_to(number)) {
      if (walks[index].done()) continue;
      const SoleTask task{access, number, aggregator_rank};
      sides.push_back(make_sole_side(transport, task, rounds, walks[index]));
      continue;
    }
    const Relay relay{access.direction, number, aggregator_rank, access.profiler, access.copies};
    sides.push_back(make_relay_side(transport, relay, rounds));
  }
  return sides;
}

}  // namespace

Task<ExchangeResult> run_exchange(Transport& transport, const CollectiveFile& file,
                                  const ExchangePlan& exchange, const ExchangeAccess& access) {
  const std::vector<plan::DomainWalk> walks = walks_of(transport, file.rounds, exchange, access);
  const std::span<const plan::DomainWalk> all_walks(walks);
  ServedRanks served = co_await exchange_views(transport, file, exchange, access, all_walks);
  access.profiler.enter(Phase::copy);
  std::vector<std::unique_ptr<DrivenRounds>> sides =
      sides_elsewhere(transport, file.rounds, exchange, access, all_walks);
  std::unique_ptr<RoundFile> round_file;
  if (const auto self = exchange.aggregators.of_rank(transport.rank())) {
    round_file = file_of_rounds(file, exchange, *self, std::move(served.segments));
    const bool in_order = access.direction == plan::Direction::read && exchange.plan.whole_rounds &&
                          file.reads_in_order;
    const int threads = in_order ? std::min(1, file.io_thread_count) : file.io_thread_count;
    const AggregatorTask task{access.direction, exchange,      file.rounds.number_of(*self),
                              access.profiler,  access.copies, threads};
    sides.push_back(make_aggregator_side(transport, task, file.rounds, std::move(served.elsewhere),
                                         *round_file));
  }
  LocalSide local(transport, access, file.rounds, exchange.plan, walks);
  Rounds rounds(local, sides, access.profiler);
  co_await Until{rounds};
  ExchangeResult result;
  if (round_file != nullptr) {
    result.status = round_file->status();
    result.file_end = round_file->file_end_seen();
  }
  co_return result;
}

}  // namespace nacre::collective
