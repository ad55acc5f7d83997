// ForwardingFile: forwards every call to another StoreFile. Base of classes that change or observe
// some calls. StoreFile's calls are pure virtual, so a call that is not forwarded here does not
// compile.
#ifndef NACRE_STORE_FORWARDING_FILE_H_
#define NACRE_STORE_FORWARDING_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
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
  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override {
    return inner_->lock_group(number);
  }
  Status narrow_locks() override { return inner_->narrow_locks(); }
  FileIdentity identity() override { return inner_->identity(); }
  FileSystemFacts facts() override { return inner_->facts(); }
  FileLayouts* layouts() override { return inner_->layouts(); }

 private:
  std::unique_ptr<StoreFile> inner_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_FORWARDING_FILE_H_
