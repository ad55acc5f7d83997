#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "applications.h"
#include "shapes.h"

namespace nacre::bench {
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

struct Decomposition {
  std::vector<Piece> mine;
  std::int64_t my_bytes = 0;
  std::int64_t file_bytes = 0;
};

/// Assigns each piece of the file, in file order, to a random rank that has not received
/// `pieces_a_rank` pieces yet. Every rank computes the same assignment.
Decomposition deal(const Geometry& geometry, std::int64_t pieces_a_rank) {
  std::mt19937_64 draw(seed);
  std::vector<std::int64_t> owed(size(geometry.ranks), pieces_a_rank);
  Decomposition result;
  for (std::int64_t left = pieces_a_rank * geometry.ranks; left > 0; --left) {
    auto ticket = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(left));
    std::size_t owner = 0;
    while (ticket >= owed[owner]) ticket -= owed[owner++];
    --owed[owner];
    const auto doubles = static_cast<std::int64_t>(1 + draw() % doubles_max);
    const auto bytes = doubles * std::int64_t{sizeof(double)};
    if (owner == size(geometry.rank)) {
      result.mine.push_back({result.file_bytes, doubles});
      result.my_bytes += bytes;
    }
    result.file_bytes += bytes;
  }
  return result;
}

Datatype indexed(const std::vector<Piece>& pieces) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> offsets;
  for (const Piece& piece : pieces) {
    lengths.push_back(static_cast<int>(piece.doubles));
    offsets.push_back(piece.file_offset);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_create_hindexed(static_cast<int>(pieces.size()), lengths.data(), offsets.data(),
                                   MPI_DOUBLE, &type),
          "MPI_Type_create_hindexed");
  return Datatype::made(type);
}

}  // namespace

Access climate(const Geometry& geometry) {
  const auto pieces =
      std::clamp<std::int64_t>(geometry.bytes / (geometry.ranks * mean_piece_bytes), 1, pieces_max);
  const auto dealt = std::make_shared<const Decomposition>(deal(geometry, pieces));
  Step step;
  step.etype = step.memory = Datatype::predefined(MPI_DOUBLE);
  step.filetype = indexed(dealt->mine);
  step.transfers.push_back(
      {0, 0, static_cast<int>(dealt->my_bytes / std::int64_t{sizeof(double)})});

  Access result;
  result.buffer_bytes = size(dealt->my_bytes);
  result.file_bytes = dealt->file_bytes;
  result.runs = [dealt](const RunVisitor& visit) {
    std::size_t at = 0;
    for (const Piece& piece : dealt->mine) {
      const std::size_t bytes = size(piece.doubles) * sizeof(double);
      visit({piece.file_offset, at, bytes});
      at += bytes;
    }
  };
  result.steps.push_back(std::move(step));
  return result;
}

}  // namespace nacre::bench
