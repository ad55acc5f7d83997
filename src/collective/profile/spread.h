// Spread: the distribution of a figure over the ranks, in constant size.
#ifndef NACRE_COLLECTIVE_PROFILE_SPREAD_H_
#define NACRE_COLLECTIVE_PROFILE_SPREAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nacre::collective {

/// Counts values in buckets, eight for each power of two, so that the spreads of ranks can be
/// folded into one. Minimum, maximum and sum are exact. Trivially copyable.
class Spread {
 public:
  /// value >= 0.
  void add(std::int64_t value);
  void fold(const Spread& other);

  /// The number of values, and of values other than 0.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t nonzero_count() const { return count_ - buckets_[0]; }
  // These are 0 if there are no values.
  [[nodiscard]] std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  /// Saturates at the largest 64-bit number.
  [[nodiscard]] std::int64_t sum() const { return sum_; }
  /// The lower median, rounded to the middle of its bucket: at most 1/16 from the exact value;
  /// exact if all values are equal or below 16.
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

inline void fold(Spread& into, const Spread& from) { into.fold(from); }

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_SPREAD_H_
