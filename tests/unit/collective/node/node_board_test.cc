// Short messages between ranks of a node: none is lost or duplicated, and those of one sender stay
// in order, also with full queues. A sleeping rank wakes up for every message.
#include "collective/node/node_board.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::collective {
namespace {

constexpr std::align_val_t cache_line{64};
struct Release {
  void operator()(std::byte* memory) const { ::operator delete(memory, cache_line); }
};

/// The shared memory of a board.
class Memory {
 public:
  explicit Memory(int rank_count)
      : size_(static_cast<std::size_t>(NodeBoard::bytes_needed(rank_count))),
        bytes_(static_cast<std::byte*>(::operator new(size_, cache_line))) {
    std::memset(bytes_.get(), 0, size_);
  }
  std::span<std::byte> bytes() { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte, Release> bytes_;
};

using Buffer = std::array<std::byte, NodeBoard::message_bytes_max>;
constexpr std::chrono::seconds long_time(600);

}  // namespace

TEST_CASE("a message arrives unchanged; a full queue refuses messages until one is received") {
  Memory memory(2);
  NodeBoard sender(memory.bytes(), 0);
  NodeBoard receiver(memory.bytes(), 1);
  Buffer buffer{};
  CHECK_FALSE(receiver.take(buffer).has_value());
  for (int lap = 0; lap < 3; ++lap) {
    CHECK(receiver.is_drained());
    for (std::uint64_t i = 0; i < NodeBoard::message_count; ++i) {
      const Buffer out{static_cast<std::byte>(i)};
      CHECK(sender.post(1, static_cast<int>(i), std::span(out).first(i + 1)));
    }
    CHECK_FALSE(sender.post(1, 0, std::span(buffer).first(1)));
    CHECK_FALSE(receiver.is_drained());
    for (std::uint64_t i = 0; i < NodeBoard::message_count; ++i) {
      const auto head = receiver.take(buffer);
      REQUIRE(head.has_value());
      CHECK(head->source == 0);
      CHECK(head->tag == static_cast<int>(i));
      CHECK(head->length == i + 1);
      CHECK(buffer[0] == static_cast<std::byte>(i));
    }
  }
  CHECK(receiver.rings() == 3 * NodeBoard::message_count);
  CHECK(sender.rings() == 0);
}

TEST_CASE("many senders, one receiver that sleeps between messages") {
  constexpr int senders = 5;
  constexpr std::uint32_t messages = 20'000;
  Memory memory(senders + 1);
  std::vector<std::thread> threads;
  for (int rank = 1; rank <= senders; ++rank) {
    threads.emplace_back([&memory, rank] {
      NodeBoard board(memory.bytes(), rank);
      for (std::uint32_t i = 0; i < messages; ++i) {
        while (!board.post(0, 7, std::as_bytes(std::span(&i, 1)))) std::this_thread::yield();
      }
    });
  }
  NodeBoard board(memory.bytes(), 0);
  std::vector<std::uint32_t> next(senders + 1, 0);
  Buffer buffer{};
  bool in_order = true;
  for (std::uint32_t taken = 0; taken < senders * messages;) {
    const std::uint32_t rings = board.rings();
    if (const auto head = board.take(buffer)) {
      std::uint32_t value = 0;
      std::memcpy(&value, buffer.data(), sizeof value);
      in_order = in_order && value == next[static_cast<std::size_t>(head->source)]++;
      ++taken;
    } else {
      board.sleep(rings + 1, long_time);
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_order);
  CHECK_FALSE(board.take(buffer).has_value());
}

TEST_CASE("a rank that waits for several messages wakes up after the last") {
  Memory memory(2);
  NodeBoard sleeper(memory.bytes(), 0);
  NodeBoard ringer(memory.bytes(), 1);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const std::uint32_t before = sleeper.rings();
    std::thread thread([&] {
      for (int i = 0; i < 3; ++i) ringer.ring(0);
    });
    sleeper.sleep(before + 3, long_time);
    CHECK(sleeper.rings() == before + 3);
    thread.join();
  }
}

TEST_CASE("a sleep ends at its timeout") {
  Memory memory(1);
  NodeBoard board(memory.bytes(), 0);
  board.sleep(1, std::chrono::milliseconds(1));
  CHECK(board.rings() == 0);
}

}  // namespace nacre::collective
