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

/// How long a call is late, and whether it moves half of its bytes before that.
struct Lateness {
  sim::SimulatedTime nanoseconds = 0;
  bool is_in_two_parts = false;
};

/// Counts the calls of one process that access files, their layouts, locks and shared counters,
/// over all its files. Calls that only read a layout are not among them.
class LateCalls {
 public:
  /// `lateness`: by the number of a call, from 1.
  LateCalls(sim::Scheduler& scheduler, std::map<std::int64_t, Lateness> lateness)
      : scheduler_(scheduler), lateness_(std::move(lateness)) {}
  /// Counts a call, and waits if it begins late.
  void begin();
  /// Counts a read or write, and waits if it begins late. Returns the length of its pause, or 0.
  [[nodiscard]] sim::SimulatedTime begin_transfer();
  void pause(sim::SimulatedTime length) { scheduler_.sleep(length); }

 private:
  sim::Scheduler& scheduler_;
  std::map<std::int64_t, Lateness> lateness_;
  std::int64_t count_ = 0;
};

class LateStore final : public store::ForwardingStore {
 public:
  LateStore(std::shared_ptr<store::Store> inner, std::shared_ptr<LateCalls> calls)
      : ForwardingStore(std::move(inner)), calls_(std::move(calls)) {}

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override;
  Result<std::int32_t> target_count(const std::string& path) override;

 private:
  std::shared_ptr<LateCalls> calls_;
};

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_LATE_STORE_H_
