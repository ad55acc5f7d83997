#include "store/memory/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/checked_cast.h"
#include "base/hexadecimal.h"
#include "store/memory/available_memory.h"
#include "store/system/allocate.h"
#include "store/system/descriptor.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {

constexpr mode_t owner_only = 0600;

constexpr std::int64_t small_bytes = 64 << 10;  // not compared with the free space
constexpr std::int64_t part_of_free = 4;

// The functions below set errno on failure.

// ---- named objects ----

std::string path_of_named(std::uint64_t id) { return "/dev/shm" + SharedMemory::name(id); }

Descriptor open_named(std::uint64_t id, int flags) {
  const std::string name = SharedMemory::name(id);
  return Descriptor(retry_interrupted(
      [&] { return shm_open(name.c_str(), O_RDWR | O_CLOEXEC | flags, owner_only); }));
}

/// Whether an object of this size leaves enough of /dev/shm to other users, such as the transport
/// of the MPI, which fails if /dev/shm is full.
bool leaves_room(int descriptor, std::int64_t bytes) {
  struct statvfs system {};
  if (bytes <= small_bytes || fstatvfs(descriptor, &system) != 0) return true;
  const std::uint64_t room = system.f_bavail * system.f_frsize / part_of_free;
  if (static_cast<std::uint64_t>(bytes) <= room) return true;
  errno = ENOSPC;
  return false;
}

/// Allocates all pages of the object, because access to a missing page raises SIGBUS. A process
/// that attaches does the same: it may be ahead of the creator. Keeps the contents.
bool allocate_pages(int descriptor, std::int64_t bytes) {
  const FileSizeSignalGuard guard;
  errno = allocate_in_pieces(bytes, [&](std::int64_t offset, std::int64_t length) {
    return posix_fallocate(descriptor, offset, length);
  });
  return errno == 0;
}

// ---- unnamed objects ----

std::string label_of(std::uint64_t id) { return SharedMemory::name(id).substr(1); }

/// As the link of a descriptor shows it.
std::string path_of_unnamed(std::uint64_t id) { return "/memfd:" + label_of(id); }

Descriptor create_labelled(std::uint64_t id) {
  constexpr unsigned not_executable = 8;  // MFD_NOEXEC_SEAL, since Linux 6.3
  const std::string label = label_of(id);
  Descriptor object(memfd_create(label.c_str(), MFD_CLOEXEC | not_executable));
  if (object.valid() || errno != EINVAL) return object;
  return Descriptor(memfd_create(label.c_str(), MFD_CLOEXEC));
}

bool set_size(int descriptor, std::int64_t bytes) {
  if (bytes > small_bytes && bytes > available_memory() / part_of_free) {
    errno = ENOMEM;
    return false;
  }
  const FileSizeSignalGuard guard;
  return ftruncate(descriptor, bytes) == 0;
}

/// In this PID namespace the number of the process may be that of another one, and its descriptor
/// may be anything.
Descriptor open_unnamed(const SharedMemoryAddress& address) {
  const std::string link =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const std::string expected = path_of_unnamed(address.id) + " (deleted)";
  std::string target(expected.size() + 1, '\0');
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  if (length < 0) return Descriptor();
  target.resize(static_cast<std::size_t>(length));
  if (target != expected) {
    errno = ENOENT;
    return Descriptor();
  }
  return Descriptor(retry_interrupted([&] { return open(link.c_str(), O_RDWR | O_CLOEXEC); }));
}

/// Of the last system call.
Error failure(const std::string& purpose, const std::string& path) {
  Error error = error_from_errno(errno, purpose, path);
  if (error.system_errno == ENOSPC) error.message += "; /dev/shm is full: free space there";
  return error;
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* time_max) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, &word, operation, value, time_max, nullptr, 0);
}

}  // namespace

std::uint64_t random_id() {
  // One system call. std::random_device executes CPUID first, which takes 40 us in virtual
  // machines.
  std::uint64_t bits = 0;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  std::random_device device;  // a kernel before 3.17
  return (std::uint64_t{device()} << 32U) | device();
}

/// The objects that this process created and that still have a name.
struct SharedMemory::Known {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<Mapping>> mappings;
};

SharedMemory::Known& SharedMemory::known() {
  static auto* instance = new Known;  // never freed: libraries may end in any order
  return *instance;
}

std::string SharedMemory::name(std::uint64_t id) {
  return "/nacre-" + std::to_string(geteuid()) + "-" + hexadecimal(id);
}

