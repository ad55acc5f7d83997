#include "sim/files/file_system.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/checked_cast.h"
#include "plan/layout/layout_growth.h"
#include "plan/layout/lov_codec.h"
#include "store/file_system.h"
#include "store/system/errno.h"

namespace nacre::sim {
namespace {

constexpr double nanoseconds_per_second = 1e9;

/// An error of the model as an error of a store.
Error described(const Error& error, std::string_view operation, const std::string& path) {
  return store::error_from_errno(error.system_errno, operation, path);
}

template <class Pieces>
std::int64_t bytes_of(const Pieces& pieces) {
  std::int64_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size;
  return bytes;
}

}  // namespace

store::FileSystemFacts lustre_facts() {
  const auto known = store::known_file_systems();
  const auto row = std::ranges::find(known, "lustre", &store::FileSystem::name);
  return store::facts_of_magic(row->magic);
}

/// The layout of an open file, as LustreLayouts reads and changes it.
class FileSystem::Layouts final : public store::FileLayouts {
 public:
  Layouts(Inode& inode, const std::string& path, std::int32_t ost_count)
      : inode_(inode), path_(path), ost_count_(ost_count) {}

  Result<std::optional<plan::Layout>> read() override {
    const Result<std::vector<std::byte>> bytes = inode_.data.layout();
    if (!bytes) return std::optional<plan::Layout>();
    Result<plan::Layout> layout = plan::decode_lov(*bytes);
    if (!layout) return std::move(layout).error();
    return std::optional(*std::move(layout));
  }
  Status set(const plan::Layout& layout) override {
    return changed(inode_.data.set_layout(layout));
  }
  Status set_default() override { return set(plan::plain_layout({})); }
  std::optional<plan::Layout> default_layout() override { return std::nullopt; }
  Status add(const plan::Layout& components) override {
    return changed(inode_.data.add_components(components));
  }
  Status remove_unwritten() override {
    return changed(inode_.data.delete_components(plan::all_unwritten()));
  }
  Result<std::int32_t> target_count() override { return ost_count_; }
  bool means_no_layout(const Error& error) const override {
    return error.system_errno == EBADF || error.system_errno == ENODATA;
  }
  bool means_not_owner(const Error& /*error*/) const override { return false; }

 private:
  [[nodiscard]] Status changed(const Status& status) const {
    return status ? Status() : described(status.error(), "set the layout of", path_);
  }

  Inode& inode_;
  const std::string& path_;
  std::int32_t ost_count_;
};

class FileSystem::RangeLockOfFile final : public store::FileLock {
 public:
  RangeLockOfFile(std::shared_ptr<Inode> inode, const RangeLock& lock)
      : inode_(std::move(inode)), lock_(lock) {
    static_cast<void>(inode_->locks.take(lock_, true, [] { return false; }));
  }
  RangeLockOfFile(const RangeLockOfFile&) = delete;
  RangeLockOfFile& operator=(const RangeLockOfFile&) = delete;
  ~RangeLockOfFile() override { inode_->locks.release(lock_.owner, lock_.range); }

 private:
  std::shared_ptr<Inode> inode_;
  RangeLock lock_;
};

class FileSystem::GroupLock final : public store::FileLock {
 public:
  GroupLock(std::shared_ptr<Inode> inode, OpenHandle& handle, std::int32_t number)
      : inode_(std::move(inode)), handle_(handle), number_(number) {}
  GroupLock(const GroupLock&) = delete;
  GroupLock& operator=(const GroupLock&) = delete;
  ~GroupLock() override { static_cast<void>(inode_->data.release_group_lock({&handle_}, number_)); }

