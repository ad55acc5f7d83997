// Faults: the faults that a user injects into the model, and into the running testbed.
#ifndef NACRE_SIM_LUSTRE_FAULTS_H_
#define NACRE_SIM_LUSTRE_FAULTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "base/extent.h"
#include "base/result.h"
#include "machine/machine.h"

namespace nacre::sim {

/// The faults of one OST.
struct OstFault {
  bool no_space = false;
  bool no_objects = false;                      ///< creates no objects
  double error_rate = 0;                        ///< fraction of accesses that fail, 0 to 1
  std::optional<std::int64_t> error_byte = {};  ///< offset in the file: accesses to it fail
  double late_error_rate = 0;  ///< fraction of requests with cached writes that fail, 0 to 1
  double slowness = 1;         ///< factor for the time of requests; 0: requests never end
};

/// A command: sets the faults of an OST, or evicts a node.
struct FaultOrder {
  std::optional<std::int32_t> evicted_node = {};
  std::int32_t ost = 0;
  OstFault fault = {};
};

/// Parses one of "ost K no_space", "ost K no_objects", "ost K error RATE", "ost K error_at BYTE",
/// "ost K late_error RATE", "ost K slow FACTOR", "ost K hung", "ost K well" and "node K evicted".
/// Otherwise the error message lists the valid values.
[[nodiscard]] Result<FaultOrder> parse_fault(std::string_view text,
                                             const machine::Machine& machine);

/// The current faults of all OSTs. Not thread-safe.
class Faults {
 public:
  void set(std::int32_t ost, const OstFault& fault) { by_ost_[ost] = fault; }
  /// Whether the OST has the fault no_space.
  [[nodiscard]] bool is_full(std::int32_t ost) const;
  /// Returns the error of an access to bytes `file` of a file, on this OST: ENOSPC (writes only)
  /// or EIO.
  [[nodiscard]] Status check(std::int32_t ost, const Extent& file, bool writes);
  /// Whether the OST refuses the next request with cached writes, whose calls have returned.
  [[nodiscard]] bool refuses_cached(std::int32_t ost);

 private:
  /// True for this fraction of the calls.
  [[nodiscard]] bool happens(double rate);

  std::map<std::int32_t, OstFault> by_ost_;
  std::mt19937 random_;  // NOLINT(cert-msc51-cpp): the same sequence in each run
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_FAULTS_H_
