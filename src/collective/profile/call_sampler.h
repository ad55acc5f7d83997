// CallSampler: selects the calls of one kind that are timed by phase.
#ifndef NACRE_COLLECTIVE_PROFILE_CALL_SAMPLER_H_
#define NACRE_COLLECTIVE_PROFILE_CALL_SAMPLER_H_

#include <atomic>
#include <cstdint>

namespace nacre::collective {

/// Timed by phase are all calls of at least `large_bytes`, the first 32 calls, all calls while they
/// take at least `slow_nanoseconds`, and one in `interval` of the others, which stands for
/// `interval` calls. Of the rest the whole time is measured, at less cost.
struct Sampling {
  std::int64_t large_bytes = 0;
  std::int64_t slow_nanoseconds = 0;
  std::int64_t interval = 1;
};
// Timing a call by phase costs some 500 instructions, and 20 for each change of phase. A collective
// call of 1 MiB has 30 to 50 changes in 250,000 instructions or more, and a small independent write
// costs 1,800 instructions.
inline constexpr Sampling independent_sampling{64 << 10, 20'000, 128};
inline constexpr Sampling collective_sampling{1 << 20, 100'000, 32};

/// Selects one call in each `interval` calls, at a place that looks random: unlike a fixed step it
/// cannot coincide with a period of the program. Any thread may call. A sampler that is made while
/// a Clock replaces the process's selects all calls.
class CallSampler {
 public:
  explicit CallSampler(const Sampling& sampling) : sampling_(sampling) {}

  /// The weight (collective::Profiler) of call `number`, counted from 0, that moves `bytes` bytes
  /// of this rank.
  [[nodiscard]] std::int64_t weight_of(std::int64_t number, std::int64_t bytes) {
    const bool is_between = number < next_.load(std::memory_order_relaxed);
    if (is_between && bytes < sampling_.large_bytes) [[likely]]
      return 0;
    return select(number, bytes);
  }

  /// Notes that a timed call took `duration` nanoseconds.
  void note(std::int64_t duration);
  /// The time of a call: a moving average of those that were timed.
  [[nodiscard]] std::int64_t recent_nanoseconds() const {
    return recent_nanoseconds_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t every_call = 0;

  [[nodiscard]] std::int64_t select(std::int64_t number, std::int64_t bytes);
  [[nodiscard]] bool are_slow() const { return recent_nanoseconds() >= sampling_.slow_nanoseconds; }

  Sampling sampling_;
  std::atomic<std::int64_t> next_ = every_call;  // the call that is selected next
  std::atomic<std::int64_t> recent_nanoseconds_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_CALL_SAMPLER_H_
