#include "store/lustre/lustre_locks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "store/errno.h"
#include "store/lustre/lustre_mount.h"
#include "store/path.h"
#include "store/posix/descriptor.h"

namespace nacre::store {
namespace {

constexpr unsigned acquire_group_lock = _IOW('f', 158, long);  // LL_IOC_GROUP_LOCK
constexpr unsigned release_group_lock = _IOW('f', 159, long);  // LL_IOC_GROUP_UNLOCK
/// FUSE lets no ioctl through that passes a number in place of an address.
constexpr const char* testbed_take_xattr = "testbed.group_lock";
constexpr const char* testbed_give_xattr = "testbed.group_unlock";
/// Nor the bytes of one that says that it only reads them.
constexpr const char* testbed_narrow_xattr = "testbed.narrow_locks";

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

bool is_testbed(int descriptor) {
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 &&
         is_on_testbed(descriptor, static_cast<std::uint32_t>(system.f_type));
}

/// Of the file's directory: to the file's own the kernel lets nobody while a write to it is under
/// way, and that may wait for the lock. 0, or -1 and errno.
int set_on_testbed(const LockedFile& file, const char* xattr, std::int32_t number) {
  struct stat found {};
  if (::fstat(file.descriptor, &found) != 0) return -1;
  const std::string directory = directory_of(file.path);
  const std::string text = std::to_string(found.st_ino) + ' ' + std::to_string(number);
  return ::setxattr(directory.c_str(), xattr, text.data(), text.size(), 0);
}

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

/// The kernel itself does not wait for who holds another one.
int take_on_lustre(int descriptor, std::int32_t number) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) return -1;
  const int taken =
      acquire_with_retries([&] { return ::ioctl(descriptor, acquire_group_lock, long{number}); });
  const int reason = errno;
  static_cast<void>(::fcntl(descriptor, F_SETFL, flags));
  errno = reason;
  return taken;
}

int take_on_testbed(const LockedFile& file, std::int32_t number) {
  return acquire_with_retries([&] { return set_on_testbed(file, testbed_take_xattr, number); });
}

class GroupLock final : public FileLock {
 public:
  GroupLock(LockedFile file, std::int32_t number, bool on_testbed)
      : file_(std::move(file)), number_(number), on_testbed_(on_testbed) {}
  GroupLock(const GroupLock&) = delete;
  GroupLock& operator=(const GroupLock&) = delete;
  ~GroupLock() override {
    if (on_testbed_) {
      static_cast<void>(set_on_testbed(file_, testbed_give_xattr, number_));
    } else {
      static_cast<void>(::ioctl(file_.descriptor, release_group_lock, long{number_}));
    }
  }

 private:
  LockedFile file_;
  std::int32_t number_;
  bool on_testbed_;
};

}  // namespace

// What is asked of a Lustre itself no test here can run: it follows what was seen of a real one.

Result<std::unique_ptr<FileLock>> lock_group(const LockedFile& file, std::int32_t number) {
  const bool on_testbed = is_testbed(file.descriptor);
  const int taken =
      on_testbed ? take_on_testbed(file, number) : take_on_lustre(file.descriptor, number);
  if (taken != 0) return error_from_errno(errno, "take a group lock of", file.path);
  return std::unique_ptr<FileLock>(std::make_unique<GroupLock>(file, number, on_testbed));
}

Status narrow_locks(const LockedFile& file) {
  Advice advice;
  const int told =
      is_testbed(file.descriptor)
          ? set_on_testbed(file, testbed_narrow_xattr, 1)
          : retry_interrupted([&] { return ::ioctl(file.descriptor, advise, &advice); });
  if (told >= 0) return {};
  return error_from_errno(errno, "have narrow locks on", file.path);
}

}  // namespace nacre::store
