#include "collective/profile/timeline.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "collective/agreement/agreements.h"

namespace nacre::collective {
namespace {

/// Makes each interval as long as 2^`doublings` intervals.
void lengthen(Timeline::Intervals& intervals, int doublings) {
  Timeline::Intervals longer{};
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::size_t at = doublings < 6 ? i >> doublings : 0;
    longer[at] += intervals[i];
  }
  intervals = longer;
}

}  // namespace

std::int64_t Timeline::add(Activity activity, std::int64_t begin, std::int64_t end) {
  const std::int64_t start = std::max<std::int64_t>(begin - origin_, 0);
  const std::int64_t stop = end - origin_;
  const std::lock_guard guard(mutex_);
  if (start < stop) {
    reach(stop);
    fill(activity, start, stop);
    added_end_ = std::max(added_end_, stop);
  }
  return origin_ + (((stop >> log2_) + 1) << log2_);
}

void Timeline::add_within(const CallTimes& times, std::int64_t end) {
  const std::int64_t stop = end - origin_;
  if (stop <= 0) return;  // the processor's counters differ
  const std::lock_guard guard(mutex_);
  reach(stop);
  const auto interval = static_cast<std::size_t>((stop - 1) >> log2_);
  for (std::size_t i = 0; i < times.size(); ++i) times_[i][interval] += times[i];
  added_end_ = std::max(added_end_, stop);
}

void Timeline::add_sample(const CallTimes& times, std::int64_t end, std::int64_t weight) {
  const std::int64_t total = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  const std::int64_t stop = end - origin_;
  const std::lock_guard guard(mutex_);
  const std::int64_t start = std::max(stop - (total * weight), added_end_);
  if (start >= stop || total == 0) return;
  reach(stop);
  const double stretch = static_cast<double>(stop - start) / static_cast<double>(total);
  double at = static_cast<double>(start);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    const double next = at + (static_cast<double>(times[i]) * stretch);
    fill(static_cast<Activity>(i), static_cast<std::int64_t>(at),
         std::min(static_cast<std::int64_t>(next), stop));
    at = next;
  }
  added_end_ = stop;
}

void Timeline::reach(std::int64_t time) {
  int doublings = 0;
  while ((time - 1) >> (log2_ + doublings) >= std::ssize(times_[0])) ++doublings;
  if (doublings == 0) return;
  for (Intervals& intervals : times_) lengthen(intervals, doublings);
  log2_ += doublings;
}

void Timeline::fill(Activity activity, std::int64_t begin, std::int64_t end) {
  Intervals& intervals = times_[static_cast<std::size_t>(activity)];
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t index = at >> log2_;
    const std::int64_t next = std::min(end, (index + 1) << log2_);
    intervals[static_cast<std::size_t>(index)] += next - at;
    at = next;
  }
}

int Timeline::interval_log2() const {
  const std::lock_guard guard(mutex_);
  return log2_;
}

Timeline::Times Timeline::in_intervals_of(int log2) const {
  const std::lock_guard guard(mutex_);
  Times times = times_;
  for (Intervals& intervals : times) lengthen(intervals, log2 - log2_);
  return times;
}

Task<RankTimelines> reduce_timelines(Transport& transport, const Timeline& timeline,
                                     int interval_log2) {
  RankTimelines ranks;
  ranks.bands = RankBands(transport.size());
  ranks.interval_log2 = interval_log2;
  ranks.permille.resize(static_cast<std::size_t>(ranks.bands.count()));
  const Timeline::Times own = timeline.in_intervals_of(interval_log2);
  const int band = ranks.bands.band_of(transport.rank());
  RankTimelines::Shares& shares = ranks.permille[static_cast<std::size_t>(band)];
  for (std::size_t activity = 0; activity < own.size(); ++activity) {
    for (std::size_t i = 0; i < own[activity].size(); ++i) {
      const std::int64_t share = (own[activity][i] * 1000) >> interval_log2;
      shares[activity][i] = static_cast<std::int32_t>(std::min<std::int64_t>(share, 1000));
    }
  }
  auto reducing = reduce(transport, std::as_writable_bytes(std::span(ranks.permille)),
                         &add_integers<std::int32_t>);
  co_await reducing;
  co_return ranks;
}

}  // namespace nacre::collective
