// Decides which call fails: the counting behind FaultyStore.
#ifndef NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_
#define NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/extent.h"
#include "testing/faults/fault_plan.h"
#include "testing/faults/slow_link.h"

namespace nacre::testing {

/// A transfer is to move so many bytes and then fail.
struct TransferFault {
  std::int64_t bytes = 0;
  int system_errno = 0;
};

/// Keeps the count of one rank. Thread-safe.
class FaultInjector {
 public:
  FaultInjector(FaultPlan plan, int rank);

  /// Counts a call that is no transfer; its errno, if it is to fail. Where several faults meet, the
  /// first of the plan.
  [[nodiscard]] std::optional<int> count_call(StoreCall operation, const std::string& path);
  /// Counts a read or write; where several faults meet, the one that moves least.
  [[nodiscard]] std::optional<TransferFault> count_transfer(StoreCall operation,
                                                            const std::string& path,
                                                            const Extent& range);
  /// Whether transfers are delayed.
  [[nodiscard]] bool delays(const std::string& path) const;
  /// When a transfer is to end that begins now.
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

  /// The bytes that `call` moves before the fault; nothing where it is no fault.
  static std::optional<std::int64_t> met(Counted& counted, const Call& call);
  static std::optional<std::int64_t> met(Counted& counted, const NthCall& trigger,
                                         const Call& call);
  static std::optional<std::int64_t> met(Counted& counted, const TouchedByte& trigger,
                                         const Call& call);
  static std::optional<std::int64_t> met(Counted& counted, const MovedBytes& trigger,
                                         const Call& call);

  struct Delayed {
    std::string path_part;
    SlowLink link;
  };

  std::mutex mutex_;  ///< of faults_ and of links
  std::vector<Counted> faults_;
  std::vector<Delayed> delays_;
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULT_INJECTOR_H_
