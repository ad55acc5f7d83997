#include "testing/memory_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "store/system/errno.h"
#include "testing/sparse_bytes.h"

namespace nacre::testing {
namespace {

struct Tally {
  std::atomic<std::int64_t> opens{0};
  std::atomic<std::int64_t> reads{0};
  std::atomic<std::int64_t> writes{0};
  std::atomic<std::int64_t> bytes_read{0};
  std::atomic<std::int64_t> bytes_written{0};
};

/// The locks on one file. They belong to opens, like the kernel's open file description locks.
class LockTable {
 public:
  using Owner = const void*;
  struct Held {
    Extent range;
    store::LockKind kind;
    Owner owner;
  };
  using Ticket = std::list<Held>::iterator;

  Ticket wait_for(const Held& wanted) {
    std::unique_lock<std::mutex> guard(mutex_);
    released_.wait(guard, [&] { return !is_excluded(wanted); });
    return held_.insert(held_.end(), wanted);
  }
  void release(Ticket ticket) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      held_.erase(ticket);
    }
    released_.notify_all();
  }

 private:
  [[nodiscard]] bool is_excluded(const Held& wanted) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Held& other) {
      const bool both_shared =
          other.kind == store::LockKind::shared && wanted.kind == store::LockKind::shared;
      return other.owner != wanted.owner && !both_shared &&
             !intersection(other.range, wanted.range).empty();
    });
  }

  std::mutex mutex_;
  std::condition_variable released_;
  std::list<Held> held_;
};

/// The state that all opens of one file share.
struct Inode {
  std::uint64_t number = 0;
  std::shared_mutex mutex;  ///< guards `bytes`
  SparseBytes bytes;
  LockTable locks;
  std::optional<plan::Layout> layout;  // with which the file was created
};

/// The layout with which the file was created. It has no effect on accesses.
class MemoryLayouts final : public store::FileLayouts {
 public:
  explicit MemoryLayouts(const Inode& inode) : inode_(inode) {}

  Result<std::optional<plan::Layout>> read() override { return inode_.layout; }
  Status set(const plan::Layout& /*layout*/) override { return {}; }
  Status set_default() override { return {}; }
  std::optional<plan::Layout> default_layout() override { return std::nullopt; }
  Status add(const plan::Layout& /*components*/) override { return refuse_change(); }
  Status remove_unwritten() override { return refuse_change(); }
  Result<std::int32_t> target_count() override {
    return Error{ErrorClass::unsupported_operation, EOPNOTSUPP, "memory has no storage targets"};
  }
  bool means_no_layout(const Error& /*error*/) const override { return false; }
  bool means_not_owner(const Error& /*error*/) const override { return false; }

 private:
  static Status refuse_change() {
    return Error{ErrorClass::unsupported_operation, EOPNOTSUPP, "layouts in memory do not change"};
  }

  const Inode& inode_;
};

class MemoryRangeLock final : public store::FileLock {
 public:
  MemoryRangeLock(std::shared_ptr<Inode> inode, const LockTable::Held& wanted)
      : inode_(std::move(inode)), ticket_(inode_->locks.wait_for(wanted)) {}
  MemoryRangeLock(const MemoryRangeLock&) = delete;
  MemoryRangeLock& operator=(const MemoryRangeLock&) = delete;
  ~MemoryRangeLock() override { inode_->locks.release(ticket_); }

 private:
  std::shared_ptr<Inode> inode_;
  LockTable::Ticket ticket_;
};

class MemoryFile final : public store::StoreFile {
 public:
  MemoryFile(std::shared_ptr<Inode> inode, std::string path, const store::OpenOptions& options,
             std::shared_ptr<Tally> tally)
      : inode_(std::move(inode)),
        path_(std::move(path)),
        options_(options),
        tally_(std::move(tally)),
        layouts_(*inode_) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    ++tally_->reads;
    store::Transfer done;
    if (!options_.read) return refusal(EBADF, "read");
    if (offset < 0) return refusal(EINVAL, "read");
    const std::shared_lock<std::shared_mutex> guard(inode_->mutex);
    for (const store::ReadPiece& piece : pieces) {
      const std::int64_t bytes = inode_->bytes.read(
          {piece.data, static_cast<std::size_t>(piece.size)}, offset + done.bytes);
      done.bytes += bytes;
      if (bytes < piece.size) break;
    }
    tally_->bytes_read += done.bytes;
    return done;
  }

  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    ++tally_->writes;
    store::Transfer done;
    if (!options_.write) return refusal(EBADF, "write");
    if (offset < 0) return refusal(EINVAL, "write");
    const std::unique_lock<std::shared_mutex> guard(inode_->mutex);
    for (const store::WritePiece& piece : pieces) {
      inode_->bytes.write({piece.data, static_cast<std::size_t>(piece.size)}, offset + done.bytes);
      done.bytes += piece.size;
    }
    tally_->bytes_written += done.bytes;
    return done;
  }

  Result<std::int64_t> size() override {
    const std::shared_lock<std::shared_mutex> guard(inode_->mutex);
    return inode_->bytes.size();
  }

  Status resize(std::int64_t size) override {
    if (!options_.write || size < 0)
      return store::error_from_errno(EINVAL, "set the size of", path_);
    const std::unique_lock<std::shared_mutex> guard(inode_->mutex);
    inode_->bytes.resize(size);
    return {};
  }

  Status allocate(std::int64_t size) override {
    if (!options_.write) return store::error_from_errno(EBADF, "preallocate", path_);
    const std::unique_lock<std::shared_mutex> guard(inode_->mutex);
    inode_->bytes.resize(std::max(inode_->bytes.size(), size));
    return {};
  }

  Status sync() override { return {}; }
  Status close() override { return {}; }

  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    if (!options_.read) kind = store::LockKind::exclusive;
    if (!options_.write && kind == store::LockKind::exclusive) {
      Error error = store::error_from_errno(EBADF, "lock", path_);
      error.error_class = ErrorClass::access;
      return error;
    }
    const LockTable::Held wanted{range, kind, this};
    return std::unique_ptr<store::FileLock>(std::make_unique<MemoryRangeLock>(inode_, wanted));
  }

  Status check_locks() override { return {}; }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    return StoreFile::lock_group(number);
  }
  Status narrow_locks() override { return StoreFile::narrow_locks(); }
  Status lock_ahead(std::span<const Extent> ranges) override {
    return StoreFile::lock_ahead(ranges);
  }
  store::FileIdentity identity() override { return {inode_->number}; }
  store::FileSystemFacts facts() override {
    store::FileSystemFacts facts;
    facts.has_layouts = inode_->layout.has_value();
    return facts;
  }
  store::FileLayouts* layouts() override { return facts().has_layouts ? &layouts_ : nullptr; }

 private:
  [[nodiscard]] store::Transfer refusal(int system_errno, std::string_view operation) const {
    Error error = store::error_from_errno(system_errno, operation, path_);
    if (system_errno == EINVAL) error.error_class = ErrorClass::arg;
    return {0, std::move(error)};
  }

  std::shared_ptr<Inode> inode_;
  std::string path_;
  store::OpenOptions options_;
  std::shared_ptr<Tally> tally_;
  MemoryLayouts layouts_;
};