 private:
  std::shared_ptr<Inode> inode_;
  OpenHandle& handle_;
  std::int32_t number_;
};

/// An open file of one process.
class FileSystem::File final : public store::StoreFile {
 public:
  struct Opened {
    std::shared_ptr<Inode> inode;
    std::string path;
    store::OpenOptions options;
    std::int32_t node;
  };
  File(FileSystem& system, Opened opened)
      : system_(system),
        opened_(std::move(opened)),
        handle_(system.costs().open(opened_.node, false)),
        layouts_(*opened_.inode, opened_.path, checked_cast<std::int32_t>(system.machine_.osts)) {
    inode().data.locks().note_open(opened_.node);
    if (opened_.options.write) ++inode().writers[opened_.node];
  }
  ~File() override {
    inode().data.locks().note_close(opened_.node);
    if (opened_.options.write) --inode().writers[opened_.node];
  }

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    if (!opened_.options.read) return {0, refusal(EBADF, "read")};
    if (offset < 0) return {0, refusal(EINVAL, "read")};
    const machine::Machine& machine = system_.machine_;
    pass_client(machine.read_call_ns, bytes_of(pieces), machine.read_bandwidth);
    const Caller caller{handle_.get()};
    const Result<LockWish> locks = inode().data.locks_for(caller);
    if (!locks) return {0, described(locks.error(), "read", opened_.path)};
    const std::vector<ObjectAccess> accesses = inode().data.accesses_of({offset, bytes_of(pieces)});
    if (Status charged = system_.costs().read(caller, {accesses, false, *locks}); !charged) {
      return {0, described(charged.error(), "read", opened_.path)};
    }
    store::Transfer done;
    for (const store::ReadPiece& piece : pieces) {
      const auto size = checked_cast<std::size_t>(piece.size);
      const Result<std::size_t> got = inode().data.read({piece.data, size}, offset + done.bytes);
      if (!got) return {done.bytes, described(got.error(), "read", opened_.path)};
      done.bytes += checked_cast<std::int64_t>(*got);
      if (*got < size) break;
    }
    return done;
  }

  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    if (!opened_.options.write) return {0, refusal(EBADF, "write")};
    if (offset < 0) return {0, refusal(EINVAL, "write")};
    const TurnGuard turn(*this);
    const machine::Machine& machine = system_.machine_;
    pass_client(machine.write_call_ns, bytes_of(pieces), machine.write_bandwidth);
    if (Status charged = charge_write({offset, bytes_of(pieces)}); !charged) {
      return {0, described(charged.error(), "write", opened_.path)};
    }
    store::Transfer done;
    for (const store::WritePiece& piece : pieces) {
      const std::span from(piece.data, checked_cast<std::size_t>(piece.size));
      if (Status written = inode().data.write(from, offset + done.bytes); !written) {
        return {done.bytes, described(written.error(), "write", opened_.path)};
      }
      done.bytes += piece.size;
    }
    return done;
  }

  Result<std::int64_t> size() override {
    return inode().data.locks().seen_size(opened_.node, inode().data.size());
  }
  Status resize(std::int64_t size) override {
    if (!opened_.options.write || size < 0) return refusal(EINVAL, "set the size of");
    const Status resized = inode().data.resize(size);
    return resized ? Status() : described(resized.error(), "set the size of", opened_.path);
  }
  Status allocate(std::int64_t size) override {
    if (!opened_.options.write) return refusal(EBADF, "preallocate");
    if (system_.machine_.ost_fallocate == 0) {
      inode().data.locks().believe_size(opened_.node, size);
      return refusal(EOPNOTSUPP, "preallocate");
    }
    const Status reserved = system_.costs().reserve(inode().data.objects());
    if (!reserved) return described(reserved.error(), "preallocate", opened_.path);
    return inode().data.size() < size ? resize(size) : Status();
  }
  Status sync() override {
    const Status flushed = system_.costs().flush({handle_.get()}, inode().data.objects());
    return flushed ? Status() : described(flushed.error(), "flush", opened_.path);
  }
  Status close() override {
    const Status finished = system_.costs().finish({handle_.get()});
    return finished ? Status() : described(finished.error(), "close", opened_.path);
  }

  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    const LockOwner owner{opened_.node, reinterpret_cast<std::uintptr_t>(this)};
    const bool is_exclusive = kind == store::LockKind::exclusive;
    return std::unique_ptr<store::FileLock>(
        std::make_unique<RangeLockOfFile>(opened_.inode, RangeLock{owner, range, is_exclusive}));
  }
  Status check_locks() override { return {}; }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    const Status taken = inode().data.acquire_group_lock({handle_.get()}, number);
    if (!taken) return described(taken.error(), "acquire a group lock on", opened_.path);
    return std::unique_ptr<store::FileLock>(
        std::make_unique<GroupLock>(opened_.inode, *handle_, number));
  }
  Status narrow_locks() override {
    inode().data.locks().narrow(opened_.node);
    return {};
  }
  store::FileIdentity identity() override { return {inode().number}; }
  store::FileSystemFacts facts() override { return lustre_facts(); }
  store::FileLayouts* layouts() override { return &layouts_; }

 private:
  /// Waits for the turn of this file on its node, if the machine has turns.
  class TurnGuard {
   public:
    explicit TurnGuard(File& file) {
      if (file.system_.machine_.one_writer == 0) return;
      Turn& turn =
          file.inode().turns.try_emplace(file.opened_.node, file.system_.scheduler_).first->second;
      while (turn.is_taken) turn.ended.wait();
      turn.is_taken = true;
      turn_ = &turn;
    }
    TurnGuard(const TurnGuard&) = delete;
    TurnGuard& operator=(const TurnGuard&) = delete;
    ~TurnGuard() {
      if (turn_ == nullptr) return;
      turn_->is_taken = false;
      turn_->ended.notify_all();
    }

   private:
    Turn* turn_ = nullptr;
  };

  [[nodiscard]] Inode& inode() { return *opened_.inode; }
  [[nodiscard]] Error refusal(int system_errno, std::string_view operation) const {
    Error error = store::error_from_errno(system_errno, operation, opened_.path);
    if (system_errno == EINVAL) error.error_class = ErrorClass::arg;
    return error;
  }
  /// The time that the process itself spends in a call.
  void pass_client(std::int64_t call_ns, std::int64_t bytes, std::int64_t bandwidth) {
    const double transfer = bandwidth > 0 ? static_cast<double>(bytes) * nanoseconds_per_second /
                                                static_cast<double>(bandwidth)
                                          : 0;
    system_.scheduler_.sleep(call_ns + std::llround(transfer));
  }
  [[nodiscard]] Status charge_write(const Extent& extent) {
    const Caller caller{handle_.get()};
    const Result<LockWish> locks = inode().data.locks_for(caller);
    if (!locks) return locks.error();
    const Result<std::vector<ObjectAccess>> accesses = inode().data.accesses_to_write(extent);
    if (!accesses) return accesses.error();
    return system_.costs().write(caller, {*accesses, false, *locks});
  }

  FileSystem& system_;
  Opened opened_;
  std::unique_ptr<OpenHandle> handle_;
  Layouts layouts_;
};

