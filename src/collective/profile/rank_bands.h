// RankBands: consecutive ranks whose figures a report sums up, so that its size does not depend on
// the number of ranks.
#ifndef NACRE_COLLECTIVE_PROFILE_RANK_BANDS_H_
#define NACRE_COLLECTIVE_PROFILE_RANK_BANDS_H_

#include <algorithm>
#include <cstdint>

namespace nacre::collective {

/// At most `count_max` bands of ranks, which differ by at most one rank.
class RankBands {
 public:
  static constexpr int count_max = 16;

  RankBands() = default;
  explicit RankBands(int rank_count)
      : rank_count_(rank_count), count_(std::min(rank_count, count_max)) {}

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int band_of(int rank) const {
    return static_cast<int>(std::int64_t{rank} * count_ / rank_count_);
  }
  /// `band` may be count(): the rank after the last.
  [[nodiscard]] int first_rank(int band) const {
    return static_cast<int>((std::int64_t{band} * rank_count_ + count_ - 1) / count_);
  }
  [[nodiscard]] int rank_count(int band) const { return first_rank(band + 1) - first_rank(band); }

 private:
  int rank_count_ = 0;
  int count_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_RANK_BANDS_H_
