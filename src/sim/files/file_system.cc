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
#include "sim/files/node_file.h"
#include "store/file_system.h"
#include "store/pieces.h"
#include "store/system/errno.h"

namespace nacre::sim {
namespace {

constexpr double nanoseconds_per_second = 1e9;

/// An error of the model as an error of a store.
Error described(const Error& error, std::string_view operation, const std::string& path) {
  return store::error_from_errno(error.system_errno, operation, path);
}

}  // namespace

store::FileSystemFacts facts_of(const machine::Machine& machine) {
  const auto known = store::known_file_systems();
  const auto row =
      std::ranges::find(known, has_layouts(machine) ? "lustre" : "tmpfs", &store::FileSystem::name);
  store::FileSystemFacts facts = store::facts_of_magic(row->magic);
  facts.keeps_written = false;  // the model has no cache of reads
  return facts;
}

/// The layout of an open file, as LustreLayouts reads and changes it.
class FileSystem::Layouts final : public store::FileLayouts {
 public:
  Layouts(StripedFile& data, const std::string& path, std::int32_t node, std::int32_t ost_count)
      : data_(data), path_(path), node_(node), ost_count_(ost_count) {}

  Result<std::optional<plan::Layout>> read() override {
    const Result<std::vector<std::byte>> bytes = data_.layout(node_);
    if (!bytes) return std::optional<plan::Layout>();
    Result<plan::Layout> layout = plan::decode_lov(*bytes);
    if (!layout) return std::move(layout).error();
    return std::optional(*std::move(layout));
  }
  Status set(const plan::Layout& layout) override {
    return changed(data_.set_layout(layout, node_));
  }
  Status set_default() override { return set(plan::plain_layout({})); }
  std::optional<plan::Layout> default_layout() override { return std::nullopt; }
  Status add(const plan::Layout& components) override {
    return changed(data_.add_components(components));
  }
  Status remove_unwritten() override {
    return changed(data_.delete_components(plan::all_unwritten()));
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

  StripedFile& data_;
  const std::string& path_;
  std::int32_t node_;
  std::int32_t ost_count_;
};

class FileSystem::RangeLockOfFile final : public store::FileLock {
 public:
  RangeLockOfFile(RangeLocks& locks, const RangeLock& lock) : locks_(locks), lock_(lock) {
    static_cast<void>(locks_.take(lock_, true, [] { return false; }));
  }
  RangeLockOfFile(const RangeLockOfFile&) = delete;
  RangeLockOfFile& operator=(const RangeLockOfFile&) = delete;
  ~RangeLockOfFile() override { locks_.release(lock_.owner, lock_.range); }

 private:
  RangeLocks& locks_;
  RangeLock lock_;
};

class FileSystem::GroupLock final : public store::FileLock {
 public:
  GroupLock(NodeFile& file, std::int32_t number) : file_(file), number_(number) {}
  GroupLock(const GroupLock&) = delete;
  GroupLock& operator=(const GroupLock&) = delete;
  ~GroupLock() override {
    static_cast<void>(file_.data().release_group_lock(file_.caller(), number_));
  }

 private:
  NodeFile& file_;
  std::int32_t number_;
};

/// An open file of one process.
class FileSystem::File final : public store::StoreFile {
 public:
  struct Opened {
    InodeNumber number;
    std::string path;
    store::OpenOptions options;
    std::int32_t node;
  };
  File(FileSystem& system, Opened opened, std::unique_ptr<NodeFile> file)
      : system_(system),
        opened_(std::move(opened)),
        file_(std::move(file)),
        layouts_(file_->data(), opened_.path, opened_.node,
                 checked_cast<std::int32_t>(system.machine_.osts)) {}

