#include "store/memory/shared_memory.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <map>
#include <mutex>
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
#include "store/system/descriptor.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {

constexpr mode_t owner_only = 0600;

/// Whether an object of this size leaves enough of /dev/shm to other users, such as the transport
/// of the MPI, which fails if /dev/shm is full.
bool leaves_room(int descriptor, std::int64_t bytes) {
  constexpr std::int64_t small_bytes = 64 << 10;
  constexpr std::uint64_t part_of_free = 4;
  struct statvfs system {};
  if (bytes <= small_bytes || fstatvfs(descriptor, &system) != 0) return true;
  return static_cast<std::uint64_t>(bytes) <= system.f_bavail * system.f_frsize / part_of_free;
}

/// Allocates all pages of the object, because access to a missing page raises SIGBUS. A process
/// that attaches does the same: it may be ahead of the creator. Keeps the contents. Returns 0 or an
/// errno.
int allocate_pages(int descriptor, std::int64_t bytes, bool creates) {
  if (creates && !leaves_room(descriptor, bytes)) return ENOSPC;
  const FileSizeSignalGuard guard;
  return posix_fallocate(descriptor, 0, bytes);
}

Error failure(int system_errno, const std::string& purpose, std::uint64_t id) {
  Error error = error_from_errno(system_errno, purpose, "/dev/shm" + SharedMemory::name(id));
  if (system_errno == ENOSPC) error.message += "; /dev/shm is full: free space there";
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

Result<SharedMemory> SharedMemory::map(std::uint64_t id, std::int64_t bytes,
                                       const std::string& purpose, bool create) {
  const int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0);
  const Descriptor object(
      retry_interrupted([&] { return shm_open(name(id).c_str(), flags, owner_only); }));
  if (!object.valid()) return failure(errno, purpose, id);
  const auto size = checked_cast<std::size_t>(bytes);
  int reason = allocate_pages(object.number(), bytes, create);
  void* memory = MAP_FAILED;
  if (reason == 0) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, object.number(), 0);
    if (memory == MAP_FAILED) reason = errno;
  }
  if (memory == MAP_FAILED) {
    if (create) forget(id);
    return failure(reason, purpose, id);
  }
  auto mapping = std::make_shared<Mapping>(std::span(static_cast<std::byte*>(memory), size));
  if (create) note(id, mapping);
  return SharedMemory(std::move(mapping));
}

/// Lets attach() find the mapping in this process.
void SharedMemory::note(std::uint64_t id, const std::shared_ptr<Mapping>& mapping) {
  const std::lock_guard guard(known().mutex);
  known().mappings[id] = mapping;
}

SharedMemory SharedMemory::lend(std::uint64_t id, std::span<std::byte> bytes) {
  auto mapping = std::make_shared<Mapping>(bytes, true);
  note(id, mapping);
  return SharedMemory(std::move(mapping));
}

Result<SharedMemory> SharedMemory::create(std::uint64_t id, std::int64_t bytes,
                                          const std::string& purpose) {
  return map(id, bytes, purpose, true);
}

Result<SharedMemory> SharedMemory::attach(std::uint64_t id, std::int64_t bytes,
                                          const std::string& purpose) {
  {
    const std::lock_guard guard(known().mutex);
    const auto found = known().mappings.find(id);
    if (found != known().mappings.end()) {
      if (auto mapping = found->second.lock()) return SharedMemory(std::move(mapping));
    }
  }
  return map(id, bytes, purpose, false);
}

void SharedMemory::forget(std::uint64_t id) {
  const std::lock_guard guard(known().mutex);
  known().mappings.erase(id);
  shm_unlink(name(id).c_str());
}

SharedMemory::Mapping::~Mapping() {
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
