// The random numbers of the differential test. The same seed gives the same program on every rank
// and machine.
#ifndef NACRE_TESTS_DIFFERENTIAL_RANDOM_H_
#define NACRE_TESTS_DIFFERENTIAL_RANDOM_H_

#include <cstdint>

namespace differential {

/// The finaliser of splitmix64: a hash of a 64-bit value.
inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}

  std::uint64_t next() { return state_ = mix(state_); }
  /// In [0, bound); bound > 0.
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  /// In [low, high].
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_RANDOM_H_
