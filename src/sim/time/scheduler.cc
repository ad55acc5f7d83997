#include "sim/time/scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nacre::sim {
namespace {

constexpr SimulatedTime never = std::numeric_limits<SimulatedTime>::max();

class VirtualSignal final : public Signal {
 public:
  explicit VirtualSignal(Scheduler& scheduler) : queue_(scheduler) {}
  void wait(std::unique_lock<std::mutex>& guard) override {
    guard.unlock();
    queue_.wait();
    guard.lock();
  }
  void notify_all() override { queue_.notify_all(); }

 private:
  FiberQueue queue_;
};

class VirtualAlarm final : public Alarm {
 public:
  VirtualAlarm(Scheduler& scheduler, std::function<void()> ring)
      : scheduler_(scheduler), state_(std::make_shared<State>(std::move(ring))) {}
  ~VirtualAlarm() override { state_->ring = nullptr; }
  void set(SimulatedTime time) override {
    if (time >= state_->deadline) return;
    state_->deadline = time;
    scheduler_.at(time, [state = state_, time] {
      if (state->deadline != time || !state->ring) return;
      state->deadline = never;
      state->ring();
    });
  }

 private:
  /// Shared with events that may come after the alarm's end.
  struct State {
    explicit State(std::function<void()> ring_now) : ring(std::move(ring_now)) {}
    std::function<void()> ring;
    SimulatedTime deadline = never;
  };

  Scheduler& scheduler_;
  std::shared_ptr<State> state_;
};

}  // namespace

void FiberQueue::wait() {
  waiting_.push_back(scheduler_.running_);
  scheduler_.suspend();
}

void FiberQueue::notify_all() {
  for (const std::uint64_t fiber : std::exchange(waiting_, {})) {
    scheduler_.at(scheduler_.now_,
                  [this_scheduler = &scheduler_, fiber] { this_scheduler->resume(fiber); });
  }
}

std::unique_ptr<Signal> Scheduler::make_signal() { return std::make_unique<VirtualSignal>(*this); }

std::unique_ptr<Alarm> Scheduler::make_alarm(std::function<void()> ring) {
  return std::make_unique<VirtualAlarm>(*this, std::move(ring));
}

void Scheduler::at(SimulatedTime time, std::function<void()> act) {
  events_.push_back({std::max(time, now_), next_order_++, std::move(act)});
  std::ranges::push_heap(events_, is_later);
}

void Scheduler::observe_every(std::int64_t count, std::function<void()> observe) {
  observed_count_ = count;
  observe_ = std::move(observe);
}

void Scheduler::start(const std::string& name, const std::function<void()>& body) {
  const std::uint64_t id = next_fiber_++;
  fibers_.try_emplace(id, name, body, stack_bytes_);
  at(now_, [this, id] { resume(id); });
}

void Scheduler::resume(std::uint64_t fiber) {
  running_ = fiber;
  NamedFiber& named = fibers_.at(fiber);
  named.fiber.resume();
  running_ = 0;
  if (named.fiber.has_ended()) fibers_.erase(fiber);
}

void Scheduler::suspend() { fibers_.at(running_).fiber.suspend(); }

void Scheduler::sleep(SimulatedTime length) { sleep_until(now_ + length); }

void Scheduler::sleep_until(SimulatedTime time) {
  if (time <= now_) return;
  const bool is_next = events_.empty() || events_.front().time > time;
  if (is_next && time < time_max_) {
    now_ = time;
    return;
  }
  at(time, [this, fiber = running_] { resume(fiber); });
  suspend();
}

Scheduler::Event Scheduler::take_next() {
  std::ranges::pop_heap(events_, is_later);
  Event next = std::move(events_.back());
  events_.pop_back();
  return next;
}

bool Scheduler::run(SimulatedTime time_max) {
  time_max_ = time_max;
  while (!events_.empty() && events_.front().time < time_max) {
    const Event event = take_next();
    now_ = event.time;
    ++event_count_;
    if (observed_count_ != 0 && event_count_ % observed_count_ == 0) observe_();
    event.act();
  }
  return fibers_.empty();
}

std::string Scheduler::stuck() const {
  constexpr std::size_t length_max = 400;
  std::string names;
  for (const auto& [id, named] : fibers_) {
    if (names.size() > length_max) return names + " ...";
    names += (names.empty() ? "" : ", ") + named.name;
  }
  return names;
}

}  // namespace nacre::sim
