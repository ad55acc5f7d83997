// OstTallies: what one rank moved to and from each OST.
#ifndef NACRE_COLLECTIVE_PROFILE_OST_TALLIES_H_
#define NACRE_COLLECTIVE_PROFILE_OST_TALLIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/extent.h"
#include "collective/profile/rank_bands.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/layout/stripe_map.h"

namespace nacre::collective {

/// A call of the store.
struct FileCall {
  Extent bytes;                  ///< of the file, that were moved
  std::int64_t nanoseconds = 0;  ///< 0: not timed
};

/// The bytes of a call on one OST, or a part of them.
struct OstShare {
  std::int32_t ost;
  std::int64_t bytes;
};

/// Sums over any number of calls. Trivially copyable.
struct OstTally {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;  ///< that moved bytes to or from this OST, and perhaps others
  // Of timed calls that accessed no other OST: only their time tells how fast the OST is.
  std::int64_t alone_bytes = 0;
  std::int64_t alone_nanoseconds = 0;
};

/// Memory: 32 bytes for each OST up to the highest that was accessed, and at most 24 KiB for calls
/// on unknown OSTs. Thread-safe.
class OstTallies {
 public:
  /// Counts the call, or keeps it for resolve() if an OST is unknown: the file system names the
  /// OSTs of a component when it is first written. `stripes`: null if the layout is unknown. Costs
  /// the smaller of the stripes that the call touches and the slots of their region.
  void add(const plan::StripeMap* stripes, const FileCall& call);
  /// Counts the calls that were kept, except for bytes on OSTs that are still unknown.
  void resolve(const plan::StripeMap& stripes);
  /// By OST.
  [[nodiscard]] std::vector<OstTally> by_ost() const;

 private:
  static constexpr std::size_t unresolved_max = 1024;

  void count(std::span<const OstShare> shares, const FileCall& call);
  [[nodiscard]] OstTally& of(std::int32_t ost);

  mutable std::mutex mutex_;
  std::vector<OstTally> by_ost_;
  std::vector<FileCall> unresolved_;
};

/// Which ranks moved how much to or from which OSTs.
struct RanksByOst {
  /// Consecutive OSTs share a column if there are more.
  static constexpr std::int64_t columns_max = 32;

  RankBands bands;
  std::int64_t ost_count = 0;       ///< the highest OST that was accessed, plus 1
  std::vector<std::int64_t> bytes;  ///< by band and column

  [[nodiscard]] std::int64_t column_count() const { return std::min(ost_count, columns_max); }
  [[nodiscard]] std::int64_t first_ost(std::int64_t column) const {
    return (column * ost_count + column_count() - 1) / column_count();
  }
  [[nodiscard]] std::int64_t& at(int band, std::int64_t ost) {
    const std::int64_t column = ost * column_count() / ost_count;
    return bytes[static_cast<std::size_t>((band * column_count()) + column)];
  }
};

/// The tallies of all ranks.
struct ReducedOsts {
  std::vector<OstTally> by_ost;
  RanksByOst ranks;
};
/// Collective. The result is valid on rank 0 only.
Task<ReducedOsts> reduce_osts(Transport& transport, const OstTallies& tallies);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_OST_TALLIES_H_
