// RankHeap: the heap of each of many ranks that are coroutines of one thread.
#pragma once

#include <cstdint>

namespace nacre::bench {

/// Counts what operator new and operator delete allocate and free while a Scope of the rank exists,
/// without Pauses. A block must be freed in the scope of its rank, or in a pause if it was
/// allocated in one. This program replaces both operators.
class RankHeap {
 public:
  /// Counts for a rank; one at a time.
  class Scope {
   public:
    explicit Scope(RankHeap& rank);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
  /// Does not count.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    RankHeap* paused_;
  };

  void add(std::int64_t bytes) {
    live_ += bytes;
    if (live_ > peak_) peak_ = live_;
  }
  /// Remembers how much is live, as what the rank keeps.
  void note_kept() { kept_ = live_; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::int64_t kept() const { return kept_; }

 private:
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t kept_ = 0;
};

}  // namespace nacre::bench
