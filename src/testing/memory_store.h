// MemoryStore: files in memory, shared by the ranks of one process, for tests and the testbed.
#ifndef NACRE_TESTING_MEMORY_STORE_H_
#define NACRE_TESTING_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace nacre::testing {

/// The calls that a MemoryStore has served, for all files and ranks.
struct MemoryStoreCounts {
  std::int64_t opens = 0;
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
};

/// Implements store::Store like PosixStore, with the same errors, but in a flat namespace: any
/// non-empty string names a file. Files are sparse and keep the layout with which they were
/// created. A lock excludes other opens of its file. Open files, locks and counters may outlive the
/// store. All ranks use one MemoryStore.
class MemoryStore final : public store::Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override;
  /// Always unsupported_operation.
  Result<std::int32_t> target_count(const std::string& path) override {
    return Store::target_count(path);
  }
  bool has_flash_targets(const std::string& path) override {
    return Store::has_flash_targets(path);
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    return Store::check_layout(path, layout);
  }
  void forget_counter(const store::CounterKey& key) override;

  /// For tests: all bytes of a file (no_such_file if it does not exist), and the calls so far.
  [[nodiscard]] Result<std::vector<std::byte>> contents(const std::string& path) const;
  [[nodiscard]] MemoryStoreCounts counts() const;
  /// The number of counters that were created and not forgotten.
  [[nodiscard]] std::int64_t counter_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_MEMORY_STORE_H_
