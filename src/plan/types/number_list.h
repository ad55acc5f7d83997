// NumberList: an immutable list of 64-bit numbers that takes 32 bits a number where neighbours lie
// close, as the displacements of a datatype do. Any number is found in O(1).
#ifndef NACRE_PLAN_TYPES_NUMBER_LIST_H_
#define NACRE_PLAN_TYPES_NUMBER_LIST_H_

#include <cstdint>
#include <span>
#include <vector>

namespace nacre::plan {

class NumberList {
 public:
  NumberList() = default;
  explicit NumberList(std::span<const std::int64_t> numbers);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t operator[](std::int64_t index) const {
    const auto i = static_cast<std::size_t>(index);
    return wide_.empty() ? bases_[i / chunk_size] + offsets_[i] : wide_[i];
  }
  /// The first index whose number is `value` or more; size() if there is none. The list ascends.
  [[nodiscard]] std::int64_t lower_bound(std::int64_t value) const;
  [[nodiscard]] std::int64_t heap_bytes() const;

  friend bool operator==(const NumberList&, const NumberList&) = default;

 private:
  static constexpr std::size_t chunk_size = 1024;

  /// The numbers as distances from the least of their chunk; false where one exceeds 32 bits.
  bool compress(std::span<const std::int64_t> numbers);

  std::int64_t size_ = 0;
  std::vector<std::int64_t> bases_;     // the least number of each chunk
  std::vector<std::uint32_t> offsets_;  // from it
  std::vector<std::int64_t> wide_;      // instead of both, where a chunk spans 4 GiB or more
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_NUMBER_LIST_H_
