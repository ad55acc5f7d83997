#include "collective/profile/call_sampler.h"

#include "base/clock.h"

namespace nacre::collective {
namespace {

constexpr std::int64_t timed_at_first = 32;

/// A number below `limit` that looks random (the finalizer of SplitMix64).
std::int64_t scatter(std::int64_t number, std::int64_t limit) {
  std::uint64_t bits = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((bits ^ (bits >> 31)) % static_cast<std::uint64_t>(limit));
}

}  // namespace

std::int64_t CallSampler::select(std::int64_t number, std::int64_t bytes) {
  if (bytes >= sampling_.large_bytes) return 1;
  if (number < timed_at_first || are_slow() || is_clock_replaced()) return 1;
  const std::int64_t following = number / sampling_.interval + 1;
  const std::int64_t next = following * sampling_.interval + scatter(following, sampling_.interval);
  const std::int64_t before = next_.exchange(next, std::memory_order_relaxed);
  return before == every_call ? 1 : sampling_.interval;
}

void CallSampler::note(std::int64_t duration) {
  constexpr std::int64_t share_of_one = 8;
  const std::int64_t change = (duration - recent_nanoseconds()) / share_of_one;
  recent_nanoseconds_.fetch_add(change, std::memory_order_relaxed);
  if (are_slow()) next_.store(every_call, std::memory_order_relaxed);
}

}  // namespace nacre::collective
