#include "store/lustre/lustre_locks.h"

#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "store/errno.h"
#include "store/lustre/lustre_mount.h"
#include "store/posix/descriptor.h"

namespace nacre::store {
namespace {

constexpr unsigned take_group_lock = _IOW('f', 158, long);  // LL_IOC_GROUP_LOCK
constexpr unsigned give_group_lock = _IOW('f', 159, long);  // LL_IOC_GROUP_UNLOCK
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

/// Without waiting for who holds another one. 0, or -1 and errno.
int take_without_waiting(int descriptor, std::int32_t number) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) return -1;
  const int taken =
      retry_interrupted([&] { return ::ioctl(descriptor, take_group_lock, long{number}); });
  const int reason = errno;
  static_cast<void>(::fcntl(descriptor, F_SETFL, flags));
  errno = reason;
  return taken;
}

int set_on_testbed(int descriptor, const char* xattr, std::int32_t number) {
  const std::string text = std::to_string(number);
  return retry_interrupted(
      [&] { return ::fsetxattr(descriptor, xattr, text.data(), text.size(), 0); });
}

class GroupLock final : public FileLock {
 public:
  GroupLock(int descriptor, std::int32_t number, bool on_testbed)
      : descriptor_(descriptor), number_(number), on_testbed_(on_testbed) {}
  GroupLock(const GroupLock&) = delete;
  GroupLock& operator=(const GroupLock&) = delete;
  ~GroupLock() override {
    if (on_testbed_) {
      static_cast<void>(set_on_testbed(descriptor_, testbed_give_xattr, number_));
    } else {
      static_cast<void>(::ioctl(descriptor_, give_group_lock, long{number_}));
    }
  }

 private:
  int descriptor_;
  std::int32_t number_;
  bool on_testbed_;
};

}  // namespace

Result<std::unique_ptr<FileLock>> lock_group(int descriptor, const std::string& path,
                                             std::int32_t number) {
  const bool on_testbed = is_testbed(descriptor);
  const int taken = on_testbed ? set_on_testbed(descriptor, testbed_take_xattr, number)
                               : take_without_waiting(descriptor, number);
  if (taken != 0) return error_from_errno(errno, "take a group lock of", path);
  return std::unique_ptr<FileLock>(std::make_unique<GroupLock>(descriptor, number, on_testbed));
}

Status narrow_locks(int descriptor, const std::string& path) {
  Advice advice;
  const int told = is_testbed(descriptor)
                       ? set_on_testbed(descriptor, testbed_narrow_xattr, 1)
                       : retry_interrupted([&] { return ::ioctl(descriptor, advise, &advice); });
  if (told >= 0) return {};
  return error_from_errno(errno, "have narrow locks on", path);
}

}  // namespace nacre::store
