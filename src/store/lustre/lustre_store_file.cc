#include "store/lustre/lustre_store_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>

#include <fcntl.h>
#include <sys/ioctl.h>

#include "store/system/errno.h"

namespace nacre::store {
namespace {

constexpr unsigned take_group_lock_request = _IOW('f', 158, long);  // LL_IOC_GROUP_LOCK
constexpr unsigned give_group_lock_request = _IOW('f', 159, long);  // LL_IOC_GROUP_UNLOCK

/// Of LL_IOC_LADVISE: what an open file is told, an array of one here.
struct Advice {
  std::uint32_t magic = 0x1ADF1CE0;
  std::uint32_t count = 1;
  std::uint64_t header_unused[3] = {};
  std::uint16_t kind = 3;  // LU_LADVISE_LOCKNOEXPAND
  std::uint16_t unused_before = 0;
  std::uint32_t unused = 0;
  std::uint64_t begin = 0;  // it is of the whole open file; begin < end
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t unused_behind = 0;
};
constexpr std::size_t advice_header_bytes = 32;
static_assert(sizeof(Advice) == advice_header_bytes + 32);
using AdviceHeader = std::byte[advice_header_bytes];
constexpr unsigned advise = _IOR('f', 250, AdviceHeader);

/// As long as another group's is held, but not for ever: a file system may take its time to take
/// back what was given back. 0, or -1 and errno.
template <class Take>
int acquire_with_retries(Take take) {
  constexpr std::chrono::milliseconds longest_pause{50};
  constexpr std::chrono::seconds patience{2};
  const auto end = std::chrono::steady_clock::now() + patience;
  std::chrono::milliseconds pause{1};
  while (true) {
    const int taken = retry_interrupted(take);
    const bool is_held = taken != 0 && (errno == EAGAIN || errno == EBUSY);
    if (!is_held || std::chrono::steady_clock::now() > end) return taken;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

}  // namespace

class LustreStoreFile::GroupLock final : public FileLock {
 public:
  GroupLock(LustreStoreFile& file, std::int32_t number) : file_(file), number_(number) {}
  GroupLock(const GroupLock&) = delete;
  GroupLock& operator=(const GroupLock&) = delete;
  ~GroupLock() override { static_cast<void>(file_.release_group_lock(number_)); }

 private:
  LustreStoreFile& file_;
  std::int32_t number_;
};

Result<std::unique_ptr<FileLock>> LustreStoreFile::lock_group(std::int32_t number) {
  if (direct().valid()) {
    return Error{ErrorClass::unsupported_operation, 0,
                 "the file is open with O_DIRECT (direct_read, direct_write)"};
  }
  // Without O_NONBLOCK the kernel waits for whoever holds a lock of another number, without end.
  const int flags = ::fcntl(file().number(), F_GETFL);
  int taken = flags < 0 ? -1 : ::fcntl(file().number(), F_SETFL, flags | O_NONBLOCK);
  if (taken == 0) {
    taken = acquire_with_retries([&] { return acquire_group_lock(number); });
    const int reason = errno;
    static_cast<void>(::fcntl(file().number(), F_SETFL, flags));
    errno = reason;
  }
  if (taken != 0) return error_from_errno(errno, "acquire a group lock on", path());
  return std::unique_ptr<FileLock>(std::make_unique<GroupLock>(*this, number));
}

Status LustreStoreFile::narrow_locks() {
  const bool are_narrow = narrow_locks_of(file().number()) >= 0 &&
                          (!direct().valid() || narrow_locks_of(direct().number()) >= 0);
  if (are_narrow) return {};
  return error_from_errno(errno, "request narrow locks on", path());
}

// No test here runs the calls of a Lustre itself: they follow what was seen of a real one.

int LustreStoreFile::acquire_group_lock(std::int32_t number) {
  return ::ioctl(file().number(), take_group_lock_request, long{number});
}

int LustreStoreFile::release_group_lock(std::int32_t number) {
  return ::ioctl(file().number(), give_group_lock_request, long{number});
}

int LustreStoreFile::narrow_locks_of(int descriptor) {
  Advice advice;
  return retry_interrupted([&] { return ::ioctl(descriptor, advise, &advice); });
}

}  // namespace nacre::store
