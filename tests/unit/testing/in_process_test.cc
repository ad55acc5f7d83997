// The in-process network detects messages with mismatched lengths, and deadlocks.
#include "testing/in_process.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::testing {
namespace {

collective::Task<int> exchange(collective::Transport& transport, std::size_t out_size,
                               std::size_t in_size) {
  const int other = 1 - transport.rank();
  std::vector<std::byte> out(out_size, std::byte{7});
  std::vector<std::byte> in(in_size);
  std::vector<collective::MessageId> messages;
  messages.push_back(transport.send(other, out));
  messages.push_back(transport.receive(other, in));
  co_await collective::AllOf{messages};
  co_return static_cast<int>(in.front());
}

/// Both ranks send before they receive, which deadlocks unless sends are buffered.
collective::Task<int> send_first(collective::Transport& transport) {
  const int other = 1 - transport.rank();
  std::byte out{9};
  std::byte in{};
  std::vector<collective::MessageId> messages;
  messages.push_back(transport.send(other, std::span(&out, 1)));
  co_await collective::AllOf{messages};
  messages.push_back(transport.receive(other, std::span(&in, 1)));
  co_await collective::AllOf{messages};
  co_return static_cast<int>(in);
}

collective::Task<int> wait_for_nobody(collective::Transport& transport) {
  std::byte in{};
  std::vector<collective::MessageId> messages;
  if (transport.rank() == 0) messages.push_back(transport.receive(1, std::span(&in, 1)));
  co_await collective::AllOf{messages};
  co_return 0;
}

bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("messages arrive, polled and threaded") {
  for (const SendMode mode : {SendMode::buffered, SendMode::rendezvous, SendMode::mixed}) {
    InProcessNetwork network({2, mode, 3});
    const auto task = [&](int rank) { return exchange(network.transport(rank), 8, 8); };
    const auto polled = run_polled<int>(network, task, 1);
    CHECK(polled == std::vector<int>{7, 7});
    CHECK(run_threads<int>(network, task) == std::vector<int>{7, 7});
    CHECK(network.unmatched_count() == 0);
  }
}

TEST_CASE("a length mismatch is reported") {
  InProcessNetwork network({2, SendMode::mixed, 1});
  const auto result = run_polled<int>(
      network, [&](int rank) { return exchange(network.transport(rank), 8, 7); }, 1);
  CHECK_FALSE(result.has_value());
  CHECK(contains(network.failure(), "8 bytes"));
}

TEST_CASE("a deadlock is reported, polled") {
  InProcessNetwork network({2, SendMode::rendezvous, 1});
  const auto result = run_polled<int>(
      network, [&](int rank) { return send_first(network.transport(rank)); }, 1);
  CHECK_FALSE(result.has_value());
  CHECK(contains(network.failure(), "wait for each other"));
}

TEST_CASE("a deadlock is reported, threaded") {
  InProcessNetwork network({2, SendMode::rendezvous, 1});
  const auto result =
      run_threads<int>(network, [&](int rank) { return send_first(network.transport(rank)); });
  CHECK_FALSE(result.has_value());
  CHECK(contains(network.failure(), "send 0 -> 1"));
}

TEST_CASE("with buffered sends the same program completes") {
  InProcessNetwork network({2, SendMode::buffered, 1});
  const auto task = [&](int rank) { return send_first(network.transport(rank)); };
  CHECK(run_threads<int>(network, task) == std::vector<int>{9, 9});
}

TEST_CASE("waiting for a rank that has left is reported") {
  InProcessNetwork network({2, SendMode::mixed, 1});
  const auto result =
      run_threads<int>(network, [&](int rank) { return wait_for_nobody(network.transport(rank)); });
  CHECK_FALSE(result.has_value());
  CHECK(contains(network.failure(), "receive 1 -> 0"));
}

TEST_CASE("finish() blocks in wait() and returns") {
  InProcessNetwork network({2, SendMode::rendezvous, 1});
  std::vector<std::thread> threads;
  std::vector<int> results(2);
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      collective::Operation<int> operation(exchange(network.transport(rank), 4, 4),
                                           network.transport(rank));
      operation.finish();
      results[static_cast<std::size_t>(rank)] = operation.value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(results == std::vector<int>{7, 7});
}

}  // namespace nacre::testing
