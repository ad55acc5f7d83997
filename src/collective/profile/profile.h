// Profile: what data accesses of one rank did and where their time went, counted always.
#ifndef NACRE_COLLECTIVE_PROFILE_PROFILE_H_
#define NACRE_COLLECTIVE_PROFILE_PROFILE_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "collective/task/task.h"

namespace nacre::collective {

/// Where the time of a call goes; at any moment in one of them. Time in which a rank awaits
/// messages is `wait`, but in views and agreement, whose messages are all that they are.
enum class Phase : std::uint8_t {
  plan,       ///< accesses placed and summarised, the plan decided
  views,      ///< the ranks tell aggregators what they are going to send or want
  copy,       ///< bytes gathered, scattered and copied, and the runs walked for it
  messages,   ///< data handed to the MPI and asked from it, but for short messages
  wait,       ///< for the other ranks: that they come to the call, that data come, that locks are
              ///< free
  file,       ///< in the store, its opening at the first touch and the walk through runs that are
              ///< not copied included
  agreement,  ///< on the outcome; who is done early waits here for the others
  away,       ///< a nonblocking call was under way and the program did something else: the
              ///< program's time, not the call's
};
inline constexpr std::size_t phase_count = 8;

/// A sum that several threads may add to.
class Tally {
 public:
  /// Returns what it was before.
  std::int64_t add(std::int64_t amount) {
    return value_.fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

/// Of one rank and any number of calls. Bytes unless named otherwise. Thread-safe, each figure by
/// itself.
struct Profile {
  /// Calls of the store by size: class 0 moved nothing, class c from 2^(c-1) bytes to less than
  /// 2^c.
  static constexpr std::size_t size_class_count = 64;
  using SizeClasses = std::array<Tally, size_class_count>;

  Tally calls;
  Tally errors;      ///< calls that ended with one
  Tally bytes;       ///< of the program that were moved
  Tally file_bytes;  ///< moved to the file by a write, from the file by a read
  Tally messages;    ///< sent to other ranks
  Tally message_bytes;
  Tally copied_bytes;        ///< in memory, on their way
  Tally rounds;              ///< that this rank, as an aggregator, brought to or from the file
  Tally read_modify_writes;  ///< writes that first read what lies between their pieces
  Tally holes;               ///< gaps between the pieces of a round that were left as they are
  std::array<Tally, phase_count> nanoseconds;
  /// In file accesses that helper threads made for this rank, summed over the threads. No phase:
  /// the rank does something else meanwhile, so it may exceed the time of the calls.
  Tally file_thread_nanoseconds;
  SizeClasses file_calls;

  void count_file_call(std::int64_t bytes_moved) {
    // As std::bit_width, without its question whether the number is 0.
    const std::uint64_t doubled = 2 * static_cast<std::uint64_t>(bytes_moved) + 1;
    file_calls[static_cast<std::size_t>(63 - std::countl_zero(doubled))].add(1);
    file_bytes.add(bytes_moved);
  }
  [[nodiscard]] std::int64_t file_call_count() const {
    std::int64_t count = 0;
    for (const Tally& of_size : file_calls) count += of_size.get();
    return count;
  }
};

/// The clock of one call. One thread at a time.
class Profiler {
 public:
  /// The call begins, in `phase`. Its time counts `weight` times in the profile; 0: the call is not
  /// timed, and the clock never read.
  Profiler(Profile& profile, Phase phase, std::int64_t weight = 1)
      : profile_(profile), weight_(weight), phase_(phase) {
    if (weight_ != 0) since_ = monotonic_nanoseconds();
  }
  ~Profiler() {
    if (weight_ != 0) book();
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  [[nodiscard]] Profile& profile() { return profile_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  /// How often the call's time counts; 0: the call is not timed.
  [[nodiscard]] std::int64_t weight() const { return weight_; }
  /// From here on the time is that of `phase`. Returns the phase before.
  Phase enter(Phase phase) {
    if (weight_ == 0 || phase == phase_) return phase_;
    book();
    return std::exchange(phase_, phase);
  }
  /// The time of the call so far, as often as it counts, that away left out.
  [[nodiscard]] std::int64_t nanoseconds();

 private:
  /// Up to now.
  void book();

  Profile& profile_;
  std::int64_t weight_;
  Phase phase_;
  std::int64_t since_ = 0;
  std::int64_t booked_ = 0;
};

/// Tells a profiler of the waits of the operation that runs its call.
class ProfilerObserver final : public Observer {
 public:
  explicit ProfilerObserver(Profiler& profiler) : profiler_(profiler) {}
  void wait_begins() override;
  void wait_ends() override;
  void progress_ends() override;
  void progress_begins() override;

 private:
  Profiler& profiler_;
  Phase before_wait_ = Phase::plan;
  Phase before_pause_ = Phase::plan;
};

/// A phase, as long as it lives; then the one before goes on.
class PhaseScope {
 public:
  PhaseScope(Profiler& profiler, Phase phase)
      : profiler_(profiler), before_(profiler.enter(phase)) {}
  ~PhaseScope() { profiler_.enter(before_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Profiler& profiler_;
  Phase before_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_PROFILE_H_
