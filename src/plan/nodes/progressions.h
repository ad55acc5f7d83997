// Progressions: a list of numbers in little memory, if the numbers are regular.
#ifndef NACRE_PLAN_NODES_PROGRESSIONS_H_
#define NACRE_PLAN_NODES_PROGRESSIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nacre::plan {

/// A list of numbers, stored as arithmetic progressions. Memory: 12 bytes for each progression, at
/// most 6 bytes per number and 12 more.
class Progressions {
 public:
  Progressions() = default;
  explicit Progressions(std::span<const std::int32_t> numbers);

  /// Appends a number.
  void add(std::int32_t number);
  [[nodiscard]] int size() const { return size_; }
  /// Takes the logarithm of the number of progressions.
  [[nodiscard]] std::int32_t at(int index) const;
  // The numbers must ascend.
  /// How many of the numbers are at most `limit`.
  [[nodiscard]] int count_up_to(std::int32_t limit) const;
  /// The largest difference between a number and the one before it; 0: fewer than two numbers.
  [[nodiscard]] std::int32_t step_max() const;

  /// Appends the list to `bytes`.
  void encode(std::vector<std::byte>& bytes) const;
  /// Takes a list that encode() has appended from the front of `bytes`.
  [[nodiscard]] static Progressions decode(std::span<const std::byte>& bytes);

  friend bool operator==(const Progressions&, const Progressions&) = default;

 private:
  /// Numbers from index `begin` on, up to the next part.
  struct Part {
    std::int32_t begin = 0;
    std::int32_t first = 0;
    std::int32_t step = 0;  // 0: one number

    friend bool operator==(const Part&, const Part&) = default;
  };
  [[nodiscard]] int end_of(std::size_t part) const;

  std::vector<Part> parts_;
  std::int32_t size_ = 0;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_PROGRESSIONS_H_
