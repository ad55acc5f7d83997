// LateStore: a store some of whose calls begin late, in virtual time.
#ifndef NACRE_TESTS_SIMULATION_LATE_STORE_H_
#define NACRE_TESTS_SIMULATION_LATE_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/time/scheduler.h"
#include "store/forwarding.h"

namespace nacre::simulation {

/// Counts the calls of one process that access the file or its locks, over all its files. Calls
/// that the library makes while it holds a mutex that its helper threads need are not among them:
/// fibers would wait for each other for ever.
class LateCalls {
 public:
  /// `lateness`: nanoseconds by the number of a call, from 1.
  LateCalls(sim::Scheduler& scheduler, std::map<std::int64_t, std::int64_t> lateness)
      : scheduler_(scheduler), lateness_(std::move(lateness)) {}
  void begin();

 private:
  sim::Scheduler& scheduler_;
  std::map<std::int64_t, std::int64_t> lateness_;
  std::int64_t count_ = 0;
};

class LateStore final : public store::ForwardingStore {
 public:
  LateStore(std::shared_ptr<store::Store> inner, std::shared_ptr<LateCalls> calls)
      : ForwardingStore(std::move(inner)), calls_(std::move(calls)) {}

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;

 private:
  std::shared_ptr<LateCalls> calls_;
};

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_LATE_STORE_H_
