// SlowLink: computes when transfers over a link with a latency and a bandwidth end.
#ifndef NACRE_TESTING_FAULTS_SLOW_LINK_H_
#define NACRE_TESTING_FAULTS_SLOW_LINK_H_

#include <chrono>
#include <cstdint>

namespace nacre::testing {

/// The link between a client and a server. It carries one transfer after the other, in the order in
/// which they begin. A transfer ends one latency after its last byte. Concurrent transfers
/// therefore share the bandwidth, and their latencies overlap. Not thread-safe.
class SlowLink {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// `bytes_per_second` 0: unlimited.
  SlowLink(std::chrono::microseconds latency, std::int64_t bytes_per_second)
      : latency_(latency), bytes_per_second_(bytes_per_second) {}

  /// Adds a transfer that begins at `begin`, and returns its end.
  [[nodiscard]] Time end_of(Time begin, std::int64_t bytes);

 private:
  std::chrono::microseconds latency_;
  std::int64_t bytes_per_second_;
  Time free_{};  // time when the link has carried all previous transfers
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_SLOW_LINK_H_
