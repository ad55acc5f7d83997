// ForwardingStore: forwards every call to another Store. Base of classes that change or observe
// some calls. Store's calls are pure virtual, so a call that is not forwarded here does not
// compile.
#ifndef NACRE_STORE_FORWARDING_STORE_H_
#define NACRE_STORE_FORWARDING_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "store/store.h"

namespace nacre::store {

class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                          const OpenOptions& options) override {
    return inner_->open(path, options);
  }
  Status remove(const std::string& path) override { return inner_->remove(path); }
  Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key, bool create) override {
    return inner_->counter(key, create);
  }
  Result<std::int32_t> target_count(const std::string& path) override {
    return inner_->target_count(path);
  }
  void forget_counter(const CounterKey& key) override { inner_->forget_counter(key); }

 private:
  std::shared_ptr<Store> inner_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_FORWARDING_STORE_H_
