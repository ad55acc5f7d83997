// Profile: counts what the data accesses of one rank do and where their time goes. Always on.
#ifndef NACRE_COLLECTIVE_PROFILE_PROFILE_H_
#define NACRE_COLLECTIVE_PROFILE_PROFILE_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "collective/profile/access_shape.h"
#include "collective/profile/call_sampler.h"
#include "collective/profile/ost_tallies.h"
#include "collective/profile/timeline.h"
#include "collective/task/task.h"

namespace nacre::collective {

/// Where the time of a call goes. At any moment a call is in exactly one phase. A rank that waits
/// is in `wait`, `file_wait` or `lock`, except in views and agreement, which consist of messages
/// only.
enum class Phase : std::uint8_t {
  plan,       ///< placing and summarising the access, agreeing on the plan
  views,      ///< ranks describe to aggregators what they will send or request
  copy,       ///< gathering, scattering and copying bytes, walking runs for it
  messages,   ///< sending and receiving data through the MPI, except short messages
  wait,       ///< waiting for other ranks: to enter the call, to send data
  file,       ///< in the store, including the open at the first use and walking runs that are not
              ///< copied
  file_wait,  ///< waiting for helper threads that access the file, with nothing left to exchange
  lock,       ///< waiting for file locks and for the shared pointer
  agreement,  ///< agreeing on the outcome; a rank that is done early waits here
  away,       ///< a nonblocking call was pending but not progressed; not part of the call's time
};
inline constexpr std::size_t phase_count = 10;

/// The activity that a phase belongs to; Phase::away belongs to none.
inline constexpr std::array<Activity, phase_count - 1> activity_of_phase{
    Activity::agree, Activity::agree, Activity::copy, Activity::messages, Activity::wait,
    Activity::file,  Activity::file,  Activity::lock, Activity::agree};

/// A sum to which several threads may add.
class Tally {
 public:
  /// Returns the sum before.
  std::int64_t add(std::int64_t amount) {
    return value_.fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

/// Sums over any number of calls of one rank. Each figure is thread-safe by itself.
struct Profile {
  /// Calls of the store by size: class 0 moved no byte, class c moved from 2^(c-1) to less than 2^c
  /// bytes.
  static constexpr std::size_t size_class_count = 64;
  using SizeClasses = std::array<Tally, size_class_count>;

  Tally calls;
  Tally errors;      ///< calls that returned an error
  Tally bytes;       ///< of the program, moved
  Tally file_bytes;  ///< written to the file or read from it
  Tally messages;    ///< sent to other ranks
  Tally message_bytes;
  Tally copied_bytes;        ///< copied in memory
  Tally rounds;              ///< that this rank wrote or read as an aggregator
  Tally unaligned_calls;     ///< calls of the store that begin or end inside a block or stripe
  Tally backward_calls;      ///< calls of the store that begin before the end of the call before
  Tally read_modify_writes;  ///< writes that first read the gaps between their pieces
  Tally holes;               ///< gaps between the pieces of a round that were not accessed
  Tally locks;  ///< of the file for one access, and uses of the shared pointer, which has a lock
  std::array<Tally, phase_count> nanoseconds;          ///< of calls that are timed by phase
  std::array<Tally, phase_count> sampled_nanoseconds;  ///< of these, of calls that stand for others
  Tally untimed_ticks;  ///< processor_ticks() of the calls that are not timed by phase
  // Time of file accesses in helper threads. Not phases: the rank works or waits meanwhile.
  Tally file_thread_nanoseconds;  ///< summed over the threads; may exceed the time of the calls
  Tally file_busy_nanoseconds;    ///< while at least one thread of the rank accessed the file
  SizeClasses file_calls;
  OstTallies osts;               ///< of calls of the store, on a striped file
  Timeline* timeline = nullptr;  ///< null: none is kept
  AccessShape shape;
  CallSampler sampler;

  /// By default all calls are timed by phase.
  explicit Profile(const Sampling& sampling = {}) : sampler(sampling) {}

  /// Counts a call that moves `moved_bytes` bytes of this rank. Returns its weight (Profiler).
  [[nodiscard]] std::int64_t count_call(std::int64_t moved_bytes) {
    return sampler.weight_of(calls.add(1), moved_bytes);
  }
  /// `block_bytes`: as in FileTraits.
  void count_file_call(const Extent& moved, std::int64_t block_bytes) {
    // std::bit_width, without its test for 0.
    const std::uint64_t doubled = 2 * static_cast<std::uint64_t>(moved.length) + 1;
    file_calls[static_cast<std::size_t>(63 - std::countl_zero(doubled))].add(1);
    file_bytes.add(moved.length);
    if (!are_multiples(moved.offset, moved.end(), block_bytes)) unaligned_calls.add(1);
    const std::int64_t before = file_end_.exchange(moved.end(), std::memory_order_relaxed);
    if (moved.offset < before) backward_calls.add(1);
  }
  [[nodiscard]] std::int64_t file_call_count() const {
    std::int64_t count = 0;
    for (const Tally& of_size : file_calls) count += of_size.get();
    return count;
  }
  /// The time of all calls by phase. That of calls that are not timed by phase is known as a whole,
  /// and divided as that of the calls that stand for them.
  [[nodiscard]] std::array<std::int64_t, phase_count> nanoseconds_by_phase() const;
  /// The time of the calls: all phases except Phase::away.
  [[nodiscard]] std::int64_t total_nanoseconds() const;

 private:
  /// Whether both numbers, which are not negative, are multiples of `unit`.
  [[nodiscard]] static bool are_multiples(std::int64_t a, std::int64_t b, std::int64_t unit) {
    const std::int64_t rest = unit - 1;
    if ((unit & rest) == 0) return ((a | b) & rest) == 0;  // a division takes 20 to 40 cycles
    return a % unit == 0 && b % unit == 0;
  }

  std::atomic<std::int64_t> file_end_ = 0;  // of the last call of the store
};

/// What counting calls of the store needs to know of a file.
struct FileTraits {
  const plan::StripeMap* stripes = nullptr;  ///< null: not striped, or unknown
  std::int64_t block_bytes = 4096;           ///< two writers should not share a block or stripe
  bool has_osts = false;                     ///< the file is striped, or may become so
};

/// Measures the time of one call by phase. Phases follow each other every few microseconds, so they
/// are measured with clock_ticks(), and summed here until an interval of the timeline or the call
/// ends: then their time is added to the profile and its timeline. One thread at a time.
class PhaseClock {
 public:
  /// `weight`: as of Profiler; not 0.
  PhaseClock(Profile& profile, std::int64_t weight);
  ~PhaseClock();
  PhaseClock(const PhaseClock&) = delete;
  PhaseClock& operator=(const PhaseClock&) = delete;

  /// Counts the time since the last call for `phase`.
  void book(Phase phase) {
    const std::int64_t now = clock_ticks();
    const std::int64_t begin = std::exchange(since_, now);
    if (now <= interval_end_) {
      ticks_[static_cast<std::size_t>(phase)] += now - begin;
    } else {
      begin_interval(phase, begin, now);
    }
  }
  /// What was booked, without Phase::away, in clock_ticks().
  [[nodiscard]] std::int64_t ticks() const {
    return since_ - scale_.begin() - away_ - ticks_[static_cast<std::size_t>(Phase::away)];
  }

 private:
  /// Books the time from `begin` to `now`, which end in another interval than the time before.
  void begin_interval(Phase phase, std::int64_t begin, std::int64_t now);
  /// Adds what was booked since the last flush, until `end`, to the profile.
  void flush(std::int64_t end);
  void add_to_profile(Phase phase, std::int64_t nanoseconds);

  Profile& profile_;
  std::int64_t weight_;
  TickScale scale_;
  // All in clock_ticks():
  std::int64_t since_ = scale_.begin();
  // The highest: only the sums of the call are needed, at its end.
  std::int64_t interval_end_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t away_ = 0;  // before the interval
  std::array<std::int64_t, phase_count> ticks_{};
};

/// The clock of one call. One thread at a time.
class Profiler {
 public:
  /// Begins the call in `phase`. `weight`: it stands for so many calls; 0: only its whole time is
  /// measured, with processor_ticks().
  Profiler(Profile& profile, Phase phase, std::int64_t weight = 1)
      : profile_(profile), weight_(weight), phase_(phase) {
    if (weight == 0) {
      begin_ticks_ = processor_ticks();
    } else {
      by_phase_.emplace(profile, weight);
    }
  }
  ~Profiler() {
    if (weight_ == 0) {
      profile_.untimed_ticks.add(processor_ticks() - begin_ticks_);
    } else {
      by_phase_->book(phase_);
    }
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  [[nodiscard]] Profile& profile() { return profile_; }
  /// `traits.stripes` must outlive the calls that are counted.
  void describe_file(const FileTraits& traits) { traits_ = traits; }
  /// Whether each call of the store is to be timed by itself.
  [[nodiscard]] bool times_file_calls() const { return weight_ != 0 && traits_.has_osts; }
  void count_file_call(const FileCall& call) {
    profile_.count_file_call(call.bytes, traits_.block_bytes);
    if (traits_.has_osts) profile_.osts.add(traits_.stripes, call);
  }
  [[nodiscard]] Phase phase() const { return phase_; }
  /// The number of calls that this call stands for; 0: it is not timed by phase.
  [[nodiscard]] std::int64_t weight() const { return weight_; }
  /// Counts time from now on for `phase`. Returns the previous phase.
  Phase enter(Phase phase) {
    if (weight_ == 0 || phase == phase_) return phase_;
    by_phase_->book(phase_);
    return std::exchange(phase_, phase);
  }
  /// Called while the rank waits: from now on it waits for helper threads or for other ranks.
  void wait_for(bool file) {
    const bool waits = phase_ == Phase::wait || phase_ == Phase::file_wait;
    if (waits) enter(file ? Phase::file_wait : Phase::wait);
  }
  /// The time of the call so far, in clock_ticks() or, if it is not timed by phase,
  /// processor_ticks(); without Phase::away, if it is timed by phase.
  [[nodiscard]] std::int64_t ticks() {
    if (weight_ == 0) return processor_ticks() - begin_ticks_;
    by_phase_->book(phase_);
    return by_phase_->ticks();
  }

 private:
  Profile& profile_;
  FileTraits traits_;
  std::int64_t weight_;
  Phase phase_;
  std::int64_t begin_ticks_ = 0;        // if weight_ is 0
  std::optional<PhaseClock> by_phase_;  // otherwise
};

/// Switches the phase of a profiler when the operation of its call begins or ends to wait.
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

/// Enters a phase; its destructor returns to the previous phase.
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
