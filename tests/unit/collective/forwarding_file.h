// ForwardingFile: a file that is another one, for tests that change or watch some of its calls.
#ifndef NACRE_TESTS_UNIT_COLLECTIVE_FORWARDING_FILE_H_
#define NACRE_TESTS_UNIT_COLLECTIVE_FORWARDING_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "store/store.h"

namespace nacre::collective::testing {

class ForwardingFile : public store::StoreFile {
 public:
  explicit ForwardingFile(std::unique_ptr<store::StoreFile> inner) : inner_(std::move(inner)) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    return inner_->read(pieces, offset);
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    return inner_->write(pieces, offset);
  }
  Result<std::int64_t> size() override { return inner_->size(); }
  Status resize(std::int64_t size) override { return inner_->resize(size); }
  Status allocate(std::int64_t size) override { return inner_->allocate(size); }
  Status sync() override { return inner_->sync(); }
  Status close() override { return inner_->close(); }
  Result<std::unique_ptr<store::RangeLock>> lock(const Extent& range,
                                                 store::LockKind kind) override {
    return inner_->lock(range, kind);
  }
  store::FileIdentity identity() override { return inner_->identity(); }
  store::FileSystemFacts facts() override { return inner_->facts(); }
  Result<std::vector<std::byte>> layout() override { return inner_->layout(); }

 private:
  std::unique_ptr<store::StoreFile> inner_;
};

}  // namespace nacre::collective::testing

#endif  // NACRE_TESTS_UNIT_COLLECTIVE_FORWARDING_FILE_H_
