// Faults: what somebody wants to go wrong on the testbed, while it runs.
#ifndef NACRE_TESTBED_FAULTS_H_
#define NACRE_TESTBED_FAULTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "base/extent.h"
#include "base/result.h"
#include "testbed/machine.h"

namespace nacre::testbed {

/// Of one OST.
struct OstFault {
  bool no_space = false;
  double error_rate = 0;                        ///< of accesses, 0 to 1
  std::optional<std::int64_t> error_byte = {};  ///< of the file: accesses of it fail
  double slowness = 1;  ///< requests take so many times as long; 0: for ever
};

/// A word to the testbed: a change of an OST's faults, or a node to be evicted.
struct FaultOrder {
  std::optional<std::int32_t> evicted_node = {};
  std::int32_t ost = 0;
  OstFault fault = {};
};

/// Reads one of "ost K no_space", "ost K error RATE", "ost K error_at BYTE", "ost K slow FACTOR",
/// "ost K hung", "ost K well" and "node K evicted"; the error says which there are.
[[nodiscard]] Result<FaultOrder> parse_fault(std::string_view text, const Machine& machine);

/// What is wrong with the OSTs. Not thread-safe.
class Faults {
 public:
  void set(std::int32_t ost, const OstFault& fault) { by_ost_[ost] = fault; }
  [[nodiscard]] bool is_full(std::int32_t ost) const;
  /// What an access of such bytes of a file on the OST fails with: ENOSPC (writes) or EIO.
  [[nodiscard]] Status check(std::int32_t ost, const Extent& file, bool writes);

 private:
  std::map<std::int32_t, OstFault> by_ost_;
  std::mt19937 random_;  // NOLINT(cert-msc51-cpp): the same in each run
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_FAULTS_H_
