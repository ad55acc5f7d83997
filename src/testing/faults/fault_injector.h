// FaultInjector: counts the calls of a FaultyStore and decides which of them fail.
#ifndef NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_
#define NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/extent.h"
#include "testing/faults/fault_plan.h"
#include "testing/faults/slow_link.h"

namespace nacre::testing {

/// A read or write must transfer `bytes` bytes and then fail.
struct TransferFault {
  std::int64_t bytes = 0;
  int system_errno = 0;
};

/// Called for each call that fails.
using FaultObserver = std::function<void(StoreCall operation)>;

/// Counts the calls of one rank. Thread-safe.
class FaultInjector {
 public:
  /// `observer`: may be null; called by any thread.
  FaultInjector(FaultPlan plan, int rank, FaultObserver observer);

  /// Counts a call other than read and write. Returns its errno if it must fail. If several faults
  /// apply, the first of the plan is returned.
  [[nodiscard]] std::optional<int> count_call(StoreCall operation, const std::string& path);
  /// Counts a read or write. If several faults apply, the fault that transfers the fewest bytes is
  /// returned.
  [[nodiscard]] std::optional<TransferFault> count_transfer(StoreCall operation,
                                                            const std::string& path,
                                                            const Extent& range);
  /// Whether the plan delays reads and writes of the file.
  [[nodiscard]] bool delays(const std::string& path) const;
  /// The time when a read or write that starts now must return.
  [[nodiscard]] SlowLink::Time end_of_transfer(const std::string& path, std::int64_t bytes);

 private:
  struct Counted {
    Fault fault;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    bool fired = false;
  };
  struct Call {
    StoreCall operation;
    Extent range;
  };

  [[nodiscard]] std::optional<TransferFault> find_fault(const Call& call, const std::string& path);
  /// The bytes that `call` transfers before the fault; nullopt if the fault does not apply.
  static std::optional<std::int64_t> bytes_before_fault(Counted& counted, const Call& call);
  static std::optional<std::int64_t> bytes_before_fault(Counted& counted, const NthCall& trigger,
                                                        const Call& call);
  static std::optional<std::int64_t> bytes_before_fault(Counted& counted,
                                                        const TouchedByte& trigger,
                                                        const Call& call);
  static std::optional<std::int64_t> bytes_before_fault(Counted& counted, const MovedBytes& trigger,
                                                        const Call& call);

  struct Delayed {
    std::string path_part;
    SlowLink link;
  };

  FaultObserver observer_;
  std::mutex mutex_;  ///< guards faults_ and the links of delays_
  std::vector<Counted> faults_;
  std::vector<Delayed> delays_;
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_
