// FileDomains: which aggregator has which byte of the file, and in which of its rounds. The
// patterns are even ranges, blocks of N stripes in turn (Dickens & Logan, CCPE 2009, HPDC 2009),
// and all stripes of some OSTs.
#ifndef NACRE_PLAN_DOMAINS_FILE_DOMAINS_H_
#define NACRE_PLAN_DOMAINS_FILE_DOMAINS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/checked_cast.h"
#include "base/extent.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {

/// How several domains share one set of slots.
enum class OstSharing : std::uint8_t {
  turns,   ///< row by row, in turn
  ranges,  ///< each has a range of the file, and thus of every object
};

/// How slots are divided among domains.
struct OstChoice {
  std::int32_t slots_min = 1;
  OstSharing sharing = OstSharing::turns;
};

/// Contiguous bytes of the file, and their offset in the cycle buffer.
struct FilePart {
  Extent file;
  std::int64_t place = 0;

  friend bool operator==(const FilePart&, const FilePart&) = default;
};

/// The domain, round and part of a byte of the file.
struct DomainPlace {
  int domain = 0;
  std::int64_t round = 0;
  FilePart part;  ///< that holds the byte, contiguous in file and cycle buffer
};

/// Domains and rounds are numbered from 0 on; a domain may have rounds without bytes. Every byte of
/// the range belongs to one domain, one round and one place. Queries take constant time, plus time
/// for the parts of a round, the slots of a domain, or the log of the number of components.
class FileDomains {
 public:
  /// Blocks of `block_bytes` >= 1 from the beginning of `range` on go to `count` domains in turn.
  [[nodiscard]] static FileDomains of_blocks(const Extent& range, std::int64_t block_bytes,
                                             std::int32_t count, std::int64_t cycle_bytes);
  /// Blocks of `stripes` whole stripes go to the domains in turn, in each component from anew.
  [[nodiscard]] static FileDomains of_stripes(const Extent& range, const StripeMap& map,
                                              std::int32_t stripes, std::int32_t count,
                                              std::int64_t cycle_bytes);
  /// By slots: each domain has max(slots_min, ceil(C / count)) of C slots or one less. Slots of one
  /// OST stay together. If there are more domains than such sets of slots, several share a set.
  [[nodiscard]] static FileDomains of_osts(const Extent& range, const StripeMap& map,
                                           const OstChoice& choice, std::int32_t count,
                                           std::int64_t cycle_bytes);

  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] Extent range() const {
    const std::int64_t begin = regions_.front().extent.offset;
    return {begin, regions_.back().extent.end() - begin};
  }
  /// Of the domain with the most rounds.
  [[nodiscard]] std::int64_t round_count() const { return round_count_; }
  /// The number after the last round in which `domain` has bytes.
  [[nodiscard]] std::int64_t round_count_of(int domain) const;
  /// The size of a cycle buffer.
  [[nodiscard]] std::int64_t round_bytes_max() const { return round_bytes_max_; }

  /// `offset` lies in the range.
  [[nodiscard]] DomainPlace place_of(std::int64_t offset) const;
  /// The first byte of `domain` from `offset` on.
  [[nodiscard]] std::optional<std::int64_t> next_of(int domain, std::int64_t offset) const;
  /// The contiguous ranges of the first blocks of `domain` (stripes, if it is divided by stripes),
  /// in ascending order. Takes time for each of at most `blocks_max` blocks.
  [[nodiscard]] std::vector<Extent> ranges_of(int domain, std::int32_t blocks_max) const;
  /// Replaces `parts` by the parts of `domain` in `round`, in order, none adjacent.
  void round_parts(int domain, std::int64_t round, std::vector<FilePart>& parts) const;

 private:
  /// Units of a range go to slots in turn; one unit per slot is a row. Slots form sets. One or more
  /// domains share a set.
  struct Region {
    Extent extent;
    std::int64_t origin = 0;  ///< of its first row, in the range or before it
    std::int64_t unit_bytes = 1;
    std::vector<std::int32_t> set_of_slot = {};
    std::vector<std::int32_t> place_in_set = {};  ///< by slot: the slots of its set before it
    std::vector<std::int32_t> slots = {};         ///< by set, in order
    std::vector<std::int32_t> set_begins = {};    ///< in slots; one more than there are sets
    OstSharing sharing = OstSharing::turns;
    std::int64_t row_count = 0;
    std::int64_t units_per_round = 1;  // one of these two is 1
    std::int64_t rounds_per_unit = 1;
    std::int64_t rounds_before = 0;  ///< of the regions before it

    [[nodiscard]] std::int64_t slot_count() const { return std::ssize(set_of_slot); }
    [[nodiscard]] std::int64_t row_bytes() const {
      return saturating_multiply(unit_bytes, slot_count());
    }
    [[nodiscard]] std::int32_t set_count() const {
      return static_cast<std::int32_t>(set_begins.size()) - 1;
    }
    [[nodiscard]] std::span<const std::int32_t> slots_of(std::int32_t set) const {
      const auto begin = static_cast<std::size_t>(set_begins[static_cast<std::size_t>(set)]);
      const auto end = static_cast<std::size_t>(set_begins[static_cast<std::size_t>(set) + 1]);
      return std::span(slots).subspan(begin, end - begin);
    }
    /// The bytes of a unit up to the end of the extent; may begin before it. row < row_count.
    [[nodiscard]] Extent unit(std::int64_t row, std::int32_t slot) const;
  };

  /// The unit that holds a byte.
  struct UnitPlace {
    const Region& region;
    std::int64_t row;
    std::int32_t slot;

    [[nodiscard]] Extent extent() const { return region.unit(row, slot); }
  };

  /// The rows of one domain (share) of a set.
  struct Rows {
    OstSharing sharing;
    std::int64_t share;
    std::int64_t share_count;
    std::int64_t row_count;  ///< in which the set has bytes

    /// The share's row number `turn`; may lie behind its last row.
    [[nodiscard]] std::int64_t row(std::int64_t turn) const;
    [[nodiscard]] std::int64_t end() const;
    [[nodiscard]] std::int64_t count() const;
    /// The share's first row from `row` on; may be end() or more.
    [[nodiscard]] std::int64_t next(std::int64_t row) const;
  };

  /// A domain in a region: the slots of its set, and which rows of them.
  struct Member {
    std::span<const std::int32_t> slots;
    Rows rows;
  };

  FileDomains(std::int32_t count, std::int64_t cycle_bytes)
      : count_(count), cycle_bytes_(cycle_bytes) {}
  void add(const Extent& extent, std::int64_t unit_bytes, std::int64_t origin,
           std::vector<std::int32_t> set_of_slot, OstSharing sharing);

  [[nodiscard]] std::int32_t first_domain(const Region& region, std::int32_t set) const;
  [[nodiscard]] std::int32_t share_count(const Region& region, std::int32_t set) const;
  [[nodiscard]] Member member_of(const Region& region, int domain) const;
  /// The number of first rows in which the set has bytes, apart from bytes before the range.
  [[nodiscard]] std::int64_t row_count_of(const Region& region, std::int32_t set) const;
  [[nodiscard]] std::int64_t most_units(const Region& region) const;
  /// The number of its units that begin before the end of the range.
  [[nodiscard]] std::int64_t unit_count_of(const Region& region, int domain) const;
  [[nodiscard]] std::optional<std::int64_t> next_in(const Region& region, int domain,
                                                    std::int64_t offset) const;
  [[nodiscard]] std::size_t region_at(std::int64_t offset) const;
  [[nodiscard]] UnitPlace unit_at(std::int64_t offset) const;

  std::int32_t count_;
  std::int64_t cycle_bytes_;
  std::vector<Region> regions_;
  std::int64_t round_count_ = 0;
  std::int64_t round_bytes_max_ = 0;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DOMAINS_FILE_DOMAINS_H_
