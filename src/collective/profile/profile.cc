#include "collective/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nacre::collective {

std::array<std::int64_t, phase_count> Profile::nanoseconds_by_phase() const {
  std::array<std::int64_t, phase_count> times{};
  std::array<double, phase_count> shares{};
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    times[phase] = nanoseconds[phase].get();
    shares[phase] = static_cast<double>(sampled_nanoseconds[phase].get());
  }
  const auto ticks = static_cast<double>(untimed_ticks.get());
  if (ticks <= 0) return times;
  double sampled = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sampled == 0) {
    std::ranges::copy(times, shares.begin());
    sampled = std::accumulate(shares.begin(), shares.end(), 0.0);
  }
  const double scale = ticks * nanoseconds_per_tick() / std::max(1.0, sampled);
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    times[phase] += std::llround(scale * shares[phase]);
  }
  return times;
}

std::int64_t Profile::total_nanoseconds() const {
  const std::array<std::int64_t, phase_count> times = nanoseconds_by_phase();
  const auto away = static_cast<std::size_t>(Phase::away);
  return std::accumulate(times.begin(), times.end(), std::int64_t{0}) - times[away];
}

PhaseClock::PhaseClock(Profile& profile, std::int64_t weight) : profile_(profile), weight_(weight) {
  if (weight == 1 && profile.timeline != nullptr) interval_end_ = since_;  // not known yet
}

PhaseClock::~PhaseClock() {
  profile_.sampler.note(scale_.nanoseconds(ticks()));
  flush(since_);
}

void PhaseClock::begin_interval(Phase phase, std::int64_t begin, std::int64_t now) {
  flush(begin);
  add_to_profile(phase, scale_.nanoseconds(now - begin));
  if (phase == Phase::away) {
    away_ += now - begin;
    interval_end_ = now;
  } else {
    const Activity activity = activity_of_phase[static_cast<std::size_t>(phase)];
    interval_end_ = scale_.ticks_at(
        profile_.timeline->add(activity, scale_.time_at(begin), scale_.time_at(now)));
  }
}

void PhaseClock::flush(std::int64_t end) {
  Timeline::CallTimes times{};
  bool has_times = false;
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    if (ticks_[phase] <= 0) continue;  // below 0 only where the processor's counters differ
    const std::int64_t nanoseconds = scale_.nanoseconds(ticks_[phase]);
    add_to_profile(static_cast<Phase>(phase), nanoseconds);
    if (phase >= activity_of_phase.size()) continue;
    times[static_cast<std::size_t>(activity_of_phase[phase])] += nanoseconds;
    has_times = true;
  }
  away_ += ticks_[static_cast<std::size_t>(Phase::away)];
  ticks_ = {};
  if (!has_times || profile_.timeline == nullptr) return;
  if (weight_ == 1) {
    profile_.timeline->add_within(times, scale_.time_at(end));
  } else {
    profile_.timeline->add_sample(times, scale_.time_at(end), weight_);
  }
}

void PhaseClock::add_to_profile(Phase phase, std::int64_t nanoseconds) {
  profile_.nanoseconds[static_cast<std::size_t>(phase)].add(nanoseconds);
  if (weight_ > 1) profile_.sampled_nanoseconds[static_cast<std::size_t>(phase)].add(nanoseconds);
}

void ProfilerObserver::wait_begins() {
  before_wait_ = profiler_.phase();
  const bool by_itself = before_wait_ == Phase::views || before_wait_ == Phase::agreement;
  if (!by_itself) profiler_.enter(Phase::wait);
}

void ProfilerObserver::wait_ends() { profiler_.enter(before_wait_); }

void ProfilerObserver::progress_ends() { before_pause_ = profiler_.enter(Phase::away); }

void ProfilerObserver::progress_begins() {
  if (profiler_.phase() == Phase::away) profiler_.enter(before_pause_);
}

}  // namespace nacre::collective