  store::Transfer read(std::span<const store::ReadPiece> pieces, std::int64_t offset) override {
    if (!opened_.options.read) return {0, refusal(EBADF, "read")};
    if (offset < 0) return {0, refusal(EINVAL, "read")};
    const machine::Machine& machine = system_.machine_;
    pass_client(machine.read_call_ns, store::total_bytes(pieces), machine.read_bandwidth);
    return in_words(file_->read(pieces, offset), "read");
  }

  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    if (!opened_.options.write) return {0, refusal(EBADF, "write")};
    if (offset < 0) return {0, refusal(EINVAL, "write")};
    const TurnGuard turn(*this);
    const machine::Machine& machine = system_.machine_;
    pass_client(machine.write_call_ns, store::total_bytes(pieces), machine.write_bandwidth);
    return in_words(file_->write(pieces, offset), "write");
  }

  Result<std::int64_t> size() override {
    return data().locks().seen_size(opened_.node, data().size());
  }
  Status resize(std::int64_t size) override {
    if (!opened_.options.write || size < 0) return refusal(EINVAL, "set the size of");
    return in_words(data().resize(size), "set the size of");
  }
  Status allocate(std::int64_t size) override {
    if (!opened_.options.write) return refusal(EBADF, "preallocate");
    return in_words(file_->allocate(size), "preallocate");
  }
  Status sync() override { return in_words(file_->flush(), "flush"); }
  Status close() override { return in_words(file_->finish(), "close"); }

  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    const LockOwner owner{opened_.node, reinterpret_cast<std::uintptr_t>(this)};
    const bool is_exclusive = kind == store::LockKind::exclusive;
    return std::unique_ptr<store::FileLock>(std::make_unique<RangeLockOfFile>(
        system_.names_.locks(opened_.number), RangeLock{owner, range, is_exclusive}));
  }
  Status check_locks() override { return {}; }
  Result<std::unique_ptr<store::FileLock>> lock_group(std::int32_t number) override {
    const Status taken = data().acquire_group_lock(file_->caller(), number);
    if (!taken) return described(taken.error(), "acquire a group lock on", opened_.path);
    return std::unique_ptr<store::FileLock>(std::make_unique<GroupLock>(*file_, number));
  }
  Status narrow_locks() override {
    data().locks().narrow(opened_.node);
    return {};
  }
  Status lock_ahead(std::span<const Extent> ranges) override {
    return in_words(data().lock_ahead(opened_.node, ranges), "request locks on");
  }
  store::FileIdentity identity() override { return {opened_.number}; }
  store::FileSystemFacts facts() override { return facts_of(system_.machine_); }
  store::FileLayouts* layouts() override {
    return has_layouts(system_.machine_) ? &layouts_ : nullptr;
  }

