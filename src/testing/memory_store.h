// Files in memory, shared by the ranks of one process: the store of tests and of the testbed.
#ifndef NACRE_TESTING_MEMORY_STORE_H_
#define NACRE_TESTING_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace nacre::testing {

/// Calls that a MemoryStore has served, over all its files and ranks.
struct MemoryStoreCounts {
  std::int64_t opens = 0;
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
};

/// See store::Store: the contract is kept as PosixStore keeps it, errors included, with a flat
/// space of names: any string that is not empty names a file. Files are sparse; their layouts are
/// those they were made with; a lock excludes the other opens of its file; an open file, a lock or
/// a counter may outlive the store. All ranks use one MemoryStore.
class MemoryStore final : public store::Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override;
  /// unsupported_operation.
  Result<std::int32_t> target_count(const std::string& path) override {
    return Store::target_count(path);
  }
  void forget_counter(const store::CounterKey& key) override;

  /// For tests: all bytes of a file (no_such_file where there is none); what was done so far.
  [[nodiscard]] Result<std::vector<std::byte>> contents(const std::string& path) const;
  [[nodiscard]] MemoryStoreCounts counts() const;
  /// Counters that are made and not forgotten.
  [[nodiscard]] std::int64_t counter_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_MEMORY_STORE_H_