class MemoryCounter final : public store::SharedCounter {
 public:
  using Word = std::shared_ptr<std::atomic<std::int64_t>>;
  explicit MemoryCounter(Word word) : word_(std::move(word)) {}

  Result<std::int64_t> fetch_add(std::int64_t amount) override { return word_->fetch_add(amount); }
  Status set(std::int64_t value) override {
    word_->store(value);
    return {};
  }
  Result<std::int64_t> get() override { return word_->load(); }

 private:
  Word word_;
};

}  // namespace

struct MemoryStore::State {
  mutable std::mutex mutex;  ///< guards all members but `tally`
  std::map<std::string, std::shared_ptr<Inode>> files;
  std::map<std::uint64_t, MemoryCounter::Word> counters;
  std::uint64_t next_inode = 1;
  std::shared_ptr<Tally> tally = std::make_shared<Tally>();
};

MemoryStore::MemoryStore() : state_(std::make_unique<State>()) {}
MemoryStore::~MemoryStore() = default;

Result<std::unique_ptr<store::StoreFile>> MemoryStore::open(const std::string& path,
                                                            const store::OpenOptions& options) {
  if (!options.read && !options.write) {
    return Error{ErrorClass::amode, 0, "open " + path + ": neither for reading nor for writing"};
  }
  ++state_->tally->opens;
  const std::lock_guard<std::mutex> guard(state_->mutex);
  const auto found = state_->files.find(path);
  std::shared_ptr<Inode> inode;
  if (found != state_->files.end()) {
    if (options.create && options.exclusive) return store::error_from_errno(EEXIST, "open", path);
    inode = found->second;
  } else {
    if (!options.create || path.empty()) return store::error_from_errno(ENOENT, "open", path);
    inode = std::make_shared<Inode>();
    inode->number = state_->next_inode++;
    inode->layout = options.layout;
    state_->files.emplace(path, inode);
  }
  return std::unique_ptr<store::StoreFile>(
      std::make_unique<MemoryFile>(std::move(inode), path, options, state_->tally));
}

Status MemoryStore::remove(const std::string& path) {
  const std::lock_guard<std::mutex> guard(state_->mutex);
  if (state_->files.erase(path) == 0) return store::error_from_errno(ENOENT, "delete", path);
  return {};
}

Result<std::unique_ptr<store::SharedCounter>> MemoryStore::counter(const store::CounterKey& key,
                                                                   bool create) {
  const std::lock_guard<std::mutex> guard(state_->mutex);
  auto found = state_->counters.find(key.id);
  const bool exists = found != state_->counters.end();
  if (exists == create) {
    return store::error_from_errno(create ? EEXIST : ENOENT, "shared file pointer of",
                                   key.file_path);
  }
  if (create) {
    auto word = std::make_shared<std::atomic<std::int64_t>>(0);
    found = state_->counters.emplace(key.id, std::move(word)).first;
  }
  return std::unique_ptr<store::SharedCounter>(std::make_unique<MemoryCounter>(found->second));
}

void MemoryStore::forget_counter(const store::CounterKey& key) {
  const std::lock_guard<std::mutex> guard(state_->mutex);
  state_->counters.erase(key.id);
}

Result<std::vector<std::byte>> MemoryStore::contents(const std::string& path) const {
  std::shared_ptr<Inode> inode;
  {
    const std::lock_guard<std::mutex> guard(state_->mutex);
    const auto found = state_->files.find(path);
    if (found == state_->files.end()) return store::error_from_errno(ENOENT, "open", path);
    inode = found->second;
  }
  const std::shared_lock<std::shared_mutex> guard(inode->mutex);
  std::vector<std::byte> bytes(static_cast<std::size_t>(inode->bytes.size()));
  inode->bytes.read(bytes, 0);
  return bytes;
}

MemoryStoreCounts MemoryStore::counts() const {
  const Tally& tally = *state_->tally;
  return {tally.opens, tally.reads, tally.writes, tally.bytes_read, tally.bytes_written};
}

std::int64_t MemoryStore::counter_count() const {
  const std::lock_guard<std::mutex> guard(state_->mutex);
  return static_cast<std::int64_t>(state_->counters.size());
}

}  // namespace nacre::testing
