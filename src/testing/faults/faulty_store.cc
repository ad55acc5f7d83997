#include "testing/faults/faulty_store.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "store/forwarding.h"
#include "store/pieces.h"
#include "store/system/errno.h"

namespace nacre::testing {
namespace {

/// The error that a call returns. Does not return if the fault kills the process.
Error injected(int system_errno, std::string_view operation, const std::string& path) {
  if (system_errno == kills_process) static_cast<void>(std::raise(SIGKILL));
  Error error = store::error_from_errno(system_errno, operation, path);
  error.message += " (injected)";
  return error;
}

/// The error of a call, if a fault says so.
std::optional<Error> fault_of(FaultInjector& injector, StoreCall operation, std::string_view words,
                              const std::string& path) {
  const std::optional<int> system_errno = injector.count_call(operation, path);
  if (!system_errno) return std::nullopt;
  return injected(*system_errno, words, path);
}

class FaultyLayouts final : public store::FileLayouts {
 public:
  /// `inner` outlives this object.
  FaultyLayouts(store::FileLayouts& inner, std::string path,
                std::shared_ptr<FaultInjector> injector)
      : inner_(inner), path_(std::move(path)), injector_(std::move(injector)) {}

  Result<std::optional<plan::Layout>> read() override {
    if (auto error = fault(StoreCall::read_layout, "read the layout of")) return *std::move(error);
    return inner_.read();
  }
  Status set(const plan::Layout& layout) override {
    return unless_faulty([&] { return inner_.set(layout); });
  }
  Status set_default() override {
    return unless_faulty([&] { return inner_.set_default(); });
  }
  std::optional<plan::Layout> default_layout() override {
    if (fault(StoreCall::read_layout, "read the default layout of")) return std::nullopt;
    return inner_.default_layout();
  }
  Status add(const plan::Layout& components) override {
    return unless_faulty([&] { return inner_.add(components); });
  }
  Status remove_unwritten() override {
    return unless_faulty([&] { return inner_.remove_unwritten(); });
  }
  Result<std::int32_t> target_count() override {
    if (auto error = fault(StoreCall::read_layout, "count the targets of")) {
      return *std::move(error);
    }
    return inner_.target_count();
  }
  bool means_no_layout(const Error& error) const override { return inner_.means_no_layout(error); }
  bool means_not_owner(const Error& error) const override { return inner_.means_not_owner(error); }

 private:
  template <class Change>
  Status unless_faulty(Change change) {
    if (auto error = fault(StoreCall::layout, "set the layout of")) return *std::move(error);
    return change();
  }
  std::optional<Error> fault(StoreCall operation, std::string_view words) {
    return fault_of(*injector_, operation, words, path_);
  }

  store::FileLayouts& inner_;
  std::string path_;
  std::shared_ptr<FaultInjector> injector_;
};

class FaultyFile final : public store::ForwardingFile {
 public:
  FaultyFile(std::unique_ptr<store::StoreFile> inner, std::string path,
             std::shared_ptr<FaultInjector> injector)
      : store::ForwardingFile(std::move(inner)),
        path_(std::move(path)),
        injector_(std::move(injector)) {
    store::FileLayouts* const inner_layouts = store::ForwardingFile::layouts();
    if (inner_layouts != nullptr) layouts_.emplace(*inner_layouts, path_, injector_);
  }

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    return delayed(StoreCall::read, pieces, offset);
  }
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    return delayed(StoreCall::write, pieces, offset);
  }
  Result<std::int64_t> size() override {
    if (auto error = fault(StoreCall::size, "read the size of")) return *std::move(error);
    return store::ForwardingFile::size();
  }
  Status resize(std::int64_t size) override {
    if (auto error = fault(StoreCall::resize, "set the size of")) return *std::move(error);
    return store::ForwardingFile::resize(size);
  }
  Status allocate(std::int64_t size) override {
    if (auto error = fault(StoreCall::allocate, "preallocate")) return *std::move(error);
    return store::ForwardingFile::allocate(size);
  }
  Status sync() override {
    if (auto error = fault(StoreCall::sync, "sync")) return *std::move(error);
    return store::ForwardingFile::sync();
  }
  /// Closes the file even if an error is injected, as close(2) does.
  Status close() override {
    auto error = fault(StoreCall::close, "close");
    Status closed = store::ForwardingFile::close();
    if (error) return *std::move(error);
    return closed;
  }
  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    if (auto error = fault(StoreCall::lock, "lock")) return *std::move(error);
    return store::ForwardingFile::lock(range, kind);
  }
  Status check_locks() override {
    if (auto error = fault(StoreCall::check_locks, "lock")) return *std::move(error);
    return store::ForwardingFile::check_locks();
  }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    if (auto error = fault(StoreCall::write_locks, "lock for a group")) return *std::move(error);
    return store::ForwardingFile::lock_group(number);
  }
  Status narrow_locks() override {
    if (auto error = fault(StoreCall::write_locks, "narrow the locks of")) {
      return *std::move(error);
    }
    return store::ForwardingFile::narrow_locks();
  }
  Status lock_ahead(std::span<const Extent> ranges) override {
    if (auto error = fault(StoreCall::write_locks, "request locks on")) return *std::move(error);
    return store::ForwardingFile::lock_ahead(ranges);
  }
  store::FileSystemFacts facts() override {
    store::FileSystemFacts facts = store::ForwardingFile::facts();
    if (injector_->delays(path_)) facts.one_writer_per_node = false;
    return facts;
  }
  store::FileLayouts* layouts() override { return layouts_ ? &*layouts_ : nullptr; }

 private:
  std::optional<Error> fault(StoreCall operation, std::string_view words) {
    return fault_of(*injector_, operation, words, path_);
  }

  store::Transfer move(std::span<const store::ReadPiece> pieces, std::int64_t offset) {
    return store::ForwardingFile::read(pieces, offset);
  }
  store::Transfer move(std::span<const store::WritePiece> pieces, std::int64_t offset) {
    return store::ForwardingFile::write(pieces, offset);
  }

  // The delay includes the time of the inner call.
  template <class Piece>
  store::Transfer delayed(StoreCall operation, std::span<const Piece> pieces, std::int64_t offset) {
    if (!injector_->delays(path_)) return transfer(operation, pieces, offset);
    const SlowLink::Time end = injector_->end_of_transfer(path_, store::total_bytes(pieces));
    store::Transfer done = transfer(operation, pieces, offset);
    std::this_thread::sleep_until(end);
    return done;
  }

  template <class Piece>
  store::Transfer transfer(StoreCall operation, std::span<const Piece> pieces,
                           std::int64_t offset) {
    const std::int64_t bytes = store::total_bytes(pieces);
    const auto fault = injector_->count_transfer(operation, path_, {offset, bytes});
    if (!fault) return move(pieces, offset);
    store::Transfer done;
    if (fault->bytes > 0) {
      const std::vector<Piece> before = first_pieces(pieces, fault->bytes);
      done = move(std::span<const Piece>(before), offset);
    }
    if (!done.error) {
      const std::string words = std::string(operation == StoreCall::read ? "read" : "write") +
                                " at byte " + std::to_string(offset + done.bytes) + " of";
      done.error = injected(fault->system_errno, words, path_);
    }
    return done;
  }

  std::string path_;
  std::shared_ptr<FaultInjector> injector_;
  std::optional<FaultyLayouts> layouts_;
};

