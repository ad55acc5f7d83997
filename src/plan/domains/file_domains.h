// FileDomains: which aggregator has which byte of the file, and in which of its rounds. The
// patterns are those of Dickens & Logan (CCPE 2009, HPDC 2009: blocks of N stripes dealt in turn)
// and by OST, beside the classic even ranges.
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

/// How several domains have one set of slots.
enum class OstSharing : std::uint8_t {
  turns,   ///< row by row, in turn
  ranges,  ///< each a range of the file, and so of every object
};

/// Which slots a domain has.
struct OstChoice {
  std::int32_t slots_min = 1;
  OstSharing sharing = OstSharing::turns;
};

/// Contiguous bytes of the file, and where in the cycle buffer they lie.
struct FilePart {
  Extent file;
  std::int64_t place = 0;

  friend bool operator==(const FilePart&, const FilePart&) = default;
};

/// Where a byte of the file is handled.
struct DomainPlace {
  int domain = 0;
  std::int64_t round = 0;
  FilePart part;  ///< that it lies in, contiguous in file and cycle buffer
};

/// Domains have numbers from 0 on, rounds too; a domain need not have bytes in each. Every byte of
/// the range is of one domain, in one round, in one place. All that is asked takes constant time,
/// but for what grows with the parts of a round, the slots of a domain, or with the log of the
/// number of components.
class FileDomains {
 public:
  /// Blocks of `block_bytes` >= 1 from the beginning of `range` on, dealt to `count` domains in
  /// turn.
  [[nodiscard]] static FileDomains of_blocks(const Extent& range, std::int64_t block_bytes,
                                             std::int32_t count, std::int64_t cycle_bytes);
  /// Blocks of `stripes` whole stripes likewise, in each component of its own stripes.
  [[nodiscard]] static FileDomains of_stripes(const Extent& range, const StripeMap& map,
                                              std::int32_t stripes, std::int32_t count,
                                              std::int64_t cycle_bytes);
  /// By slots: of C slots each domain has max(slots_min, ceil(C / count)) or one less, those of an
  /// OST together; where domains are more than such sets, several share one.
  [[nodiscard]] static FileDomains of_osts(const Extent& range, const StripeMap& map,
                                           const OstChoice& choice, std::int32_t count,
                                           std::int64_t cycle_bytes);

  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] Extent range() const {
    const std::int64_t begin = regions_.front().extent.offset;
    return {begin, regions_.back().extent.end() - begin};
  }
  /// Of the domain with most of them.
  [[nodiscard]] std::int64_t round_count() const { return round_count_; }
  /// Behind the last in which `domain` has bytes.
  [[nodiscard]] std::int64_t round_count_of(int domain) const;
  /// What a cycle buffer must hold.
  [[nodiscard]] std::int64_t round_bytes_max() const { return round_bytes_max_; }

  /// `offset` lies in the range.
  [[nodiscard]] DomainPlace place_of(std::int64_t offset) const;
  /// The first byte from `offset` on that is of `domain`.
  [[nodiscard]] std::optional<std::int64_t> next_of(int domain, std::int64_t offset) const;
  /// Replaces `parts` by those that `domain` has in `round`, in order, none adjacent.
  void round_parts(int domain, std::int64_t round, std::vector<FilePart>& parts) const;

 private:
  /// Units of a range go round slots, row by row; slots make up sets, and sets have domains.
  struct Region {
    Extent extent;
    std::int64_t origin = 0;  ///< where its first row begins, in the range or before it
    std::int64_t unit_bytes = 1;
    std::vector<std::int32_t> set_of_slot = {};
    std::vector<std::int32_t> place_in_set = {};  ///< by slot: how many of its set come before it
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
    /// Of the file, up to the extent's end; may begin before it, where rows do. row < row_count.
    [[nodiscard]] Extent unit(std::int64_t row, std::int32_t slot) const;
  };

  /// The rows of one of the domains that share a set.
  struct Rows {
    OstSharing sharing;
    std::int64_t share;
    std::int64_t share_count;
    std::int64_t row_count;  ///< in which the set has bytes

    /// Row `turn` of its own; may lie behind its last.
    [[nodiscard]] std::int64_t row(std::int64_t turn) const;
    [[nodiscard]] std::int64_t end() const;
    [[nodiscard]] std::int64_t count() const;
    /// Its first row from `row` on; may be end() or more.
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
  /// In so many of the first rows the set has bytes, or could have but for where the range begins.
  [[nodiscard]] std::int64_t row_count_of(const Region& region, std::int32_t set) const;
  [[nodiscard]] std::int64_t most_units(const Region& region) const;
  /// How many of its units begin before the range ends.
  [[nodiscard]] std::int64_t unit_count_of(const Region& region, int domain) const;
  [[nodiscard]] std::optional<std::int64_t> next_in(const Region& region, int domain,
                                                    std::int64_t offset) const;
  [[nodiscard]] std::size_t region_at(std::int64_t offset) const;

  std::int32_t count_;
  std::int64_t cycle_bytes_;
  std::vector<Region> regions_;
  std::int64_t round_count_ = 0;
  std::int64_t round_bytes_max_ = 0;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DOMAINS_FILE_DOMAINS_H_