/// Returns nothing and sets errno on failure.
std::optional<SharedMemory> SharedMemory::map(std::uint64_t id, const Descriptor& object,
                                              std::int64_t bytes) {
  const auto size = checked_cast<std::size_t>(bytes);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, object.number(), 0);
  if (memory == MAP_FAILED) return std::nullopt;
  return SharedMemory(
      std::make_shared<Mapping>(id, std::span(static_cast<std::byte*>(memory), size), false));
}

/// Lets attach() find the mapping in this process.
void SharedMemory::note(const std::shared_ptr<Mapping>& mapping) {
  const std::lock_guard guard(known().mutex);
  known().mappings[mapping->id()] = mapping;
}

SharedMemory SharedMemory::lend(std::uint64_t id, std::span<std::byte> bytes) {
  SharedMemory memory(std::make_shared<Mapping>(id, bytes, true));
  note(memory.mapping_);
  return memory;
}

Result<SharedMemory> SharedMemory::create(Kind kind, std::uint64_t id, std::int64_t bytes,
                                          const std::string& purpose) {
  Result<SharedMemory> memory =
      kind == Kind::named ? create_named(id, bytes, purpose) : create_unnamed(id, bytes, purpose);
  if (memory) note(memory->mapping_);
  return memory;
}

Result<SharedMemory> SharedMemory::create_named(std::uint64_t id, std::int64_t bytes,
                                                const std::string& purpose) {
  const std::string path = path_of_named(id);
  const Descriptor object = open_named(id, O_CREAT | O_EXCL);
  if (!object.valid()) return failure(purpose, path);
  std::optional<SharedMemory> memory;
  if (leaves_room(object.number(), bytes) && allocate_pages(object.number(), bytes)) {
    memory = map(id, object, bytes);
  }
  if (memory) return *std::move(memory);
  Error error = failure(purpose, path);
  forget(id);
  return error;
}

Result<SharedMemory> SharedMemory::create_unnamed(std::uint64_t id, std::int64_t bytes,
                                                  const std::string& purpose) {
  std::optional<SharedMemory> memory;
  Descriptor object = create_labelled(id);
  if (object.valid() && set_size(object.number(), bytes)) memory = map(id, object, bytes);
  if (!memory) return failure(purpose, path_of_unnamed(id));
  memory->mapping_->keep(std::move(object));
  return *std::move(memory);
}

SharedMemoryAddress SharedMemory::address() const {
  const int descriptor = mapping_->object().number();
  return {mapping_->id(), descriptor < 0 ? 0 : getpid(), descriptor};
}

Result<SharedMemory> SharedMemory::attach(const SharedMemoryAddress& address, std::int64_t bytes,
                                          const std::string& purpose) {
  {
    const std::lock_guard guard(known().mutex);
    const auto found = known().mappings.find(address.id);
    if (found != known().mappings.end()) {
      if (auto mapping = found->second.lock()) return SharedMemory(std::move(mapping));
    }
  }
  const bool is_named = address.descriptor < 0;
  std::optional<SharedMemory> memory;
  const Descriptor object = is_named ? open_named(address.id, 0) : open_unnamed(address);
  if (object.valid() && (!is_named || allocate_pages(object.number(), bytes))) {
    memory = map(address.id, object, bytes);
  }
  if (memory) return *std::move(memory);
  return failure(purpose, is_named ? path_of_named(address.id) : path_of_unnamed(address.id));
}

void SharedMemory::forget(std::uint64_t id) {
  std::shared_ptr<Mapping> mapping;  // may be the last: freed without the mutex
  const std::lock_guard guard(known().mutex);
  const auto found = known().mappings.find(id);
  if (found != known().mappings.end()) mapping = found->second.lock();
  if (mapping != nullptr && mapping->object().valid()) {
    mapping->keep(Descriptor());
  } else {
    shm_unlink(name(id).c_str());
  }
  known().mappings.erase(id);
}

SharedMemory::Mapping::~Mapping() {
  {
    const std::lock_guard guard(known().mutex);
    const auto found = known().mappings.find(id_);
    if (found != known().mappings.end() && found->second.expired()) known().mappings.erase(found);
  }
  if (!is_lent_) munmap(bytes_.data(), bytes_.size());
}

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds time_max) {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec limit{time_max.count() / second, time_max.count() % second};
  futex(word, FUTEX_WAIT, value, &limit);
}

void wake_sleepers(const std::atomic<std::uint32_t>& word) {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace nacre::store