class FaultyCounter final : public store::SharedCounter {
 public:
  FaultyCounter(std::unique_ptr<store::SharedCounter> inner, std::string path,
                std::shared_ptr<FaultInjector> injector)
      : inner_(std::move(inner)), path_(std::move(path)), injector_(std::move(injector)) {}

  Result<std::int64_t> fetch_add(std::int64_t amount) override {
    if (auto error = fault()) return *std::move(error);
    return inner_->fetch_add(amount);
  }
  Status set(std::int64_t value) override {
    if (auto error = fault()) return *std::move(error);
    return inner_->set(value);
  }
  Result<std::int64_t> get() override {
    if (auto error = fault()) return *std::move(error);
    return inner_->get();
  }

 private:
  std::optional<Error> fault() {
    return fault_of(*injector_, StoreCall::counter, "update the shared file pointer of", path_);
  }

  std::unique_ptr<store::SharedCounter> inner_;
  std::string path_;
  std::shared_ptr<FaultInjector> injector_;
};

}  // namespace

FaultyStore::FaultyStore(std::shared_ptr<store::Store> inner, FaultPlan plan, int rank,
                         FaultObserver observer)
    : store::ForwardingStore(std::move(inner)),
      injector_(std::make_shared<FaultInjector>(std::move(plan), rank, std::move(observer))) {}

Result<std::unique_ptr<store::StoreFile>> FaultyStore::open(const std::string& path,
                                                            const store::OpenOptions& options) {
  if (auto error = fault_of(*injector_, StoreCall::open, "open", path)) return *std::move(error);
  Result<std::unique_ptr<store::StoreFile>> file = store::ForwardingStore::open(path, options);
  if (!file) return file;
  return std::unique_ptr<store::StoreFile>(
      std::make_unique<FaultyFile>(*std::move(file), path, injector_));
}

Status FaultyStore::remove(const std::string& path) {
  if (auto error = fault_of(*injector_, StoreCall::remove, "delete", path)) {
    return *std::move(error);
  }
  return store::ForwardingStore::remove(path);
}

Result<std::unique_ptr<store::SharedCounter>> FaultyStore::counter(const store::CounterKey& key,
                                                                   bool create) {
  const std::string_view words =
      create ? "make the shared file pointer of" : "attach to the shared file pointer of";
  if (auto error = fault_of(*injector_, StoreCall::counter, words, key.file_path)) {
    return *std::move(error);
  }
  Result<std::unique_ptr<store::SharedCounter>> counter =
      store::ForwardingStore::counter(key, create);
  if (!counter) return counter;
  return std::unique_ptr<store::SharedCounter>(
      std::make_unique<FaultyCounter>(*std::move(counter), key.file_path, injector_));
}

Result<std::int32_t> FaultyStore::target_count(const std::string& path) {
  if (auto error = fault_of(*injector_, StoreCall::read_layout, "count the targets of", path)) {
    return *std::move(error);
  }
  return store::ForwardingStore::target_count(path);
}

Result<std::shared_ptr<store::Store>> with_environment_faults(std::shared_ptr<store::Store> inner,
                                                              int rank) {
  const char* spec = std::getenv("NACRE_TEST_FAULTS");
  if (spec == nullptr || *spec == '\0') return inner;
  Result<FaultPlan> plan = parse_fault_plan(spec);
  if (!plan) {
    Error error = plan.error();
    error.message = "NACRE_TEST_FAULTS: " + error.message;
    return error;
  }
  return std::shared_ptr<store::Store>(
      std::make_shared<FaultyStore>(std::move(inner), *std::move(plan), rank));
}

}  // namespace nacre::testing
