// Timeline: what one rank did while a file was open, interval by interval, in constant size.
#ifndef NACRE_COLLECTIVE_PROFILE_TIMELINE_H_
#define NACRE_COLLECTIVE_PROFILE_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "collective/profile/rank_bands.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// What a rank does at a moment; coarser than Phase.
enum class Activity : std::uint8_t {
  agree,     ///< planning, views, agreement
  copy,      ///< copying bytes in memory
  messages,  ///< sending and receiving data
  wait,      ///< waiting for other ranks
  file,      ///< in the store, or waiting for helper threads that access the file
  lock,      ///< waiting for file locks and for the shared pointer
  other,     ///< in a call that moves no data
};
/// Their names, in this order.
inline constexpr std::array<std::string_view, 7> activity_names{"agree", "copy", "messages", "wait",
                                                                "file",  "lock", "other"};

/// The time of each activity by interval. The intervals are of one length, which doubles whenever
/// the file has been open for longer than all intervals together. Thread-safe.
class Timeline {
 public:
  static constexpr std::size_t interval_count = 64;
  /// The shortest interval is 2^20 nanoseconds: about a millisecond.
  static constexpr int shortest_log2 = 20;
  using Intervals = std::array<std::int64_t, interval_count>;
  using Times = std::array<Intervals, activity_names.size()>;         ///< nanoseconds, by Activity
  using CallTimes = std::array<std::int64_t, activity_names.size()>;  ///< of one call, likewise

  /// The first interval begins at `origin` (monotonic_nanoseconds()). To be called before any time
  /// is added.
  void begin(std::int64_t origin) { origin_ = origin; }

  /// Adds the time from `begin` to `end` (monotonic_nanoseconds()). Returns the end of the interval
  /// in which `end` lies.
  std::int64_t add(Activity activity, std::int64_t begin, std::int64_t end);
  /// Adds times that passed before `end`, in the same interval.
  void add_within(const CallTimes& times, std::int64_t end);
  /// Adds a call that stands for `weight` calls. Spreads `times`, `weight` times, over the time
  /// before `end`, back to the end of the time that was added last.
  void add_sample(const CallTimes& times, std::int64_t end, std::int64_t weight);

  [[nodiscard]] std::int64_t origin() const { return origin_; }
  /// The binary logarithm of the length of an interval in nanoseconds.
  [[nodiscard]] int interval_log2() const;
  /// In intervals of 2^`log2` nanoseconds; `log2` is at least interval_log2().
  [[nodiscard]] Times in_intervals_of(int log2) const;

 private:
  /// Makes intervals longer until `time`, since the origin, is in one of them.
  void reach(std::int64_t time);
  /// Adds a time since the origin that the intervals reach.
  void fill(Activity activity, std::int64_t begin, std::int64_t end);

  std::int64_t origin_ = 0;
  mutable std::mutex mutex_;
  int log2_ = shortest_log2;
  std::int64_t added_end_ = 0;  // of the time that was added last, since the origin
  Times times_{};
};

/// The timelines of all ranks.
struct RankTimelines {
  using Shares =
      std::array<std::array<std::int32_t, Timeline::interval_count>, activity_names.size()>;

  RankBands bands;
  int interval_log2 = Timeline::shortest_log2;
  /// By band, activity and interval: thousandths of the interval, summed over the band's ranks.
  std::vector<Shares> permille;
};

/// Collective. `interval_log2` is the same on all ranks, and at least that of each rank's timeline.
/// The result is valid on rank 0 only.
Task<RankTimelines> reduce_timelines(Transport& transport, const Timeline& timeline,
                                     int interval_log2);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_TIMELINE_H_
