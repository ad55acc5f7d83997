// NumberList: an immutable list of 64-bit numbers. It takes 32 bits per number if neighbours are
// close, as the displacements of a datatype are. Access in O(1).
#ifndef NACRE_PLAN_TYPES_NUMBER_LIST_H_
#define NACRE_PLAN_TYPES_NUMBER_LIST_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace nacre::plan {

class NumberList {
 public:
  NumberList() = default;
  explicit NumberList(std::span<const std::int64_t> numbers) : size_(std::ssize(numbers)) {
    if (!compress(numbers)) wide_.assign(numbers.begin(), numbers.end());
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t operator[](std::int64_t index) const {
    const auto i = static_cast<std::size_t>(index);
    return wide_.empty() ? bases_[i / chunk_size] + offsets_[i] : wide_[i];
  }
  /// The first index whose number is `value` or more, or size(). The list ascends.
  [[nodiscard]] std::int64_t lower_bound(std::int64_t value) const {
    std::int64_t from = 0;
    std::int64_t to = size_;
    while (from < to) {
      const std::int64_t middle = from + (to - from) / 2;
      if ((*this)[middle] < value) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
  [[nodiscard]] std::int64_t heap_bytes() const {
    return static_cast<std::int64_t>((bases_.capacity() + wide_.capacity()) * sizeof(std::int64_t) +
                                     offsets_.capacity() * sizeof(std::uint32_t));
  }

  friend bool operator==(const NumberList&, const NumberList&) = default;

 private:
  static constexpr std::size_t chunk_size = 1024;

  /// Stores the numbers as distances from the least of their chunk, unless one exceeds 32 bits.
  bool compress(std::span<const std::int64_t> numbers) {
    std::vector<std::int64_t> bases;
    std::vector<std::uint32_t> offsets;
    bases.reserve((numbers.size() + chunk_size - 1) / chunk_size);
    offsets.reserve(numbers.size());
    while (!numbers.empty()) {
      const auto chunk = numbers.first(std::min(chunk_size, numbers.size()));
      const auto [least, greatest] = std::ranges::minmax(chunk);
      // Unsigned: the distance of two numbers may exceed a signed word, but never wraps.
      const std::uint64_t span =
          static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
      if (span > std::numeric_limits<std::uint32_t>::max()) return false;
      bases.push_back(least);
      for (const std::int64_t number : chunk) {
        offsets.push_back(static_cast<std::uint32_t>(number - least));
      }
      numbers = numbers.subspan(chunk.size());
    }
    bases_ = std::move(bases);
    offsets_ = std::move(offsets);
    return true;
  }

  std::int64_t size_ = 0;
  std::vector<std::int64_t> bases_;     // the least number of each chunk
  std::vector<std::uint32_t> offsets_;  // from it
  std::vector<std::int64_t> wide_;      // instead of both, if a chunk spans 4 GiB or more
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_NUMBER_LIST_H_
