#include "collective/node/node_board.h"

#include <array>
#include <cstring>
#include <thread>

#include "base/checked_cast.h"
#include "store/memory/shared_memory.h"

namespace nacre::collective {
namespace {

constexpr std::size_t cache_line_bytes = 64;
// The next message mostly arrives within microseconds. Waking a thread takes longer, on an idle
// core much longer: on 2 cores, collective calls of 64 KiB a rank were 1.5 times as fast with 20 to
// 200 yields as with none. More yields take the core from ranks that have work.
constexpr int yields_before_sleep = 50;

/// Whether a counter that wraps around has reached `mark`.
bool has_reached(std::uint32_t count, std::uint32_t mark) {
  return static_cast<std::int32_t>(count - mark) >= 0;
}

}  // namespace

/// The place of a message. In lap n through the queue, `state` is 2n while the cell is free and
/// 2n + 1 while it is full: zeros are an empty queue.
struct NodeBoard::Cell {
  std::atomic<std::uint32_t> state;
  ShortMessageHead head;
  std::array<std::byte, message_bytes_max> bytes;
};

/// The part of the board that belongs to a rank.
struct NodeBoard::Mailbox {
  struct alignas(cache_line_bytes) Bell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleeping;  // 1: the owner sleeps until rings has reached wake_at
    std::atomic<std::uint32_t> wake_at;
  };
  Bell bell;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> posted;
  alignas(cache_line_bytes) std::array<Cell, message_count> cells;
};

std::int64_t NodeBoard::bytes_needed(int rank_count) {
  return rank_count * checked_cast<std::int64_t>(sizeof(Mailbox));
}

NodeBoard::NodeBoard(std::span<std::byte> memory, int self)
    : mailboxes_(reinterpret_cast<Mailbox*>(memory.data())), self_(self) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
}

NodeBoard::Mailbox& NodeBoard::mailbox(int rank) const { return mailboxes_[rank]; }

bool NodeBoard::post(int to, int tag, std::span<const std::byte> data) {
  Mailbox& there = mailbox(to);
  std::uint64_t ticket = there.posted.load(std::memory_order_relaxed);
  while (true) {
    Cell& cell = there.cells[ticket % message_count];
    const auto lap = static_cast<std::uint32_t>(ticket / message_count);
    if (cell.state.load(std::memory_order_acquire) == 2 * lap) {
      if (there.posted.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        cell.head = {self_, tag, checked_cast<std::uint32_t>(data.size())};
        std::memcpy(cell.bytes.data(), data.data(), data.size());
        cell.state.store(2 * lap + 1, std::memory_order_release);
        ring(to);
        return true;
      }
      continue;
    }
    const std::uint64_t now = there.posted.load(std::memory_order_relaxed);
    if (now == ticket) return false;
    ticket = now;
  }
}

std::optional<ShortMessageHead> NodeBoard::take(std::span<std::byte, message_bytes_max> bytes) {
  Cell& cell = mailbox(self_).cells[taken_ % message_count];
  const auto lap = static_cast<std::uint32_t>(taken_ / message_count);
  if (cell.state.load(std::memory_order_acquire) != 2 * lap + 1) return std::nullopt;
  const ShortMessageHead head = cell.head;
  std::memcpy(bytes.data(), cell.bytes.data(), head.length);
  cell.state.store(2 * (lap + 1), std::memory_order_release);
  ++taken_;
  return head;
}

bool NodeBoard::is_drained() const {
  return mailbox(self_).posted.load(std::memory_order_acquire) == taken_;
}

// Either the ringing rank sees that the owner sleeps, or the owner sees the ring before it sleeps:
// each writes its own word before it reads the other's.
void NodeBoard::ring(int rank) {
  Mailbox::Bell& bell = mailbox(rank).bell;
  const std::uint32_t count = bell.rings.fetch_add(1, std::memory_order_seq_cst) + 1;
  if (bell.sleeping.load(std::memory_order_seq_cst) == 0) return;
  if (has_reached(count, bell.wake_at.load(std::memory_order_relaxed))) {
    store::wake_sleepers(bell.rings);
  }
}

std::uint32_t NodeBoard::rings() const {
  return mailbox(self_).bell.rings.load(std::memory_order_seq_cst);
}

void NodeBoard::sleep(std::uint32_t until, std::chrono::nanoseconds time_max) {
  for (int i = 0; i < yields_before_sleep; ++i) {
    if (has_reached(rings(), until)) return;
    std::this_thread::yield();
  }
  Mailbox::Bell& bell = mailbox(self_).bell;
  const auto end = std::chrono::steady_clock::now() + time_max;
  bell.wake_at.store(until, std::memory_order_relaxed);
  bell.sleeping.store(1, std::memory_order_seq_cst);
  std::uint32_t now = rings();
  while (!has_reached(now, until)) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) break;
    store::sleep_while(bell.rings, now, left);
    now = rings();
  }
  bell.sleeping.store(0, std::memory_order_relaxed);
}

}  // namespace nacre::collective
