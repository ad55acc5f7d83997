// Messages and copies.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "collective/node/node_board.h"
#include "store/memory/shared_memory.h"
#include "worker.h"

namespace nacre_tune {
namespace {

using nacre::collective::NodeBoard;
using nacre::store::SharedMemory;

/// Steps of an agreement between two rounds of a collective call: this rank copies some bytes and
/// then waits for one message after the other, each of which was sent by a rank that had received
/// the one before. Ranks that share cores wait for them, too: the more, the longer the others copy
/// (16 ranks on 2 cores: 0.03 ms after 16 KiB, 0.08 to 0.2 ms after 256 KiB, with which small
/// collective reads were predicted to take 4 times as long as they did). `step`: sends a message to
/// the rank at a distance and receives one from the rank at that distance on the other side. The
/// sample has this rank's seconds of messages.
Sample exchange_in_steps(int ranks, std::int64_t trips, const std::function<void(int)>& step) {
  constexpr std::size_t copied_bytes = 16 << 10;
  const std::vector<char> from(copied_bytes, 'a');
  std::vector<char> to(copied_bytes, 'b');
  Sample sample;
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    std::memcpy(to.data(), from.data(), copied_bytes);
    const double start = seconds_now();
    for (int distance = 1; distance < ranks; distance *= 2, sample.count += 1) step(distance);
    sample.seconds += seconds_now() - start;
  }
  return sample;
}

void receive(NodeBoard& board) {
  constexpr std::chrono::seconds nap_max{1};
  std::array<std::byte, NodeBoard::message_bytes_max> bytes;
  for (std::uint32_t rings = board.rings(); !board.take(bytes); rings = board.rings()) {
    board.sleep(rings + 1, nap_max);
  }
}

/// Memory that the ranks of a node share; none if one of all ranks has none.
std::optional<SharedMemory> share_memory(const Ranks& ranks, std::int64_t bytes) {
  std::optional<SharedMemory> memory;
  const auto keep = [&](nacre::Result<SharedMemory> found) {
    if (found) memory = *std::move(found);
  };
  const std::string purpose = "share memory";
  nacre::store::SharedMemoryAddress address;
  if (ranks.rank_in_node == 0) {
    keep(
        SharedMemory::create(SharedMemory::Kind::named, nacre::store::random_id(), bytes, purpose));
    if (memory) address = memory->address();
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, ranks.node_comm);
  if (ranks.rank_in_node != 0) keep(SharedMemory::attach(address, bytes, purpose));
  if (worst(memory ? 0 : ENOMEM) != 0) return std::nullopt;
  if (ranks.rank_in_node == 0) SharedMemory::forget(address.id);
  return memory;
}

/// Messages inside a node, of all its ranks: those that an agreement of Nacre sends.
Sample exchange_near(const Ranks& ranks, std::int64_t trips) {
  const auto memory = share_memory(ranks, NodeBoard::bytes_needed(ranks.ranks_in_node));
  if (!memory) return {};
  NodeBoard board(memory->bytes(), ranks.rank_in_node);
  MPI_Barrier(MPI_COMM_WORLD);
  const int count = ranks.ranks_in_node;
  const Sample sample = exchange_in_steps(count, trips, [&](int distance) {
    while (!board.post((ranks.rank_in_node + distance) % count, 0, {})) std::this_thread::yield();
    receive(board);
  });
  wait_for_all();
  return sample;
}

/// Of the first rank of a node: sends to the node at a distance, and receives from the node at that
/// distance on the other side.
void exchange_between_nodes(const Ranks& ranks, int distance, const std::vector<char>& sent,
                            std::vector<char>& received) {
  const auto first_of = [&](int node) {
    return ranks.first_of_node[static_cast<std::size_t>(node % ranks.nodes)];
  };
  const auto size = static_cast<int>(sent.size());
  MPI_Sendrecv(sent.data(), size, MPI_BYTE, first_of(ranks.node + distance), 0, received.data(),
               size, MPI_BYTE, first_of(ranks.node + ranks.nodes - distance), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/// Messages of the first ranks of all nodes to each other. The other ranks sleep, as in a
/// collective call.
Sample exchange_far(const Ranks& ranks, std::int64_t trips) {
  const std::vector<char> sent(1);
  std::vector<char> received(1);
  MPI_Barrier(MPI_COMM_WORLD);
  return exchange_in_steps(ranks.nodes, ranks.rank_in_node == 0 ? trips : 0, [&](int distance) {
    exchange_between_nodes(ranks, distance, sent, received);
  });
}

/// Copies `total` bytes in pieces of `piece` bytes, every other piece of the source.
void copy_pieces(std::vector<char>& to, const std::vector<char>& from, std::size_t piece) {
  for (std::size_t at = 0; at + piece <= to.size(); at += piece) {
    std::memcpy(to.data() + at, from.data() + 2 * at, piece);
  }
}

}  // namespace

/// Messages that the first ranks of all nodes exchange with each other, all at once: what nodes
/// share makes each message slower, as in a collective call. The other ranks sleep as in such a
/// call.
Sample measure_ring(const Ranks& ranks, const Measurement& what) {
  const auto size = static_cast<std::size_t>(what.number("size", 1 << 20));
  const std::int64_t trips = what.number("count", 5);
  Sample sample;
  if (ranks.nodes < 2) return sample;
  const bool takes_part = ranks.rank_in_node == 0;
  const std::vector<char> sent(size, 'a');
  std::vector<char> received(size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds_now();
  for (std::int64_t trip = 0; takes_part && trip < trips; ++trip) {
    const int distance = 1 + static_cast<int>(trip % std::max(1, ranks.nodes - 1));
    exchange_between_nodes(ranks, distance, sent, received);
  }
  const double seconds = takes_part ? seconds_now() - start : 0;
  sample.seconds = slowest(seconds);
  sample.count = static_cast<double>(trips);
  sample.bytes = sample.count * static_cast<double>(size);
  return sample;
}

/// Short messages inside nodes (far=0), or between them (far=1), on all nodes at once.
Sample measure_message(const Ranks& ranks, const Measurement& what) {
  const auto trips = what.number("count", 100);
  const bool far = what.number("far", 0) != 0;
  if ((far ? ranks.nodes : ranks.ranks_in_node_min) < 2) return {};
  Sample sample = far ? exchange_far(ranks, trips) : exchange_near(ranks, trips);
  sample.seconds = slowest(sample.seconds);
  MPI_Allreduce(MPI_IN_PLACE, &sample.count, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  sample.bytes = sample.count;
  return sample;
}

/// Copies by the first `ranks` ranks of each node, on all nodes at once. With `piece`, in pieces of
/// that many bytes. The sample has the bytes of one node.
Sample measure_copy(const Ranks& ranks, const Measurement& what) {
  const auto bytes = static_cast<std::size_t>(what.number("bytes", 32 << 20));
  const auto piece = static_cast<std::size_t>(what.number("piece", 1 << 20));
  const bool takes_part = ranks.rank_in_node < what.number("ranks", 1);
  std::vector<char> from(takes_part ? 2 * bytes : 0, 'a');
  std::vector<char> to(takes_part ? bytes : 0, 'b');
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds_now();
  copy_pieces(to, from, piece);
  double seconds = seconds_now() - start;
  Sample sample;
  sample.seconds = slowest(takes_part ? seconds : 0);
  double copied = static_cast<double>(to.size());
  MPI_Allreduce(&copied, &sample.bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  sample.bytes /= ranks.nodes;
  const std::size_t pieces = bytes / piece;
  sample.count = static_cast<double>(pieces);
  return sample;
}

}  // namespace nacre_tune
