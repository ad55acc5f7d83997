#include "late_store.h"

#include <span>

namespace nacre::simulation {
namespace {

class LateFile final : public store::ForwardingFile {
 public:
  LateFile(std::unique_ptr<store::StoreFile> inner, std::shared_ptr<LateCalls> calls)
      : ForwardingFile(std::move(inner)), calls_(std::move(calls)) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    calls_->begin();
    return ForwardingFile::read(pieces, offset);
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    calls_->begin();
    return ForwardingFile::write(pieces, offset);
  }
  Status resize(std::int64_t size) override {
    calls_->begin();
    return ForwardingFile::resize(size);
  }
  Status sync() override {
    calls_->begin();
    return ForwardingFile::sync();
  }
  Status close() override {
    calls_->begin();
    return ForwardingFile::close();
  }
  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    calls_->begin();
    return ForwardingFile::lock(range, kind);
  }

 private:
  std::shared_ptr<LateCalls> calls_;
};

}  // namespace

void LateCalls::begin() {
  const auto late = lateness_.find(++count_);
  if (late != lateness_.end()) scheduler_.sleep(late->second);
}

Result<std::unique_ptr<store::StoreFile>> LateStore::open(const std::string& path,
                                                          const store::OpenOptions& options) {
  calls_->begin();
  auto opened = ForwardingStore::open(path, options);
  if (!opened) return opened;
  return std::unique_ptr<store::StoreFile>(std::make_unique<LateFile>(*std::move(opened), calls_));
}

}  // namespace nacre::simulation
