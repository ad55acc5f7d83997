// ForwardingFile and ForwardingStore forward every call to another StoreFile or Store. Bases of
// classes that change or observe some calls. The calls are pure virtual in StoreFile and Store, so
// a call that is not forwarded here does not compile.
#ifndef NACRE_STORE_FORWARDING_H_
#define NACRE_STORE_FORWARDING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "store/store.h"

namespace nacre::store {

class ForwardingFile : public StoreFile {
 public:
  explicit ForwardingFile(std::unique_ptr<StoreFile> inner) : inner_(std::move(inner)) {}

  Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) override {
    return inner_->read(pieces, offset);
  }
  Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) override {
    return inner_->write(pieces, offset);
  }
  Result<std::int64_t> size() override { return inner_->size(); }
  Status resize(std::int64_t size) override { return inner_->resize(size); }
  Status allocate(std::int64_t size) override { return inner_->allocate(size); }
  Status sync() override { return inner_->sync(); }
  Status close() override { return inner_->close(); }
  Result<std::unique_ptr<FileLock>> lock(const Extent& range, LockKind kind) override {
    return inner_->lock(range, kind);
  }
  Status check_locks() override { return inner_->check_locks(); }
  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override {
    return inner_->lock_group(number);
  }
  Status narrow_locks() override { return inner_->narrow_locks(); }
  Status lock_ahead(std::span<const Extent> ranges) override { return inner_->lock_ahead(ranges); }
  FileIdentity identity() override { return inner_->identity(); }
  FileSystemFacts facts() override { return inner_->facts(); }
  FileLayouts* layouts() override { return inner_->layouts(); }

 private:
  std::unique_ptr<StoreFile> inner_;
};

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
  bool has_flash_targets(const std::string& path) override {
    return inner_->has_flash_targets(path);
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    return inner_->check_layout(path, layout);
  }
  void forget_counter(const CounterKey& key) override { inner_->forget_counter(key); }

 private:
  std::shared_ptr<Store> inner_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_FORWARDING_H_
