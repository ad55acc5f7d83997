#include "collective/profile/profile.h"

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
  return booked_;
}

void Profiler::book() {
  const std::int64_t now = monotonic_nanoseconds();
  const std::int64_t begin = std::exchange(since_, now);
  const std::int64_t passed = (now - begin) * weight_;
  const auto phase = static_cast<std::size_t>(phase_);
  profile_.nanoseconds[phase].add(passed);
  if (phase_ == Phase::away) return;
  booked_ += passed;
  if (profile_.timeline == nullptr) return;
  const Activity activity = activity_of_phase[phase];
  if (weight_ == 1) {
    profile_.timeline->add(activity, begin, now);
  } else {
    sample_[static_cast<std::size_t>(activity)] += now - begin;
  }
}

void Profiler::end() {
  book();
  if (weight_ == 1 || profile_.timeline == nullptr) return;
  profile_.timeline->add_sample(sample_, since_, weight_);
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
