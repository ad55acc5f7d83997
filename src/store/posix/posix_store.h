// The store of what the kernel mounts.
#ifndef NACRE_STORE_POSIX_POSIX_STORE_H_
#define NACRE_STORE_POSIX_POSIX_STORE_H_

#include <memory>
#include <string>

#include "store/store.h"

namespace nacre::store {

/// See Store and PosixStoreFile. A shared counter is a word of shared memory where all ranks are on
/// one node, else a small hidden file beside the data file. Thread-safe, without state.
class PosixStore final : public Store {
 public:
  Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                          const OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key, bool create) override;
  Result<std::int32_t> target_count(const std::string& path) override;
  void forget_counter(const CounterKey& key) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_POSIX_STORE_H_
