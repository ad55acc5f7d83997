// Spread: how a figure is spread over the ranks, in a size that does not grow with their number.
#ifndef NACRE_COLLECTIVE_PROFILE_SPREAD_H_
#define NACRE_COLLECTIVE_PROFILE_SPREAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nacre::collective {

/// Counts values in buckets of an eighth of a power of two, so that spreads of different ranks fold
/// into one. Least, most and sum are exact. Trivially copyable.
class Spread {
 public:
  /// value >= 0.
  void add(std::int64_t value);
  void fold(const Spread& other);

  /// How many values there are, and how many of them are not 0.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t nonzero_count() const { return count_ - buckets_[0]; }
  /// 0 where there are none, as the next ones.
  [[nodiscard]] std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  /// Stops at the largest 64-bit number.
  [[nodiscard]] std::int64_t sum() const { return sum_; }
  /// The value that half of them do not exceed (the lower one of two): the middle of its bucket, at
  /// most 1/16 from it; exact where all are equal and below 16.
  [[nodiscard]] std::int64_t median() const;

 private:
  static constexpr int parts_log2 = 3;
  // Values up to 7 have a bucket each; every power of two from 8 to 2^62 has 8.
  static constexpr std::size_t bucket_count = std::size_t{61} * 8;

  [[nodiscard]] static std::size_t bucket_of(std::int64_t value);
  [[nodiscard]] static std::int64_t middle_of(std::size_t bucket);

  std::int64_t count_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = 0;
  std::int64_t sum_ = 0;
  std::array<std::int32_t, bucket_count> buckets_{};
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_SPREAD_H_
