#include "store/faulty/faulty_store.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "store/errno.h"
#include "store/faulty/fault_injector.h"
#include "store/forwarding_file.h"
#include "store/pieces.h"

namespace nacre::store {
namespace {

Error injected(int system_errno, std::string_view operation, const std::string& path) {
  Error error = error_from_errno(system_errno, operation, path);
  error.message += " (injected)";
  return error;
}

class FaultyFile final : public ForwardingFile {
 public:
  FaultyFile(std::unique_ptr<StoreFile> inner, std::string path,
             std::shared_ptr<FaultInjector> injector)
      : ForwardingFile(std::move(inner)), path_(std::move(path)), injector_(std::move(injector)) {}

  Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) override {
    return delayed(Operation::read, pieces, offset);
  }
  Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) override {
    return delayed(Operation::write, pieces, offset);
  }
  Status resize(std::int64_t size) override {
    if (auto error = fault(Operation::resize, "set the size of")) return *std::move(error);
    return ForwardingFile::resize(size);
  }
  Status allocate(std::int64_t size) override {
    if (auto error = fault(Operation::allocate, "preallocate")) return *std::move(error);
    return ForwardingFile::allocate(size);
  }
  Status sync() override {
    if (auto error = fault(Operation::sync, "sync")) return *std::move(error);
    return ForwardingFile::sync();
  }
  /// The file is closed all the same, as the system does it.
  Status close() override {
    auto error = fault(Operation::close, "close");
    Status closed = ForwardingFile::close();
    if (error) return *std::move(error);
    return closed;
  }
  Result<std::unique_ptr<FileLock>> lock(const Extent& range, LockKind kind) override {
    if (auto error = fault(Operation::lock, "lock")) return *std::move(error);
    return ForwardingFile::lock(range, kind);
  }
  FileSystemFacts facts() override {
    FileSystemFacts facts = ForwardingFile::facts();
    if (injector_->delays(path_)) facts.one_writer_a_node = false;
    return facts;
  }

 private:
  std::optional<Error> fault(Operation operation, std::string_view words) {
    const std::optional<int> system_errno = injector_->count_call(operation, path_);
    if (!system_errno) return std::nullopt;
    return injected(*system_errno, words, path_);
  }

  Transfer move(std::span<const ReadPiece> pieces, std::int64_t offset) {
    return ForwardingFile::read(pieces, offset);
  }
  Transfer move(std::span<const WritePiece> pieces, std::int64_t offset) {
    return ForwardingFile::write(pieces, offset);
  }

  // The file below takes its time meanwhile, so that it does not count twice.
  template <class Piece>
  Transfer delayed(Operation operation, std::span<const Piece> pieces, std::int64_t offset) {
    if (!injector_->delays(path_)) return transfer(operation, pieces, offset);
    const SlowLink::Time end = injector_->end_of_transfer(path_, total_bytes(pieces));
    Transfer done = transfer(operation, pieces, offset);
    std::this_thread::sleep_until(end);
    return done;
  }

  template <class Piece>
  Transfer transfer(Operation operation, std::span<const Piece> pieces, std::int64_t offset) {
    const std::int64_t bytes = total_bytes(pieces);
    const auto fault = injector_->count_transfer(operation, path_, {offset, bytes});
    if (!fault) return move(pieces, offset);
    Transfer done;
    if (fault->bytes > 0) {
      const std::vector<Piece> before = first_pieces(pieces, fault->bytes);
      done = move(std::span<const Piece>(before), offset);
    }
    if (!done.error) {
      const std::string words = std::string(operation == Operation::read ? "read" : "write") +
                                " at byte " + std::to_string(offset + done.bytes) + " of";
      done.error = injected(fault->system_errno, words, path_);
    }
    return done;
  }

  std::string path_;
  std::shared_ptr<FaultInjector> injector_;
};

class FaultyCounter final : public SharedCounter {
 public:
  FaultyCounter(std::unique_ptr<SharedCounter> inner, std::string path,
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
    const std::optional<int> system_errno = injector_->count_call(Operation::counter, path_);
    if (!system_errno) return std::nullopt;
    return injected(*system_errno, "update the shared file pointer of", path_);
  }

  std::unique_ptr<SharedCounter> inner_;
  std::string path_;
  std::shared_ptr<FaultInjector> injector_;
};

}  // namespace

FaultyStore::FaultyStore(std::shared_ptr<Store> inner, FaultPlan plan, int rank)
    : inner_(std::move(inner)), injector_(std::make_shared<FaultInjector>(std::move(plan), rank)) {}

Result<std::unique_ptr<StoreFile>> FaultyStore::open(const std::string& path,
                                                     const OpenOptions& options) {
  if (const auto system_errno = injector_->count_call(Operation::open, path)) {
    return injected(*system_errno, "open", path);
  }
  Result<std::unique_ptr<StoreFile>> file = inner_->open(path, options);
  if (!file) return file;
  return std::unique_ptr<StoreFile>(
      std::make_unique<FaultyFile>(*std::move(file), path, injector_));
}

Status FaultyStore::remove(const std::string& path) {
  if (const auto system_errno = injector_->count_call(Operation::remove, path)) {
    return injected(*system_errno, "delete", path);
  }
  return inner_->remove(path);
}

Result<std::unique_ptr<SharedCounter>> FaultyStore::counter(const CounterKey& key, bool create) {
  if (const auto system_errno = injector_->count_call(Operation::counter, key.file_path)) {
    const std::string_view words =
        create ? "make the shared file pointer of" : "attach to the shared file pointer of";
    return injected(*system_errno, words, key.file_path);
  }
  Result<std::unique_ptr<SharedCounter>> counter = inner_->counter(key, create);
  if (!counter) return counter;
  return std::unique_ptr<SharedCounter>(
      std::make_unique<FaultyCounter>(*std::move(counter), key.file_path, injector_));
}

void FaultyStore::forget_counter(const CounterKey& key) { inner_->forget_counter(key); }

Result<std::shared_ptr<Store>> with_environment_faults(std::shared_ptr<Store> inner, int rank) {
  const char* spec = std::getenv("NACRE_TEST_FAULTS");
  if (spec == nullptr || *spec == '\0') return inner;
  Result<FaultPlan> plan = parse_fault_plan(spec);
  if (!plan) {
    Error error = plan.error();
    error.message = "NACRE_TEST_FAULTS: " + error.message;
    return error;
  }
  return std::shared_ptr<Store>(
      std::make_shared<FaultyStore>(std::move(inner), *std::move(plan), rank));
}

}  // namespace nacre::store
