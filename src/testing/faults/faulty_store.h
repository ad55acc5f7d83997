// FaultyStore: a store that injects faults and delays.
#ifndef NACRE_TESTING_FAULTS_FAULTY_STORE_H_
#define NACRE_TESTING_FAULTS_FAULTY_STORE_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "store/forwarding.h"
#include "store/store.h"
#include "testing/faults/fault_injector.h"
#include "testing/faults/fault_plan.h"

namespace nacre::testing {

/// Forwards the calls of one rank, on the store and on its files, to `inner`, except calls that the
/// plan makes fail. An injected Error is like the system's, with " (injected)" at the end of its
/// message. Calls are counted over all files and threads of a FaultyStore: use one per rank.
/// Thread-safe.
class FaultyStore final : public store::ForwardingStore {
 public:
  /// `observer`: called for each call that fails, by any thread.
  FaultyStore(std::shared_ptr<store::Store> inner, FaultPlan plan, int rank,
              FaultObserver observer = nullptr);

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override;
  Result<std::int32_t> target_count(const std::string& path) override;

 private:
  std::shared_ptr<FaultInjector> injector_;
};

/// A FaultyStore for `inner` with the plan in the environment variable NACRE_TEST_FAULTS. `inner`
/// itself if the variable is unset or empty. ErrorClass::arg if the plan is invalid.
[[nodiscard]] Result<std::shared_ptr<store::Store>> with_environment_faults(
    std::shared_ptr<store::Store> inner, int rank);

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULTY_STORE_H_
