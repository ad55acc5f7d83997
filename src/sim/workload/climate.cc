#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "sim/workload/applications.h"
#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

constexpr std::int64_t pieces_max = 200'000;
constexpr std::uint64_t doubles_max = 8;
constexpr std::int64_t mean_piece_bytes = (1 + doubles_max) * sizeof(double) / 2;
// Fixed, so that every run has the same decomposition.
constexpr std::uint64_t seed = 20261121;

struct Piece {
  std::int64_t file_offset = 0;
  std::int64_t doubles = 0;
};

/// The pieces of one rank.
struct Share {
  std::vector<Piece> pieces;
  std::int64_t bytes = 0;
};

struct Decomposition {
  std::vector<Share> shares;  // by rank; empty for ranks that nobody asked for
  std::int64_t file_bytes = 0;
};

/// How many pieces each rank still receives. Finds the owner of a ticket in O(log ranks).
class Owed {
 public:
  Owed(int ranks, std::int64_t each) : sums_(size(ranks) + 1) {
    // A Fenwick tree: sums_[i] is the sum of the i & -i ranks that end with rank i - 1.
    for (std::size_t i = 1; i < sums_.size(); ++i) {
      sums_[i] = each * static_cast<std::int64_t>(i & -i);
    }
  }
  /// The rank with the ticket, if each rank has as many consecutive tickets as pieces. Takes one
  /// piece from it.
  std::size_t take(std::int64_t ticket) {
    std::size_t owner = 0;
    for (std::size_t step = std::bit_floor(sums_.size() - 1); step > 0; step /= 2) {
      if (owner + step >= sums_.size() || sums_[owner + step] > ticket) continue;
      owner += step;
      ticket -= sums_[owner];
    }
    for (std::size_t i = owner + 1; i < sums_.size(); i += i & -i) --sums_[i];
    return owner;
  }

 private:
  std::vector<std::int64_t> sums_;
};

/// Assigns each piece of the file, in file order, to a random rank that has not received
/// `pieces_a_rank` pieces yet. Keeps the pieces of `geometry.rank`, or of all ranks if they are in
/// one process. Every process computes the same assignment.
Decomposition deal(const Geometry& geometry, std::int64_t pieces_a_rank) {
  std::mt19937_64 draw(seed);
  Owed owed(geometry.ranks, pieces_a_rank);
  Decomposition result;
  result.shares.resize(size(geometry.ranks));
  for (std::int64_t left = pieces_a_rank * geometry.ranks; left > 0; --left) {
    const auto ticket = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(left));
    const std::size_t owner = owed.take(ticket);
    const auto doubles = static_cast<std::int64_t>(1 + draw() % doubles_max);
    const auto bytes = doubles * std::int64_t{sizeof(double)};
    if (geometry.one_process || owner == size(geometry.rank)) {
      result.shares[owner].pieces.push_back({result.file_bytes, doubles});
      result.shares[owner].bytes += bytes;
    }
    result.file_bytes += bytes;
  }
  return result;
}

/// deal(), once for all ranks that are in one process.
std::shared_ptr<const Decomposition> dealt_once(const Geometry& geometry,
                                                std::int64_t pieces_a_rank) {
  static std::mutex mutex;
  static std::pair<int, std::int64_t> last;
  static std::shared_ptr<const Decomposition> kept;
  const std::pair wanted(geometry.ranks, pieces_a_rank);
  if (!geometry.one_process) {
    return std::make_shared<const Decomposition>(deal(geometry, pieces_a_rank));
  }
  const std::lock_guard guard(mutex);
  if (kept == nullptr || last != wanted) {
    kept = std::make_shared<const Decomposition>(deal(geometry, pieces_a_rank));
    last = wanted;
  }
  return kept;
}

Datatype indexed(const std::vector<Piece>& pieces) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  for (const Piece& piece : pieces) {
    lengths.push_back(piece.doubles);
    offsets.push_back(piece.file_offset);
  }
  return Datatype::indexed(std::move(lengths), std::move(offsets), Datatype::real());
}

}  // namespace

Access climate(const Geometry& geometry) {
  const auto pieces =
      std::clamp<std::int64_t>(geometry.bytes / (geometry.ranks * mean_piece_bytes), 1, pieces_max);
  const std::shared_ptr<const Decomposition> all = dealt_once(geometry, pieces);
  const std::shared_ptr<const Share> mine(all, &all->shares[size(geometry.rank)]);
  Step step;
  step.etype = step.memory = Datatype::real();
  step.filetype = indexed(mine->pieces);
  step.transfers.push_back({0, 0, static_cast<int>(mine->bytes / std::int64_t{sizeof(double)})});

  Access result;
  result.buffer_bytes = size(mine->bytes);
  result.file_bytes = all->file_bytes;
  result.runs = [mine](const RunVisitor& visit) {
    std::size_t at = 0;
    for (const Piece& piece : mine->pieces) {
      const std::size_t bytes = size(piece.doubles) * sizeof(double);
      visit({piece.file_offset, at, bytes});
      at += bytes;
    }
  };
  result.steps.push_back(std::move(step));
  return result;
}

}  // namespace nacre::workload
