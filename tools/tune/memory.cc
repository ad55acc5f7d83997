// Messages and copies.
#include <algorithm>
#include <cstring>

#include "worker.h"

namespace nacre_tune {
namespace {

/// Copies `total` bytes in pieces of `piece` bytes, every other piece of the source.
void copy_pieces(std::vector<char>& to, const std::vector<char>& from, std::size_t piece) {
  for (std::size_t at = 0; at + piece <= to.size(); at += piece) {
    std::memcpy(to.data() + at, from.data() + 2 * at, piece);
  }
}

}  // namespace

/// Messages that the first ranks of all nodes exchange with each other, all at once: what nodes
/// share makes each message slower, as in a collective call. The other ranks wait as in such a
/// call.
Sample measure_ring(const Ranks& ranks, const Measurement& what) {
  const auto size = static_cast<int>(what.number("size", 1 << 20));
  const std::int64_t trips = what.number("count", 5);
  Sample sample;
  if (ranks.nodes < 2) return sample;
  const bool takes_part = ranks.rank_in_node == 0;
  std::vector<char> sent(static_cast<std::size_t>(size), 'a');
  std::vector<char> received(static_cast<std::size_t>(size));
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds_now();
  for (std::int64_t trip = 0; takes_part && trip < trips; ++trip) {
    const int step = 1 + static_cast<int>(trip % std::max(1, ranks.nodes - 1));
    const int to = ranks.first_of_node[static_cast<std::size_t>((ranks.node + step) % ranks.nodes)];
    const int from = ranks.first_of_node[static_cast<std::size_t>(
        (ranks.node + ranks.nodes - step) % ranks.nodes)];
    MPI_Sendrecv(sent.data(), size, MPI_BYTE, to, 0, received.data(), size, MPI_BYTE, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double seconds = takes_part ? seconds_now() - start : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  sample.seconds = slowest(seconds);
  sample.count = static_cast<double>(trips);
  sample.bytes = sample.count * size;
  return sample;
}

/// Short messages of all ranks to other nodes (far=1) or inside their nodes (far=0). Each rank
/// copies some bytes and then waits for one message after the other, each of which was sent by a
/// rank that had received the one before: the steps of an agreement between two rounds of a
/// collective call. Ranks that share cores wait for them, too: the more, the longer the others copy
/// (16 ranks on 2 cores: 0.03 ms after 16 KiB, 0.08 to 0.2 ms after 256 KiB, with which small
/// collective reads were predicted to take 4 times as long as they did).
Sample measure_message(const Ranks& ranks, const Measurement& what) {
  constexpr std::size_t copied_bytes = 16 << 10;
  const auto trips = what.number("count", 100);
  const bool far = what.number("far", 0) != 0;
  Sample sample;
  const int others = far ? ranks.nodes : ranks.ranks_in_node_min;
  if (others < 2) return sample;
  const bool takes_part = ranks.rank_in_node < ranks.ranks_in_node_min;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD,
                 takes_part ? (far ? ranks.rank_in_node : ranks.node) : MPI_UNDEFINED, ranks.rank,
                 &comm);
  std::vector<char> from(copied_bytes, 'a');
  std::vector<char> to(copied_bytes, 'b');
  const int self = far ? ranks.node : ranks.rank_in_node;
  std::int64_t steps = 0;
  double seconds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::int64_t trip = 0; takes_part && trip < trips; ++trip) {
    std::memcpy(to.data(), from.data(), copied_bytes);
    const double start = seconds_now();
    for (int distance = 1; distance < others; distance *= 2, ++steps) {
      char received = 0;
      MPI_Sendrecv(from.data(), 1, MPI_BYTE, (self + distance) % others, 0, &received, 1, MPI_BYTE,
                   (self + others - distance) % others, 0, comm, MPI_STATUS_IGNORE);
    }
    seconds += seconds_now() - start;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  sample.seconds = slowest(seconds);
  double counted = static_cast<double>(steps);
  MPI_Allreduce(&counted, &sample.count, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
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
