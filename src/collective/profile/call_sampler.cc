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
  if (number < timed_at_first || are_slow() || is_clock_replaced()) return 1;
  std::int64_t selected = next_.load(std::memory_order_relaxed);
  const bool is_large = bytes >= sampling_.large_bytes;
  if (number < selected) return is_large ? 1 : 0;
  // A large call uses up its place: otherwise the next small call would stand for too many.
  const bool is_first = selected == every_call;
  const std::int64_t block = number / sampling_.interval + 1;
  const std::int64_t next = is_first
                                ? number + 1 + scatter(number, sampling_.interval)
                                : block * sampling_.interval + scatter(block, sampling_.interval);
  const bool is_mine = next_.compare_exchange_strong(selected, next, std::memory_order_relaxed);
  if (is_large || is_first) return 1;
  return is_mine ? sampling_.interval : 0;
}

void CallSampler::note(std::int64_t duration) {
  constexpr std::int64_t share_of_one = 8;
  const std::int64_t change = (duration - recent_nanoseconds()) / share_of_one;
  recent_nanoseconds_.fetch_add(change, std::memory_order_relaxed);
  if (are_slow()) next_.store(every_call, std::memory_order_relaxed);
}

}  // namespace nacre::collective
