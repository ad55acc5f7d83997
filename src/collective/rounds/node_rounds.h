// NodeRounds: what a rank keeps of the rounds of its node from one access of a file to the next.
#ifndef NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_
#define NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "collective/agreement/agreements.h"
#include "collective/node/memory_watch.h"
#include "collective/rounds/coverage.h"
#include "collective/rounds/exchange_access.h"
#include "collective/rounds/round_memory.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/call/collective_plan.h"
#include "plan/direction.h"
#include "plan/nodes/aggregators.h"
#include "store/shared_memory.h"

namespace nacre::collective {

/// One a rank and file. All ranks of a node go through the same calls with the same plans, so what
/// they keep is alike. An aggregator that serves ranks of the node and is elsewhere has a stand-in
/// here, the relay, which is one of them. Memory: for each of these aggregators as many cycle
/// buffers as a call has asked for, each what a round holds, rounded up to a power of two (64 KiB
/// at least), and an eighth more, or what an earlier call took; kept from call to call, since new
/// pages cost about as much as writing them, unless memory is short: then it goes with the call.
/// Where the node has no such memory left each rank is by itself from then on, with memory of its
/// own.
class NodeRounds {
 public:
  NodeRounds() = default;
  explicit NodeRounds(MemoryWatch watch) : watch_(std::move(watch)) {}

  /// Whether this rank keeps memory of calls that have ended.
  [[nodiscard]] bool are_kept() const { return kept_.has_value(); }
  /// Where all ranks keep some, they know alike: whether it will do for `exchange`, on all of them.
  [[nodiscard]] bool suffice_for(const ExchangePlan& exchange) const;
  /// Collective over the ranks of the node: the next call. `all_have_it`: what all ranks keep
  /// suffices; the same on all. ErrorClass::no_mem, where not: the call cannot take place, and all
  /// ranks are to abandon it.
  Task<Status> begin_call(Transport& transport, const ExchangePlan& exchange, bool all_have_it);

  // After all ranks have agreed on the outcome of a call that has begun, which they do in each: one
  // of these.
  void end_call();
  void abandon_call() { release_memory(); }
  /// Bytes that are kept for later calls.
  [[nodiscard]] std::int64_t kept_bytes() const { return memory_.size(); }

  // Of the call that has begun.
  [[nodiscard]] const RoundMemory& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t call() const { return call_; }
  /// As many rounds of an aggregator are under way at most; memory() may have room for more.
  [[nodiscard]] std::int64_t slot_count() const { return slot_count_; }
  /// The ranks that reach memory(), this one included, lowest first; a rank is numbered by its
  /// place.
  [[nodiscard]] const std::vector<int>& node_ranks() const { return node_ranks_; }
  [[nodiscard]] int self() const { return self_; }
  /// Those of the plan's aggregators that are node_ranks, or serve any; numbered by their place.
  [[nodiscard]] const std::vector<int>& aggregators() const { return aggregators_; }
  /// The number of aggregator `aggregator`, which is one of them.
  [[nodiscard]] int number_of(int aggregator) const;
  /// The rank of this node that has the rounds of an aggregator, by its number: itself, or its
  /// relay.
  [[nodiscard]] std::span<const int> drivers() const { return drivers_; }
  /// The same, each once.
  [[nodiscard]] const std::set<int>& driving_ranks() const { return driving_ranks_; }
  /// Whether that is itself.
  [[nodiscard]] bool is_here(int number) const {
    return is_here_[static_cast<std::size_t>(number)];
  }
  /// What is filled, or wanted, of a round: of an aggregator by its number.
  [[nodiscard]] Coverage coverage(int number, std::int64_t round, plan::Direction direction) const;

 private:
  /// What a call takes, in terms that all ranks of all nodes know.
  struct Need {
    std::int64_t round_bytes = 0;
    std::int32_t slot_count = 0;
    int aggregator_count = 0;
    std::shared_ptr<const plan::RankGroups> groups;  ///< that they serve; null: all ranks
  };
  [[nodiscard]] static Need need_of(const ExchangePlan& exchange);

  void find_node_ranks(const Transport& transport);
  void find_aggregators(const plan::Aggregators& aggregators);
  void add_aggregator(int aggregator, int rank);
  [[nodiscard]] RoundLayout layout_for(const ExchangePlan& exchange) const;
  [[nodiscard]] Status make_own_memory();
  Task<Status> find_memory(Transport& transport, const ExchangePlan& exchange);
  void release_memory();

  MemoryWatch watch_;
  std::vector<int> node_ranks_;
  int self_ = 0;
  std::vector<int> aggregators_;
  std::vector<int> drivers_;
  std::set<int> driving_ranks_;
  std::vector<bool> is_here_;
  std::int64_t round_bytes_ = 0;  // the most of a round
  std::int64_t slot_count_ = 0;
  RoundLayout layout_;
  std::optional<store::SharedMemory> shared_;
  std::unique_ptr<std::byte[]> own_;  // where there is nobody to share with
  RoundMemory memory_;
  Need need_;                 // of the call
  std::optional<Need> kept_;  // what all ranks had memory for at the end of the last call
  std::uint64_t call_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_
