// A store that fails and dawdles on command.
#ifndef NACRE_TESTING_FAULTS_FAULTY_STORE_H_
#define NACRE_TESTING_FAULTS_FAULTY_STORE_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "store/forwarding_store.h"
#include "store/store.h"
#include "testing/faults/fault_plan.h"

namespace nacre::testing {

class FaultInjector;

/// One rank's way to `inner`: calls that the plan does not name go through, on the store and on its
/// files. A fault's Error
/// is what the system's own would be, with " (injected)" at its end. Counting goes over all files
/// and threads of this FaultyStore, so a rank has one. Thread-safe.
class FaultyStore final : public store::ForwardingStore {
 public:
  FaultyStore(std::shared_ptr<store::Store> inner, FaultPlan plan, int rank);

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override;

 private:
  std::shared_ptr<FaultInjector> injector_;
};

/// `inner`, behind the faults that the environment variable NACRE_TEST_FAULTS asks for on this
/// rank; itself where the variable is not set or empty. ErrorClass::arg where it is not understood.
[[nodiscard]] Result<std::shared_ptr<store::Store>> with_environment_faults(
    std::shared_ptr<store::Store> inner, int rank);

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULTY_STORE_H_
