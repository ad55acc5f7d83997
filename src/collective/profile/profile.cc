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

std::int64_t Profiler::nanoseconds() {
  if (weight_ == 0) {
    return std::llround(static_cast<double>(clock_ticks() - since_) * nanoseconds_per_tick());
  }
  book();
  return booked_;
}

void Profiler::book() {
  const std::int64_t now = monotonic_nanoseconds();
  const std::int64_t begin = std::exchange(since_, now);
  const auto phase = static_cast<std::size_t>(phase_);
  profile_.nanoseconds[phase].add(now - begin);
  if (weight_ > 1) {
    profile_.sampled_nanoseconds[phase].add(now - begin);
    by_phase_[phase] += now - begin;
  }
  if (phase_ == Phase::away) return;
  booked_ += now - begin;
  if (weight_ > 1 || profile_.timeline == nullptr) return;
  profile_.timeline->add(activity_of_phase[phase], begin, now);
}

void Profiler::end() {
  book();
  profile_.note_timed_call(booked_);
  if (weight_ == 1 || profile_.timeline == nullptr) return;
  Timeline::CallTimes times{};
  for (std::size_t phase = 0; phase < activity_of_phase.size(); ++phase) {
    times[static_cast<std::size_t>(activity_of_phase[phase])] += by_phase_[phase];
  }
  profile_.timeline->add_sample(times, since_, weight_);
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
