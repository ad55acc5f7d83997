// SlowLink: when transfers end that go through a latency and a bandwidth.
#ifndef NACRE_TESTING_FAULTS_SLOW_LINK_H_
#define NACRE_TESTING_FAULTS_SLOW_LINK_H_

#include <chrono>
#include <cstdint>

namespace nacre::testing {

/// The way between one client and a server: bytes go through it at its bandwidth in the order in
/// which their transfers begin, one transfer after the other, and a transfer ends a latency after
/// its last byte. So transfers that are under way at once share the bandwidth, and wait for the
/// latency together. One thread at a time.
class SlowLink {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// `bytes_per_second` 0: no limit.
  SlowLink(std::chrono::microseconds latency, std::int64_t bytes_per_second)
      : latency_(latency), bytes_per_second_(bytes_per_second) {}

  /// The end of a transfer that begins at `begin`.
  [[nodiscard]] Time end_of(Time begin, std::int64_t bytes);

 private:
  std::chrono::microseconds latency_;
  std::int64_t bytes_per_second_;
  Time free_{};  // when all bytes so far have gone through
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_SLOW_LINK_H_
