#include "collective/profile/spread.h"

#include <algorithm>
#include <bit>

#include "base/checked_cast.h"

namespace nacre::collective {

std::size_t Spread::bucket_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - 1 - parts_log2);
  return (static_cast<std::size_t>(shift) << parts_log2) + (bits >> shift);
}

std::int64_t Spread::middle_of(std::size_t bucket) {
  constexpr std::size_t parts = std::size_t{1} << parts_log2;
  if (bucket < 2 * parts) return static_cast<std::int64_t>(bucket);
  const std::size_t shift = bucket / parts - 1;
  const auto min = static_cast<std::int64_t>((parts + bucket % parts) << shift);
  return min + (std::int64_t{1} << shift) / 2;
}

void Spread::add(std::int64_t value) {
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ = saturating_add(sum_, value);
  ++buckets_[bucket_of(value)];
}

void Spread::fold(const Spread& other) {
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ = saturating_add(sum_, other.sum_);
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
}

std::int64_t Spread::median() const {
  std::int64_t before = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    before += buckets_[bucket];
    if (2 * before >= count_) return std::clamp(middle_of(bucket), min(), max_);
  }
  return max_;
}

}  // namespace nacre::collective
