#include "late_store.h"

#include <optional>
#include <span>
#include <vector>

#include "store/pieces.h"

namespace nacre::simulation {
namespace {

class LateLayouts final : public store::FileLayouts {
 public:
  /// `inner` outlives this object.
  LateLayouts(store::FileLayouts& inner, std::shared_ptr<LateCalls> calls)
      : inner_(inner), calls_(std::move(calls)) {}

  Result<std::optional<plan::Layout>> read() override {
    calls_->begin();
    return inner_.read();
  }
  Status set(const plan::Layout& layout) override {
    calls_->begin();
    return inner_.set(layout);
  }
  Status set_default() override {
    calls_->begin();
    return inner_.set_default();
  }
  std::optional<plan::Layout> default_layout() override { return inner_.default_layout(); }
  Status add(const plan::Layout& components) override {
    calls_->begin();
    return inner_.add(components);
  }
  Status remove_unwritten() override {
    calls_->begin();
    return inner_.remove_unwritten();
  }
  Result<std::int32_t> target_count() override {
    calls_->begin();
    return inner_.target_count();
  }
  bool means_no_layout(const Error& error) const override { return inner_.means_no_layout(error); }
  bool means_not_owner(const Error& error) const override { return inner_.means_not_owner(error); }

 private:
  store::FileLayouts& inner_;
  std::shared_ptr<LateCalls> calls_;
};

class LateCounter final : public store::SharedCounter {
 public:
  LateCounter(std::unique_ptr<store::SharedCounter> inner, std::shared_ptr<LateCalls> calls)
      : inner_(std::move(inner)), calls_(std::move(calls)) {}

  Result<std::int64_t> fetch_add(std::int64_t amount) override {
    calls_->begin();
    return inner_->fetch_add(amount);
  }
  Status set(std::int64_t value) override {
    calls_->begin();
    return inner_->set(value);
  }
  Result<std::int64_t> get() override {
    calls_->begin();
    return inner_->get();
  }

 private:
  std::unique_ptr<store::SharedCounter> inner_;
  std::shared_ptr<LateCalls> calls_;
};

class LateFile final : public store::ForwardingFile {
 public:
  LateFile(std::unique_ptr<store::StoreFile> inner, std::shared_ptr<LateCalls> calls)
      : ForwardingFile(std::move(inner)), calls_(std::move(calls)) {
    store::FileLayouts* const inner_layouts = ForwardingFile::layouts();
    if (inner_layouts != nullptr) layouts_.emplace(*inner_layouts, calls_);
  }

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    return move_late(pieces, offset);
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    return move_late(pieces, offset);
  }
  Result<std::int64_t> size() override {
    calls_->begin();
    return ForwardingFile::size();
  }
  Status resize(std::int64_t size) override {
    calls_->begin();
    return ForwardingFile::resize(size);
  }
  Status allocate(std::int64_t size) override {
    calls_->begin();
    return ForwardingFile::allocate(size);
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
  Status check_locks() override {
    calls_->begin();
    return ForwardingFile::check_locks();
  }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    calls_->begin();
    return ForwardingFile::lock_group(number);
  }
  Status narrow_locks() override {
    calls_->begin();
    return ForwardingFile::narrow_locks();
  }
  Status lock_ahead(std::span<const Extent> ranges) override {
    calls_->begin();
    return ForwardingFile::lock_ahead(ranges);
  }
  store::FileLayouts* layouts() override { return layouts_ ? &*layouts_ : nullptr; }

 private:
  store::Transfer move(std::span<const store::ReadPiece> pieces, std::int64_t offset) {
    return ForwardingFile::read(pieces, offset);
  }
  store::Transfer move(std::span<const store::WritePiece> pieces, std::int64_t offset) {
    return ForwardingFile::write(pieces, offset);
  }

  template <class Piece>
  store::Transfer move_late(std::span<const Piece> pieces, std::int64_t offset) {
    const sim::SimulatedTime pause = calls_->begin_transfer();
    const std::int64_t half = store::total_bytes(pieces) / 2;
    if (pause == 0 || half == 0) return move(pieces, offset);
    const std::vector<Piece> first = store::first_pieces(pieces, half);
    store::Transfer done = move(std::span<const Piece>(first), offset);
    if (done.error || done.bytes < half) return done;
    calls_->pause(pause);
    const std::vector<Piece> rest = store::pieces_behind(pieces, half);
    store::Transfer more = move(std::span<const Piece>(rest), offset + half);
    return {half + more.bytes, std::move(more.error)};
  }

  std::shared_ptr<LateCalls> calls_;
  std::optional<LateLayouts> layouts_;
};

}  // namespace

void LateCalls::begin() { pause(begin_transfer()); }

sim::SimulatedTime LateCalls::begin_transfer() {
  const auto late = lateness_.find(++count_);
  if (late == lateness_.end()) return 0;
  if (late->second.is_in_two_parts) return late->second.nanoseconds;
  pause(late->second.nanoseconds);
  return 0;
}

Result<std::unique_ptr<store::StoreFile>> LateStore::open(const std::string& path,
                                                          const store::OpenOptions& options) {
  calls_->begin();
  auto opened = ForwardingStore::open(path, options);
  if (!opened) return opened;
  return std::unique_ptr<store::StoreFile>(std::make_unique<LateFile>(*std::move(opened), calls_));
}

Status LateStore::remove(const std::string& path) {
  calls_->begin();
  return ForwardingStore::remove(path);
}

Result<std::unique_ptr<store::SharedCounter>> LateStore::counter(const store::CounterKey& key,
                                                                 bool create) {
  calls_->begin();
  auto counter = ForwardingStore::counter(key, create);
  if (!counter) return counter;
  return std::unique_ptr<store::SharedCounter>(
      std::make_unique<LateCounter>(*std::move(counter), calls_));
}

Result<std::int32_t> LateStore::target_count(const std::string& path) {
  calls_->begin();
  return ForwardingStore::target_count(path);
}

}  // namespace nacre::simulation
