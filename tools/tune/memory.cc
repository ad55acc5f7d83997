// Messages and copies.
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

/// Messages between rank 0 and a rank of its node (far=0) or the first rank of the next node
/// (far=1), to and fro.
Sample measure_message(const Ranks& ranks, const Measurement& what) {
  const std::int64_t size = what.number("size", 8);
  const std::int64_t round_trips = what.number("count", 100);
  const bool far = what.number("far", 0) != 0;
  const int peer =
      far ? (ranks.nodes > 1 ? ranks.first_of_node[1] : -1)
          : (ranks.count > 1 && (ranks.nodes == 1 || ranks.first_of_node[1] > 1) ? 1 : -1);
  Sample sample;
  if (peer < 0) return sample;
  std::vector<char> buffer(static_cast<std::size_t>(size), 'a');
  const auto send = [&](int to) {
    MPI_Send(buffer.data(), static_cast<int>(size), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  };
  const auto receive = [&](int from) {
    MPI_Recv(buffer.data(), static_cast<int>(size), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds_now();
  for (std::int64_t trip = 0; trip < round_trips; ++trip) {
    if (ranks.rank == 0) {
      send(peer);
      receive(peer);
    } else if (ranks.rank == peer) {
      receive(0);
      send(0);
    }
  }
  const double seconds = ranks.rank == 0 ? seconds_now() - start : 0;
  sample.seconds = slowest(seconds);
  sample.count = 2.0 * static_cast<double>(round_trips);
  sample.bytes = sample.count * static_cast<double>(size);
  return sample;
}

/// Copies by the first `ranks` ranks of node 0. With `piece`, in pieces of that many bytes.
Sample measure_copy(const Ranks& ranks, const Measurement& what) {
  const auto bytes = static_cast<std::size_t>(what.number("bytes", 32 << 20));
  const auto piece = static_cast<std::size_t>(what.number("piece", 1 << 20));
  const bool takes_part = ranks.node == 0 && ranks.rank_in_node < what.number("ranks", 1);
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
  const std::size_t pieces = bytes / piece;
  sample.count = static_cast<double>(pieces);
  return sample;
}

}  // namespace nacre_tune
