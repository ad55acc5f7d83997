#include "sim/files/phantom_store.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace nacre::sim {
namespace {

template <class Pieces>
std::int64_t bytes_of(const Pieces& pieces) {
  std::int64_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size;
  return bytes;
}

class PhantomFile final : public store::StoreFile {
 public:
  explicit PhantomFile(std::int64_t& size) : size_(size) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    return {std::clamp<std::int64_t>(size_ - offset, 0, bytes_of(pieces)), std::nullopt};
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    const std::int64_t bytes = bytes_of(pieces);
    size_ = std::max(size_, offset + bytes);
    return {bytes, std::nullopt};
  }
  Result<std::int64_t> size() override { return size_; }
  Status resize(std::int64_t size) override {
    size_ = size;
    return {};
  }
  Status allocate(std::int64_t size) override {
    size_ = std::max(size_, size);
    return {};
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  Result<std::unique_ptr<store::FileLock>> lock(const Extent& /*range*/,
                                                store::LockKind /*kind*/) override {
    return std::make_unique<store::FileLock>();
  }
  Status check_locks() override { return {}; }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    return StoreFile::lock_group(number);
  }
  Status narrow_locks() override { return StoreFile::narrow_locks(); }
  Status lock_ahead(std::span<const Extent> ranges) override {
    return StoreFile::lock_ahead(ranges);
  }
  store::FileIdentity identity() override { return {}; }
  store::FileSystemFacts facts() override { return {}; }
  store::FileLayouts* layouts() override { return nullptr; }

 private:
  std::int64_t& size_;
};

class PhantomStore final : public store::Store {
 public:
  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& /*options*/) override {
    return std::unique_ptr<store::StoreFile>(std::make_unique<PhantomFile>(sizes_[path]));
  }
  Status remove(const std::string& path) override {
    sizes_.erase(path);
    return {};
  }
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& /*key*/,
                                                        bool /*create*/) override {
    return Error{ErrorClass::unsupported_operation, 0, "phantoms have no counters"};
  }
  Result<std::int32_t> target_count(const std::string& path) override {
    return Store::target_count(path);
  }
  bool has_flash_targets(const std::string& path) override {
    return Store::has_flash_targets(path);
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    return Store::check_layout(path, layout);
  }
  void forget_counter(const store::CounterKey& /*key*/) override {}

 private:
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace

std::shared_ptr<store::Store> make_phantom_store() { return std::make_shared<PhantomStore>(); }

}  // namespace nacre::sim
