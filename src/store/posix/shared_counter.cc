#include "store/posix/shared_counter.h"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/hexadecimal.h"
#include "store/memory/shared_memory.h"
#include "store/posix/mount_options.h"
#include "store/posix/range_lock.h"
#include "store/posix/stale_names.h"
#include "store/system/descriptor.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {

constexpr Extent counter_bytes{0, sizeof(std::int64_t)};
constexpr mode_t owner_only = 0600;

// --- A word of shared memory.

class MemoryCounter final : public SharedCounter {
 public:
  explicit MemoryCounter(SharedMemory memory) : memory_(std::move(memory)) {}

  Result<std::int64_t> fetch_add(std::int64_t amount) override { return word().fetch_add(amount); }
  Status set(std::int64_t value) override {
    word().store(value);
    return {};
  }
  Result<std::int64_t> get() override { return word().load(); }

 private:
  using Word = std::atomic_ref<std::int64_t>;
  // A lock of this process would not exclude other processes.
  static_assert(Word::is_always_lock_free);
  [[nodiscard]] Word word() const {
    return Word(*reinterpret_cast<std::int64_t*>(memory_.bytes().data()));
  }

  SharedMemory memory_;
};

// --- A file.

class FileCounter final : public SharedCounter {
 public:
  /// `has_stale_size`: the kernel may not know that other nodes have made the file longer.
  FileCounter(Descriptor file, std::string path, bool has_stale_size)
      : file_(std::move(file)), path_(std::move(path)), has_stale_size_(has_stale_size) {}

  Result<std::int64_t> fetch_add(std::int64_t amount) override {
    return locked([&]() -> Result<std::int64_t> {
      Result<std::int64_t> before = load();
      if (!before) return before;
      // Wraps on overflow, as MemoryCounter does.
      const auto sum = static_cast<std::uint64_t>(*before) + static_cast<std::uint64_t>(amount);
      if (Status stored = store(static_cast<std::int64_t>(sum)); !stored) return stored.error();
      return before;
    });
  }

  Status set(std::int64_t value) override {
    return locked([&] { return store(value); });
  }

  Result<std::int64_t> get() override {
    return locked([&] { return load(); });
  }

 private:
  /// Runs `action`, which returns a Result or Status, under the file's lock. The mutex excludes
  /// threads of this process: they share the open file and thus its lock.
  template <class Action>
  auto locked(Action action) -> decltype(action()) {
    const std::lock_guard threads(mutex_);
    const Result<std::unique_ptr<FileLock>> ranks =
        lock_range({file_.number(), path_, local_locks_cause_}, counter_bytes, LockKind::exclusive);
    if (!ranks) return ranks.error();
    return action();
  }

  Result<std::int64_t> load() {
    std::int64_t value = 0;
    if (has_stale_size_) {
      struct statx ignored {};  // makes the kernel ask for the size
      static_cast<void>(
          ::statx(file_.number(), "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &ignored));
    }
    const ssize_t bytes =
        retry_interrupted([&] { return pread(file_.number(), &value, sizeof value, 0); });
    // The file is empty between its creation and the first value.
    if (bytes == sizeof value || bytes == 0) return value;
    return failure(bytes < 0 ? errno : EIO);
  }

  Status store(std::int64_t value) {
    const FileSizeSignalGuard guard;
    const ssize_t bytes =
        retry_interrupted([&] { return pwrite(file_.number(), &value, sizeof value, 0); });
    if (bytes == sizeof value) return {};
    return failure(bytes < 0 ? errno : EIO);
  }

  [[nodiscard]] Error failure(int system_errno) const {
    return error_from_errno(system_errno, "update the shared file pointer in", path_);
  }

  Descriptor file_;
  std::string path_;
  // Always checked: ranks on several nodes use this counter.
  std::string local_locks_cause_ = local_locks_cause_of(file_.number());
  bool has_stale_size_;
  std::mutex mutex_;
};

Error file_counter_error(int system_errno, bool create, const std::string& path) {
  Error error = error_from_errno(
      system_errno, create ? "create the shared file pointer" : "attach to the shared file pointer",
      path);
  if (create && (system_errno == EACCES || system_errno == EPERM || system_errno == EROFS)) {
    error.message +=
        "; ranks on several nodes keep it in a small file beside the data file: make that "
        "directory writable, or use individual file pointers or explicit offsets";
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<SharedCounter>> memory_counter(std::uint64_t id, bool create) {
  Result<SharedMemory> memory =
      create
          ? SharedMemory::create(SharedMemory::Kind::named, id, counter_bytes.length,
                                 "create the shared file pointer")
          : SharedMemory::attach({id}, counter_bytes.length, "attach to the shared file pointer");
  if (!memory) return std::move(memory).error();
  return std::unique_ptr<SharedCounter>(std::make_unique<MemoryCounter>(*std::move(memory)));
}

std::string counter_file_path(const CounterKey& key) {
  constexpr std::size_t name_bytes_max = 255;  // NAME_MAX of every file system in use
  const std::size_t slash = key.file_path.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  const std::string suffix = ".nacre-" + hexadecimal(key.id);
  return key.file_path.substr(0, base) + "." +
         key.file_path.substr(base, name_bytes_max - 1 - suffix.size()) + suffix;
}

Result<std::unique_ptr<SharedCounter>> file_counter(const CounterKey& key, bool create,
                                                    int creation_flags) {
  std::string path = counter_file_path(key);
  const int flags =
      O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT | O_EXCL | creation_flags : 0);
  const auto open_file = [&] {
    return Descriptor(retry_interrupted([&] { return ::open(path.c_str(), flags, owner_only); }));
  };
  Descriptor file = open_file();
  if (!file.valid() && !create && errno == ENOENT) {
    const bool is_worth_another = may_exist_now(path);
    errno = ENOENT;
    if (is_worth_another) file = open_file();
  }
  if (!file.valid() || fcntl(file.number(), F_SETFL, 0) != 0) {
    return file_counter_error(errno, create, path);
  }
  // Pages in the kernel would be old, and ceph-fuse hung while one rank held the lock and filled
  // such a page, and the kernel waited for the page to discard it for another rank.
  const bool is_stale = has_stale_pages(facts_of_file(file.number()));
  if (is_stale) {
    Descriptor direct = reopen(file.number(), O_RDWR | O_DIRECT);
    // A daemon of FUSE may refuse it.
    if (direct.valid() || errno != EINVAL) file = std::move(direct);
  }
  if (!file.valid()) {
    const Error refused = file_counter_error(errno, create, path);
    if (create) ::unlink(path.c_str());
    return refused;
  }
  auto counter = std::make_unique<FileCounter>(std::move(file), path, is_stale);
  if (create) {
    // Writes the value, so that a full file system fails here. Adds 0 instead of setting 0: other
    // ranks may already have attached and added.
    if (const Result<std::int64_t> room = counter->fetch_add(0); !room) {
      ::unlink(path.c_str());
      return room.error();
    }
  }
  return std::unique_ptr<SharedCounter>(std::move(counter));
}

void forget_file_counter(const CounterKey& key) { ::unlink(counter_file_path(key).c_str()); }

}  // namespace nacre::store