class FileSystem::ProcessStore final : public store::Store {
 public:
  ProcessStore(FileSystem& system, std::int32_t node) : system_(system), node_(node) {}

  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override {
    if (!options.read && !options.write) {
      return Error{ErrorClass::amode, 0, "open " + path + ": neither for reading nor for writing"};
    }
    system_.scheduler_.sleep(system_.machine_.open_us * microsecond);
    const bool is_new = !system_.files_.contains(path);
    Result<std::shared_ptr<Inode>> inode = system_.find_or_create(path, options);
    if (!inode) return std::move(inode).error();
    if (Status given = system_.give_layout(**inode, options, is_new, node_); !given) {
      return described(given.error(), "set the layout of", path);
    }
    return std::unique_ptr<store::StoreFile>(
        std::make_unique<File>(system_, File::Opened{*std::move(inode), path, options, node_}));
  }
  Status remove(const std::string& path) override {
    if (system_.files_.erase(path) == 0) return store::error_from_errno(ENOENT, "delete", path);
    return {};
  }
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override {
    return system_.counters_.counter(key, create);
  }
  Result<std::int32_t> target_count(const std::string& /*path*/) override {
    return checked_cast<std::int32_t>(system_.machine_.osts);
  }
  Status check_layout(const std::string& /*path*/, const plan::Layout& layout) override {
    const Result<std::vector<std::byte>> encoded = plan::encode_lov(layout);
    return encoded ? Status() : encoded.error();
  }
  void forget_counter(const store::CounterKey& key) override {
    system_.counters_.forget_counter(key);
  }

 private:
  FileSystem& system_;
  std::int32_t node_;
};

FileSystem::FileSystem(Scheduler& scheduler, const machine::Machine& machine, ObjectStore objects)
    : scheduler_(scheduler), machine_(machine), striping_(machine, std::move(objects), scheduler) {}

FileSystem::~FileSystem() = default;

std::shared_ptr<store::Store> FileSystem::store_on(std::int32_t node) {
  return std::make_shared<ProcessStore>(*this, node);
}

Result<std::shared_ptr<FileSystem::Inode>> FileSystem::find_or_create(
    const std::string& path, const store::OpenOptions& options) {
  const auto found = files_.find(path);
  if (found != files_.end()) {
    if (options.create && options.exclusive) return store::error_from_errno(EEXIST, "open", path);
    return found->second;
  }
  if (!options.create || path.empty()) return store::error_from_errno(ENOENT, "open", path);
  return files_.emplace(path, std::make_shared<Inode>(striping_, next_inode_++)).first->second;
}

/// As LustreStore::open_descriptor(): the layout of a new file may be set later, and a later open
/// for writing sets the default layout if the client asks the server.
Status FileSystem::give_layout(Inode& inode, const store::OpenOptions& options, bool is_new,
                               std::int32_t node) {
  if (is_new && options.layout) {
    if (Status set = inode.data.set_layout(*options.layout); set || options.exclusive) return set;
  }
  const bool stays_open =
      is_new ? options.layout_time != store::LayoutTime::at_once : options.leaves_layout_open;
  const auto writers = inode.writers.find(node);
  const bool asks = is_new || writers == inode.writers.end() || writers->second == 0;
  if (!options.write || stays_open || !asks || inode.data.has_layout()) return {};
  return inode.data.set_layout(plan::plain_layout({}));
}

StripedFile* FileSystem::data(const std::string& path) {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second->data;
}

Result<std::vector<std::byte>> FileSystem::contents(const std::string& path) {
  StripedFile* const file = data(path);
  if (file == nullptr) return store::error_from_errno(ENOENT, "open", path);
  std::vector<std::byte> bytes(checked_cast<std::size_t>(file->size()));
  const Result<std::size_t> got = file->read(bytes, 0);
  if (!got) return described(got.error(), "read", path);
  return bytes;
}

}  // namespace nacre::sim