 private:
  /// Waits for the turn of this file on its node, if the machine has turns.
  class TurnGuard {
   public:
    explicit TurnGuard(File& file) {
      if (file.system_.machine_.one_writer == 0) return;
      Turn& turn = file.system_.turn_of(file.opened_.number, file.opened_.node);
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

  [[nodiscard]] StripedFile& data() { return file_->data(); }
  [[nodiscard]] Status in_words(const Status& status, std::string_view operation) const {
    return status ? Status() : described(status.error(), operation, opened_.path);
  }
  [[nodiscard]] store::Transfer in_words(store::Transfer done, std::string_view operation) const {
    if (done.error) done.error = described(*done.error, operation, opened_.path);
    return done;
  }
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
    const SimulatedTime length = call_ns + std::llround(transfer);
    Scheduler& scheduler = system_.scheduler_;
    const SimulatedTime end = system_.cores_ != nullptr
                                  ? system_.cores_->occupy(scheduler.now(), length)
                                  : scheduler.now() + length;
    // On any machine a call takes some time, in which its node may have to give up a lock.
    constexpr SimulatedTime shortest_call = 1'000;
    scheduler.sleep_until(std::max(end, scheduler.now() + shortest_call));
  }
  FileSystem& system_;
  Opened opened_;
  std::unique_ptr<NodeFile> file_;
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
    const Result<Found> found = system_.find_or_create(path, options);
    if (!found) return found.error();
    if (Status given = system_.give_layout(*found, options, node_); !given) {
      return described(given.error(), "set the layout of", path);
    }
    Result<std::unique_ptr<NodeFile>> file =
        NodeFile::open(system_.names_, {found->number, node_, options.write});
    if (!file) return described(file.error(), "open", path);
    return std::unique_ptr<store::StoreFile>(std::make_unique<File>(
        system_, File::Opened{found->number, path, options, node_}, *std::move(file)));
  }
  Status remove(const std::string& path) override {
    const Status removed = system_.names_.remove(root_number, path, false);
    return removed ? Status() : described(removed.error(), "delete", path);
  }
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override {
    return system_.counters_.counter(key, create);
  }
  Result<std::int32_t> target_count(const std::string& /*path*/) override {
    return checked_cast<std::int32_t>(system_.machine_.osts);
  }
  bool has_flash_targets(const std::string& path) override {
    return Store::has_flash_targets(path);
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

FileSystem::FileSystem(Scheduler& scheduler, const machine::Machine& machine, ObjectStore objects,
                       CoreQueue* cores)
    : scheduler_(scheduler),
      machine_(machine),
      names_(machine, std::move(objects), scheduler),
      cores_(cores) {}

FileSystem::~FileSystem() = default;

std::shared_ptr<store::Store> FileSystem::store_on(std::int32_t node) {
  return std::make_shared<ProcessStore>(*this, node);
}

Result<InodeNumber> FileSystem::find(const std::string& path) {
  const Result<struct stat> found = names_.lookup(root_number, path);
  if (!found) return described(found.error(), "open", path);
  names_.forget(found->st_ino, 1);  // names and opens keep it
  return found->st_ino;
}

Result<FileSystem::Found> FileSystem::find_or_create(const std::string& path,
                                                     const store::OpenOptions& options) {
  const Result<InodeNumber> found = find(path);
  if (found) {
    if (options.create && options.exclusive) return store::error_from_errno(EEXIST, "open", path);
    return Found{*found, false};
  }
  if (!options.create || path.empty()) return store::error_from_errno(ENOENT, "open", path);
  const Result<struct stat> made =
      names_.make(root_number, path, {.mode = S_IFREG | options.permissions});
  if (!made) return described(made.error(), "open", path);
  names_.forget(made->st_ino, 1);
  return Found{made->st_ino, true};
}

/// As LustreStore::open_descriptor(): the layout of a new file may be set later, and a later open
/// for writing sets the default layout if the client asks the server.
Status FileSystem::give_layout(const Found& file, const store::OpenOptions& options,
                               std::int32_t node) {
  if (file.is_new && options.layout) {
    StripedFile& data = **names_.data(file.number);
    if (Status set = data.set_layout(*options.layout, node); set || options.exclusive) return set;
  }
  const bool is_later =
      file.is_new ? options.layout_time != store::LayoutTime::at_once : options.leaves_layout_open;
  const bool stays_open = is_later && has_layouts(machine_);
  const bool asks = file.is_new || !names_.is_written_on(file.number, node);
  if (!options.write || stays_open || !asks) return {};
  return names_.give_layout(file.number, false);
}

FileSystem::Turn& FileSystem::turn_of(InodeNumber file, std::int32_t node) {
  const std::int32_t kernel = machine_.one_computer != 0 ? 0 : node;
  return turns_.try_emplace({file, kernel}, scheduler_).first->second;
}

Result<std::shared_ptr<StripedFile>> FileSystem::data(const std::string& path) {
  const Result<InodeNumber> found = find(path);
  if (!found) return found.error();
  return names_.data(*found);
}

Result<std::vector<std::byte>> FileSystem::contents(const std::string& path) {
  const Result<std::shared_ptr<StripedFile>> file = data(path);
  if (!file) return file.error();
  std::vector<std::byte> bytes(checked_cast<std::size_t>((*file)->size()));
  const Result<std::size_t> got = (*file)->read(bytes, 0);
  if (!got) return described(got.error(), "read", path);
  return bytes;
}

}  // namespace nacre::sim
