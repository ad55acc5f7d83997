#include "collective/profile/profile.h"

#include <algorithm>
#include <cmath>

namespace nacre::collective {

std::int64_t Profile::total_nanoseconds() const {
  std::int64_t total = 0;
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    if (static_cast<Phase>(phase) != Phase::away) total += nanoseconds[phase].get();
  }
  return total;
}

std::int64_t Profiler::nanoseconds() {
  if (weight_ != 0) book();
  return std::llround(static_cast<double>(booked_) * call_count());
}

double Profiler::call_count() const {
  const auto most = static_cast<double>(weight_);
  if (weight_ <= 1) return most;
  const std::int64_t room = since_ - profile_.timed_since() - profile_.total_nanoseconds();
  const auto of_one = static_cast<double>(std::max<std::int64_t>(1, booked_));
  return std::clamp(static_cast<double>(room) / of_one, 1.0, most);
}

void Profiler::book() {
  const std::int64_t now = monotonic_nanoseconds();
  const std::int64_t begin = std::exchange(since_, now);
  const auto phase = static_cast<std::size_t>(phase_);
  if (phase_ != Phase::away) booked_ += now - begin;
  if (weight_ != 1) {
    by_phase_[phase] += now - begin;
    return;
  }
  profile_.nanoseconds[phase].add(now - begin);
  if (phase_ == Phase::away || profile_.timeline == nullptr) return;
  profile_.timeline->add(activity_of_phase[phase], begin, now);
}

void Profiler::end() {
  book();
  if (weight_ != 1) add_sample();
  profile_.note_timed_call(booked_, since_);
}

void Profiler::add_sample() {
  const double calls = call_count();
  Timeline::CallTimes times{};
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    const std::int64_t once = by_phase_[phase];
    profile_.nanoseconds[phase].add(std::llround(static_cast<double>(once) * calls));
    if (phase < activity_of_phase.size()) {
      times[static_cast<std::size_t>(activity_of_phase[phase])] += once;
    }
  }
  if (profile_.timeline != nullptr) profile_.timeline->add_sample(times, since_, weight_);
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
