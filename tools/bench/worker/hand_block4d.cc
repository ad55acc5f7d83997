#include "hand_block4d.h"

#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mpi_support.h"
#include "plain_file.h"
#include "sim/workload/lattice.h"

namespace nacre::bench {
namespace {

using workload::Block;
using workload::Lattice;

constexpr std::int64_t extent_bytes_min = std::int64_t{4} << 20;

/// The first dimension that a team holds completely: the largest dimension for which the team's
/// data are contiguous extents of at least 4 MiB. 0: all ranks are in one team.
std::size_t first_whole_dimension(const Lattice& lattice) {
  std::int64_t inner_bytes = Lattice::site_bytes;
  for (std::size_t d = Lattice::dimensions - 1; d > 0; --d) {
    inner_bytes *= lattice.block.array[d];
    if (inner_bytes * lattice.block.array[d - 1] / lattice.parts[d - 1] >= extent_bytes_min) {
      return d;
    }
  }
  return 0;
}

/// The ranks whose blocks together form long extents. Each member takes an even share of the rows
/// of the team, in file order.
class Team {
 public:
  explicit Team(const Lattice& lattice)
      : lattice_(lattice), first_whole_(first_whole_dimension(lattice)), all_(lattice.block) {
    int color = 0;
    for (std::size_t d = 0; d < Lattice::dimensions; ++d) {
      if (d < first_whole_) {
        color = color * lattice.parts[d] + lattice.coordinates[d];
      } else {
        all_.deal(d, 0, 1);
        members_ *= lattice.parts[d];
        me_ = me_ * lattice.parts[d] + lattice.coordinates[d];
      }
    }
    require(MPI_Comm_split(MPI_COMM_WORLD, color, me_, &communicator_), "MPI_Comm_split");
  }
  ~Team() { MPI_Comm_free(&communicator_); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] const Block<4>& all() const { return all_; }
  [[nodiscard]] int members() const { return members_; }
  [[nodiscard]] int me() const { return me_; }
  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
  [[nodiscard]] std::int64_t share_begin(int member) const {
    return all_.rows() * member / members_;
  }

  /// Visits the parts of a row: visit(member, first site, sites).
  template <typename Visit>
  void visit_parts(std::int64_t row, Visit visit) const {
    int place = 0;
    std::array<int, 3> at{};
    for (std::size_t d = 3; d-- > 0;) {
      at[d] = all_.start[d] + static_cast<int>(row % all_.extent[d]);
      row /= all_.extent[d];
    }
    for (std::size_t d = first_whole_; d < 3; ++d)
      place = place * lattice_.parts[d] + part(d, at[d]);
    Block<4> one = lattice_.block;
    for (int i = 0; i < lattice_.parts[3]; ++i) {
      one.deal(3, i, lattice_.parts[3]);
      visit(place * lattice_.parts[3] + i, one.start[3], one.extent[3]);
    }
  }

 private:
  /// The part of dimension `d` that contains position `at`: the inverse of Block::deal().
  [[nodiscard]] int part(std::size_t d, int at) const {
    const std::int64_t above = (std::int64_t{at} + 1) * lattice_.parts[d] - 1;
    return static_cast<int>(above / lattice_.block.array[d]);
  }

  Lattice lattice_;
  std::size_t first_whole_;
  Block<4> all_;
  int members_ = 1;
  int me_ = 0;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// The number of sites to or from each member, and the index of the first of them.
struct Counts {
  explicit Counts(int members) : sites(size(members)), first(size(members)) {}

  void place() { std::exclusive_scan(sites.begin(), sites.end(), first.begin(), 0); }

  std::vector<int> sites;
  std::vector<int> first;
};

/// A part of a row of this rank's share: its offsets in the exchange buffer and in the share.
struct Piece {
  std::size_t exchanged_offset = 0;
  std::size_t share_offset = 0;
  std::size_t bytes = 0;
};

/// Exchanges rows between a rank's block and its share. Both are in file order, so a block is sent
/// as it lies in memory.
class Exchange {
 public:
  explicit Exchange(const Lattice& lattice)
      : team_(lattice),
        site_(MpiType::of(workload::Datatype::bytes(Lattice::site_bytes))),
        of_block_(team_.members()),
        of_share_(team_.members()) {
    for (int member = 0; member < team_.members(); ++member) count(member);
    of_block_.place();
    of_share_.place();
    list_pieces();
    exchanged_.resize(share_bytes());
    share_.resize(share_bytes());
  }

