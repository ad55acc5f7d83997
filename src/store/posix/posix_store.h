// The store of mounted file systems.
#ifndef NACRE_STORE_POSIX_POSIX_STORE_H_
#define NACRE_STORE_POSIX_POSIX_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "store/posix/posix_store_file.h"
#include "store/store.h"
#include "store/system/descriptor.h"

namespace nacre::store {

/// See Store and PosixStoreFile. A shared counter is a word of shared memory if all ranks are on
/// one node, otherwise a small hidden file beside the data file. Thread-safe, without state. Stores
/// of file systems with further features derive from it and change how files are opened.
class PosixStore : public Store {
 public:
  Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                          const OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key, bool create) override;
  Result<std::int32_t> target_count(const std::string& path) override {
    return Store::target_count(path);
  }
  bool has_flash_targets(const std::string& path) override {
    return Store::has_flash_targets(path);
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    return Store::check_layout(path, layout);
  }
  void forget_counter(const CounterKey& key) override;

 protected:
  /// open(2) with `flags`.
  [[nodiscard]] virtual Result<Descriptor> open_descriptor(const std::string& path, int flags,
                                                           const OpenOptions& options);
  /// Additional flags of open(2) for a file that this process has already open.
  [[nodiscard]] virtual int reopen_flags() const { return 0; }
  /// Additional flags of open(2) to create the file of a counter.
  [[nodiscard]] virtual int counter_flags() const { return 0; }
  [[nodiscard]] virtual std::unique_ptr<StoreFile> make_file(OpenedFile opened);
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_POSIX_STORE_H_
