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
  using Times = std::array<Intervals, activity_names.size()>;  ///< nanoseconds, by Activity

  /// The first interval begins at `origin` (monotonic_nanoseconds()). To be called before any time
  /// is added.
  void begin(std::int64_t origin) { origin_ = origin; }

  /// Adds the time from `begin` to `end` (monotonic_nanoseconds()), times `weight`. If `weight` is
  /// more than 1, the time stands for as many calls, and is spread over the time before `end`,
  /// back to the end of the last time of weight 1.
  void add(Activity activity, std::int64_t begin, std::int64_t end, std::int64_t weight = 1);

  [[nodiscard]] std::int64_t origin() const { return origin_; }
  /// The binary logarithm of the length of an interval in nanoseconds.
  [[nodiscard]] int interval_log2() const;
  /// In intervals of 2^`log2` nanoseconds; `log2` is at least interval_log2().
  [[nodiscard]] Times in_intervals_of(int log2) const;

 private:
  std::int64_t origin_ = 0;
  mutable std::mutex mutex_;
  int log2_ = shortest_log2;
  std::int64_t exact_end_ = 0;  // of the last time of weight 1, since the origin
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