  [[nodiscard]] const Team& team() const { return team_; }
  [[nodiscard]] std::span<std::byte> share() { return share_; }

  void to_share(std::span<const std::byte> block) {
    require(MPI_Alltoallv(block.data(), of_block_.sites.data(), of_block_.first.data(), site_.get(),
                          exchanged_.data(), of_share_.sites.data(), of_share_.first.data(),
                          site_.get(), team_.communicator()),
            "MPI_Alltoallv");
    for (const Piece& piece : pieces_) {
      std::memcpy(&share_[piece.share_offset], &exchanged_[piece.exchanged_offset], piece.bytes);
    }
  }

  void from_share(std::span<std::byte> block) {
    for (const Piece& piece : pieces_) {
      std::memcpy(&exchanged_[piece.exchanged_offset], &share_[piece.share_offset], piece.bytes);
    }
    require(MPI_Alltoallv(exchanged_.data(), of_share_.sites.data(), of_share_.first.data(),
                          site_.get(), block.data(), of_block_.sites.data(), of_block_.first.data(),
                          site_.get(), team_.communicator()),
            "MPI_Alltoallv");
  }

 private:
  /// Visits the parts of the rows of a member's share: visit(owner, first site, sites, row), where
  /// `owner` is the member whose block contains the part.
  template <typename Visit>
  void visit_share(int member, Visit visit) const {
    for (std::int64_t row = team_.share_begin(member); row < team_.share_begin(member + 1); ++row) {
      team_.visit_parts(row,
                        [&](int owner, int first, int sites) { visit(owner, first, sites, row); });
    }
  }

  void count(int member) {
    visit_share(member, [&](int owner, int /*first*/, int sites, std::int64_t /*row*/) {
      if (owner == team_.me()) of_block_.sites[size(member)] += sites;
      if (member == team_.me()) of_share_.sites[size(owner)] += sites;
    });
  }

  void list_pieces() {
    std::vector<int> next = of_share_.first;
    const std::int64_t row_bytes = team_.all().row_bytes();
    const std::int64_t begin = team_.share_begin(team_.me());
    visit_share(team_.me(), [&](int owner, int first, int sites, std::int64_t row) {
      const std::int64_t at = (row - begin) * row_bytes + first * Lattice::site_bytes;
      pieces_.push_back({size(next[size(owner)] * Lattice::site_bytes), size(at),
                         size(sites * Lattice::site_bytes)});
      next[size(owner)] += sites;
    });
  }

  [[nodiscard]] std::size_t share_bytes() const {
    const std::int64_t rows = team_.share_begin(team_.me() + 1) - team_.share_begin(team_.me());
    return size(rows * team_.all().row_bytes());
  }

  Team team_;
  MpiType site_;
  Counts of_block_;
  Counts of_share_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> exchanged_;
  std::vector<std::byte> share_;
};

class HandPass : public FilePass {
 public:
  explicit HandPass(const Geometry& geometry) : exchange_(Lattice(geometry)) {}

  void open(const std::string& path, Direction direction) override { file_.open(path, direction); }

  void transfer(const Access& /*access*/, std::span<std::byte> buffer,
                Direction direction) override {
    if (direction == Direction::write) exchange_.to_share(buffer);
    move_share(direction);
    if (direction == Direction::read) exchange_.from_share(buffer);
  }

  void close(bool sync) override { file_.close(sync); }

 private:
  /// Moves each extent (rows that are adjacent in the file) with one call of PlainFile::move().
  void move_share(Direction direction) {
    const Team& team = exchange_.team();
    const std::int64_t end = team.share_begin(team.me() + 1);
    std::span<std::byte> left = exchange_.share();
    for (std::int64_t row = team.share_begin(team.me()); row < end;) {
      const std::int64_t offset = team.all().row_offset(row);
      std::int64_t bytes = 0;
      while (row < end && team.all().row_offset(row) == offset + bytes) {
        bytes += team.all().row_bytes();
        ++row;
      }
      file_.move(offset, left.first(size(bytes)), direction);
      left = left.subspan(size(bytes));
    }
  }

  Exchange exchange_;
  PlainFile file_;
};

}  // namespace

std::unique_ptr<FilePass> hand_block4d(const Geometry& geometry) {
  return std::make_unique<HandPass>(geometry);
}

}  // namespace nacre::bench
