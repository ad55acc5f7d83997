// NodeRounds: the memory and the numbering of the rounds of one node, kept from call to call.
#ifndef NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_
#define NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_

#include <atomic>
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
#include "store/memory/reserved_memory.h"
#include "store/memory/shared_memory.h"

namespace nacre::collective {

/// Each rank has one for each file. All ranks of a node take part in the same calls with the same
/// plans, so the state of all is alike. An aggregator on another node that serves ranks of this
/// node has a stand-in here, the relay: one of the ranks of this node. The only rank of a node
/// needs none (SoleSide).
///
/// Memory: for each of these aggregators as many cycle buffers as a call needs. A buffer holds the
/// bytes of a round, rounded up to a power of two (at least 64 KiB), and an eighth more for marks.
/// For each aggregator that a rank may drive, it also reserves a buffer for packed messages for
/// each cycle buffer. The system allocates only the pages that are written. NodeRounds keeps the
/// memory from call to call, since writing new pages for the first time costs about as much as
/// writing the data; if memory is short, it releases the memory after the call. If the ranks of the
/// node cannot allocate shared memory, each rank is a node of its own from then on, with its own
/// memory.
class NodeRounds {
 public:
  NodeRounds() = default;
  explicit NodeRounds(MemoryWatch watch) : watch_(std::move(watch)) {}

  /// Whether this rank keeps memory from call to call.
  [[nodiscard]] bool are_kept() const { return kept_.has_value(); }
  /// Whether the memory that is kept is large enough for `exchange` on all ranks. Only valid if all
  /// ranks keep memory; the same on all ranks then.
  [[nodiscard]] bool suffice_for(const ExchangePlan& exchange) const;
  /// Begins the next call; collective over the ranks of the node. `all_have_it`: the memory that
  /// all ranks keep suffices; the same on all ranks. After ErrorClass::no_mem the call cannot take
  /// place and all ranks must abandon it.
  Task<Status> begin_call(Transport& transport, const ExchangePlan& exchange, bool all_have_it);

  // Each call that has begun ends with one of these, after all ranks have agreed on its outcome.
  void end_call();
  void abandon_call();

  // For the call that has begun:
  [[nodiscard]] const RoundMemory& memory() const { return memory_; }
  /// The round that a word of memory() contains; see round_of().
  [[nodiscard]] std::int64_t round_in(const RoundMemory::Word& word) const {
    return round_of(word.load(std::memory_order_acquire), call_);
  }
  void publish(RoundMemory::Word& word, std::int64_t round) const {
    word.store(stamp_of(call_, round), std::memory_order_release);
  }
  /// The most rounds of an aggregator that may be in flight; memory() may have more slots.
  [[nodiscard]] std::int64_t slot_count() const { return slot_count_; }
  /// The ranks that share memory(), including this rank, lowest first. The number of a rank is its
  /// index.
  [[nodiscard]] const std::vector<int>& node_ranks() const { return node_ranks_; }
  [[nodiscard]] int self() const { return self_; }
  /// The aggregators of the plan that serve ranks of the node. The number of an aggregator on the
  /// node is its index.
  [[nodiscard]] const std::vector<int>& aggregators() const { return aggregators_; }
  /// The number of `aggregator`, which must be one of aggregators().
  [[nodiscard]] int number_of(int aggregator) const;
  /// The rank of this node that drives the rounds of an aggregator, by its number: the aggregator
  /// itself, or its relay.
  [[nodiscard]] std::span<const int> drivers() const { return drivers_; }
  /// The same ranks, each once.
  [[nodiscard]] const std::set<int>& driving_ranks() const { return driving_ranks_; }
  /// Whether the aggregator `number` is on this node.
  [[nodiscard]] bool is_here(int number) const {
    return is_here_[static_cast<std::size_t>(number)];
  }
  /// Whether this rank, the only one of its node, exchanges messages with the aggregator `number`
  /// on another node without a relay; it packs messages in the cycle buffers.
  [[nodiscard]] bool sends_directly_to(int number) const {
    return node_ranks_.size() == 1 && !is_here(number);
  }
  /// Memory of this rank alone for a packed message of a round of the aggregator `number`, whose
  /// rounds it drives: as many bytes as a round has. Rounds that are in flight at the same time
  /// have different memory.
  [[nodiscard]] std::span<std::byte> message_room(int number, std::int64_t round) const;
  /// The marks of a round of the aggregator `number`: bytes that are filled, or requested.
  [[nodiscard]] Coverage coverage(int number, std::int64_t round, plan::Direction direction) const;

 private:
  /// The memory that a call needs, in terms that all ranks of all nodes know.
  struct Need {
    std::int64_t round_bytes = 0;
    std::int32_t slot_count = 0;
    int aggregator_count = 0;
    std::shared_ptr<const plan::RankGroups> groups;  ///< served by the aggregators; null: all ranks
  };
  [[nodiscard]] static Need need_of(const ExchangePlan& exchange);

  void find_node_ranks(const Transport& transport);
  void find_aggregators(const plan::Aggregators& aggregators);
  void add_aggregator(int aggregator, int rank);
  [[nodiscard]] RoundLayout layout_for(const ExchangePlan& exchange) const;
  [[nodiscard]] Status make_own_memory();
  [[nodiscard]] Status reserve_rooms();
  void release_rooms();
  /// Of the rooms of one aggregator.
  [[nodiscard]] std::int64_t room_bytes() const { return layout_.slot_count * layout_.cycle_bytes; }
  Task<Status> find_memory(Transport& transport, const ExchangePlan& exchange);

  MemoryWatch watch_;
  std::vector<int> node_ranks_;
  int self_ = 0;
  std::vector<int> aggregators_;
  std::vector<int> drivers_;
  std::set<int> driving_ranks_;
  std::vector<bool> is_here_;
  std::vector<std::size_t> room_of_;  // by number, of those whose rounds this rank drives
  std::size_t room_count_ = 0;
  std::int64_t round_bytes_ = 0;  // the most bytes of a round
  std::int64_t slot_count_ = 0;
  RoundLayout layout_;
  std::optional<store::SharedMemory> shared_;
  std::optional<store::ReservedMemory> own_;  // if the node has one rank
  RoundMemory memory_;
  std::optional<store::ReservedMemory> reserved_rooms_;
  std::span<std::byte> rooms_;  // of reserved_rooms_
  Need need_;                   // of the current call
  std::optional<Need> kept_;    // the memory of all ranks after the last call
  std::uint64_t call_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_NODE_ROUNDS_H_
