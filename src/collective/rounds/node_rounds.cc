#include "collective/rounds/node_rounds.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/checked_cast.h"
#include "collective/node/node_memory.h"
#include "collective/rounds/round_copies.h"

namespace nacre::collective {
namespace {

constexpr std::uint64_t call_limit = std::uint64_t{1} << (64 - round_bits);
constexpr std::int64_t cycle_bytes_min = 64 << 10;

/// The size of a cycle buffer: slightly larger accesses fit too, so that memory is allocated again
/// a few times at most.
std::int64_t room_for(std::int64_t cycle_bytes) {
  const auto needed = static_cast<std::uint64_t>(std::max(cycle_bytes, cycle_bytes_min));
  return static_cast<std::int64_t>(std::bit_ceil(needed));
}

/// A layout that holds `wanted`, and also `kept` if that does not need much more memory than the
/// larger of them.
RoundLayout layout_after(const RoundLayout& kept, RoundLayout wanted) {
  wanted.cycle_bytes = room_for(wanted.cycle_bytes);
  const RoundLayout both{
      wanted.rank_count, std::max(wanted.aggregator_count, kept.aggregator_count),
      std::max(wanted.slot_count, kept.slot_count), std::max(wanted.cycle_bytes, kept.cycle_bytes)};
  const std::int64_t larger =
      std::max(RoundMemory::bytes_needed(wanted), RoundMemory::bytes_needed(kept));
  return RoundMemory::bytes_needed(both) / 2 <= larger ? both : wanted;
}

}  // namespace

void NodeRounds::find_node_ranks(const Transport& transport) {
  node_ranks_ = transport.nodes().ranks_on(transport.nodes().node_of(transport.rank()));
  self_ = checked_cast<int>(std::ranges::lower_bound(node_ranks_, transport.rank()) -
                            node_ranks_.begin());
}

void NodeRounds::find_aggregators(const plan::Aggregators& aggregators) {
  aggregators_.clear();
  drivers_.clear();
  driving_ranks_.clear();
  is_here_.clear();
  room_of_.clear();
  room_count_ = 0;
  if (aggregators.groups() == nullptr) {
    for (int aggregator = 0; aggregator < aggregators.count(); ++aggregator) {
      add_aggregator(aggregator, aggregators.rank_of(aggregator));
    }
    return;
  }
  std::set<int> groups;
  for (const int mate : node_ranks_) groups.insert(aggregators.groups()->group_of(mate));
  for (const int group : groups) add_aggregator(group, aggregators.rank_of(group));
}

void NodeRounds::add_aggregator(int aggregator, int rank) {
  const bool is_here = std::ranges::binary_search(node_ranks_, rank);
  // By their order here, as reserve_rooms() expects: the numbers of groups may all be even.
  const std::size_t relay = aggregators_.size() % node_ranks_.size();
  aggregators_.push_back(aggregator);
  drivers_.push_back(is_here ? rank : node_ranks_[relay]);
  driving_ranks_.insert(drivers_.back());
  is_here_.push_back(is_here);
  room_of_.push_back(room_count_);
  const bool sends_packed = is_here || node_ranks_.size() > 1;
  if (sends_packed && drivers_.back() == node_ranks_[static_cast<std::size_t>(self_)]) {
    ++room_count_;
  }
}

int NodeRounds::number_of(int aggregator) const {
  const auto found = std::ranges::lower_bound(aggregators_, aggregator);
  return checked_cast<int>(found - aggregators_.begin());
}

std::span<std::byte> NodeRounds::message_room(int number, std::int64_t round) const {
  const auto slot = static_cast<std::size_t>(round % layout_.slot_count);
  const auto bytes = static_cast<std::size_t>(layout_.cycle_bytes);
  const std::size_t before = room_of_[static_cast<std::size_t>(number)];
  return rooms_.subspan(before * static_cast<std::size_t>(room_bytes()) + slot * bytes, bytes);
}

Coverage NodeRounds::coverage(int number, std::int64_t round, plan::Direction direction) const {
  const bool reads_the_file = direction == plan::Direction::read && is_here(number);
  return Coverage(memory_.marks(number, round), round_bytes_,
                  reads_the_file ? read_granule_bytes : 1,
                  node_ranks_.size() > 1 ? Coverage::Markers::several : Coverage::Markers::one);
}

RoundLayout NodeRounds::layout_for(const ExchangePlan& exchange) const {
  return {checked_cast<std::int32_t>(node_ranks_.size()),
          checked_cast<std::int32_t>(aggregators_.size()), exchange.plan.cycle_buffer_count,
          exchange.domains.round_bytes_max()};
}

Status NodeRounds::make_own_memory() {
  const std::int64_t bytes = RoundMemory::bytes_needed(layout_);
  memory_ = {};
  own_.reset();
  // Of many aggregators a rank may use few: only their pages are allocated.
  Result<store::ReservedMemory> reserved = store::ReservedMemory::reserve(bytes);
  if (!reserved) {
    layout_ = {};
    return Error{ErrorClass::no_mem, 0,
                 "cannot allocate " + std::to_string(bytes) + " bytes for cycle buffers"};
  }
  own_.emplace(*std::move(reserved));
  memory_ = RoundMemory(own_->take(bytes).value(), layout_);
  return {};
}

/// Reserves rooms for the most aggregators whose rounds this rank may drive in later calls, which
/// need no agreement on memory.
Status NodeRounds::reserve_rooms() {
  if (aggregators_.empty()) return {};
  const std::size_t ranks = node_ranks_.size();
  const std::size_t relayed_max =
      ranks > 1 ? (static_cast<std::size_t>(layout_.aggregator_count) + ranks - 1) / ranks : 0;
  const std::size_t count = std::max(room_count_, 1 + relayed_max);
  const std::int64_t bytes = static_cast<std::int64_t>(count) * room_bytes();
  Result<store::ReservedMemory> reserved = store::ReservedMemory::reserve(bytes);
  if (!reserved) {
    return Error{ErrorClass::no_mem, 0,
                 "cannot reserve " + std::to_string(bytes) + " bytes for packed messages"};
  }
  reserved_rooms_.emplace(*std::move(reserved));
  rooms_ = reserved_rooms_->take(bytes).value();
  return {};
}

void NodeRounds::release_rooms() {
  rooms_ = {};
  reserved_rooms_.reset();
}

NodeRounds::Need NodeRounds::need_of(const ExchangePlan& exchange) {
  return {exchange.domains.round_bytes_max(), exchange.plan.cycle_buffer_count,
          exchange.aggregators.count(), exchange.aggregators.groups()};
}

bool NodeRounds::suffice_for(const ExchangePlan& exchange) const {
  const Need need = need_of(exchange);
  return kept_ && need.groups == kept_->groups && need.round_bytes <= kept_->round_bytes &&
         need.slot_count <= kept_->slot_count && need.aggregator_count <= kept_->aggregator_count;
}

Task<Status> NodeRounds::begin_call(Transport& transport, const ExchangePlan& exchange,
                                    bool all_have_it) {
  if (node_ranks_.empty()) find_node_ranks(transport);
  need_ = all_have_it ? *kept_ : need_of(exchange);
  round_bytes_ = exchange.domains.round_bytes_max();
  slot_count_ = exchange.plan.cycle_buffer_count;
  find_aggregators(exchange.aggregators);
  if (aggregators_.empty()) co_return Status();
  ++call_;
  if (!layout_.holds(layout_for(exchange)) || call_ >= call_limit) {
    release_rooms();
    Status found = co_await find_memory(transport, exchange);
    if (found.ok()) found = reserve_rooms();
    if (!found.ok()) co_return found;
  }
  // No rank agrees on the outcome of this call before this rank does, and this rank begins the next
  // call after that: after the agreement all ranks read the same last_call().
  if (self_ == 0 && !memory_.empty()) {
    // Each aggregator has rooms on one rank of the node.
    const bool has_rooms = transport.nodes().node_count() > 1;
    const std::int64_t of_rooms = has_rooms ? std::ssize(aggregators_) * room_bytes() : 0;
    if (watch_.leaves_memory_short(memory_.size() + of_rooms, transport)) {
      memory_.last_call().store(call_, std::memory_order_release);
    }
  }
  co_return Status();
}

void NodeRounds::end_call() {
  kept_ = need_;
  if (memory_.empty()) return;
  if (memory_.last_call().load(std::memory_order_acquire) == call_) abandon_call();
}

void NodeRounds::abandon_call() {
  kept_.reset();
  memory_ = {};
  layout_ = {};
  shared_.reset();
  own_.reset();
  release_rooms();
}

Task<Status> NodeRounds::find_memory(Transport& transport, const ExchangePlan& exchange) {
  call_ = 1;
  layout_ = layout_after(layout_, layout_for(exchange));
  if (node_ranks_.size() > 1) {
    memory_ = {};
    shared_.reset();
    const std::span<const int> ranks(node_ranks_);
    const std::int64_t bytes = RoundMemory::bytes_needed(layout_);
    shared_ = co_await share_memory(transport, ranks, bytes);
    if (shared_) {
      memory_ = RoundMemory(shared_->bytes(), layout_);
      co_return Status();
    }
    node_ranks_ = {transport.rank()};
    self_ = 0;
    find_aggregators(exchange.aggregators);
    layout_ = layout_for(exchange);
  }
  co_return aggregators_.empty() ? Status() : make_own_memory();
}

}  // namespace nacre::collective
