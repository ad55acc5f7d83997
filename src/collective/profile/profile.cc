#include "collective/profile/profile.h"

namespace nacre::collective {

std::int64_t Profiler::nanoseconds() {
  if (weight_ != 0) book();
  return booked_;
}

void Profiler::book() {
  const std::int64_t now = monotonic_nanoseconds();
  const std::int64_t passed = (now - since_) * weight_;
  since_ = now;
  profile_.nanoseconds[static_cast<std::size_t>(phase_)].add(passed);
  if (phase_ != Phase::away) booked_ += passed;
}

void ProfilerObserver::stops() {
  before_stop_ = profiler_.phase();
  const bool by_itself = before_stop_ == Phase::views || before_stop_ == Phase::agreement;
  if (!by_itself) profiler_.enter(Phase::wait);
}

void ProfilerObserver::goes_on() { profiler_.enter(before_stop_); }

void ProfilerObserver::left() { before_left_ = profiler_.enter(Phase::away); }

void ProfilerObserver::driven() {
  if (profiler_.phase() == Phase::away) profiler_.enter(before_left_);
}

}  // namespace nacre::collective
