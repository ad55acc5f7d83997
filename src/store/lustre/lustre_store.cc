#include "store/lustre/lustre_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/checked_cast.h"
#include "plan/layout/lov_codec.h"
#include "store/system/errno.h"

namespace nacre::store {
namespace {

constexpr unsigned acquire_group_lock_request = _IOW('f', 158, long);  // LL_IOC_GROUP_LOCK
constexpr unsigned release_group_lock_request = _IOW('f', 159, long);  // LL_IOC_GROUP_UNLOCK

/// The argument of LL_IOC_LADVISE: a header, and as many advices as it says.
struct AdviceHeader {
  std::uint32_t magic = 0x1ADF1CE0;
  std::uint32_t count = 0;  ///< below 1024
  std::uint64_t unused[3] = {};
};
static_assert(sizeof(AdviceHeader) == 32);

enum class AdviceKind : std::uint16_t {
  no_expansion = 3,  ///< LU_LADVISE_LOCKNOEXPAND: ignores its range
  lock_ahead = 4,    ///< LU_LADVISE_LOCKAHEAD
};

struct Advice {
  AdviceKind kind = AdviceKind::no_expansion;
  std::uint16_t mode = 0;  ///< of lock_ahead: 2 is MODE_WRITE_USER
  std::uint32_t flags = 0;
  std::uint64_t begin = 0;  ///< begin < end
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t result = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Advice) == 32);
constexpr std::uint16_t write_mode = 2;
constexpr std::uint32_t asynchronous = 1;  // LF_ASYNC
constexpr unsigned advise = _IOR('f', 250, AdviceHeader);

/// Lustre refuses a range of one byte. The lock covers whole pages anyway.
std::int64_t last_byte(const Extent& range) {
  return std::max(range.end() - 1, saturating_add<std::int64_t>(range.offset, 1));
}

/// Returns 0 or more, or -1 and sets errno.
int give_advice(int descriptor, std::span<const Advice> advices) {
  const AdviceHeader header{.count = static_cast<std::uint32_t>(advices.size())};
  std::vector<std::byte> argument(sizeof header + advices.size_bytes());
  std::memcpy(argument.data(), &header, sizeof header);
  std::memcpy(argument.data() + sizeof header, advices.data(), advices.size_bytes());
  return ::ioctl(descriptor, advise, argument.data());
}

/// Retries while another group holds the lock, for 2 s: the file system may take a while to cancel
/// a lock that was released. Returns 0, or -1 and sets errno.
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

/// Whether Nacre sets the layout of a file that this open creates, instead of the file system.
bool sets_layout(const std::string& path, const OpenOptions& options) {
  if (!options.create) return false;
  if (options.layout) return true;
  // A layout cannot be set later on a file that its owner may not write.
  const bool is_later =
      options.layout_time != LayoutTime::at_once && (options.permissions & S_IWUSR) != 0;
  return is_later && !has_default_layout(path, options.layout_time == LayoutTime::later);
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
  // Without O_NONBLOCK the kernel waits without limit for the holder of another number.
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
  const auto ask = [&](int descriptor) {
    return retry_interrupted([&] { return narrow_locks_of(descriptor); }) >= 0;
  };
  if (ask(file().number()) && (!direct().valid() || ask(direct().number()))) return {};
  return error_from_errno(errno, "request narrow locks on", path());
}

/// The locks belong to the client, so those of the usual descriptor serve writes with O_DIRECT too.
Status LustreStoreFile::lock_ahead(std::span<const Extent> ranges) {
  while (!ranges.empty()) {
    const std::size_t count = std::min(ranges.size(), ranges_at_once);
    if (retry_interrupted([&] { return request_locks(ranges.first(count)); }) < 0) {
      return error_from_errno(errno, "request locks ahead of writes on", path());
    }
    ranges = ranges.subspan(count);
  }
  return {};
}

// Only tests on a mounted Lustre (`make test-lustre`) run these system calls.

int LustreStoreFile::acquire_group_lock(std::int32_t number) {
  return ::ioctl(file().number(), acquire_group_lock_request, long{number});
}

int LustreStoreFile::release_group_lock(std::int32_t number) {
  return ::ioctl(file().number(), release_group_lock_request, long{number});
}

int LustreStoreFile::narrow_locks_of(int descriptor) {
  return give_advice(descriptor, std::array{Advice{}});
}

int LustreStoreFile::request_locks(std::span<const Extent> ranges) {
  std::vector<Advice> advices;
  advices.reserve(ranges.size());
  for (const Extent& range : ranges) {
    advices.push_back({.kind = AdviceKind::lock_ahead,
                       .mode = write_mode,
                       .flags = asynchronous,
                       .begin = static_cast<std::uint64_t>(range.offset),
                       .end = static_cast<std::uint64_t>(last_byte(range))});
  }
  return give_advice(file().number(), advices);
}

int LustreStore::counter_flags() const { return O_APPEND; }

Status LustreStore::check_layout(const std::string& /*path*/, const plan::Layout& layout) {
  const Result<std::vector<std::byte>> encoded = plan::encode_lov(layout);
  return encoded ? Status() : encoded.error();
}

Result<Descriptor> LustreStore::open_descriptor(const std::string& path, int flags,
                                                const OpenOptions& options) {
  if (options.leaves_layout_open) flags |= delays_layout_flag();
  const bool sets = sets_layout(path, options);
  if (sets) {
    Result<Descriptor> created = create_striped(path, flags, options.permissions, options.layout);
    if (created || options.exclusive || created.error().system_errno != EEXIST) return created;
    flags |= delays_layout_flag();  // the existing file may have no layout
  }
  Result<Descriptor> file = PosixStore::open_descriptor(path, flags, options);
  // Does nothing if the file has a layout. If the file system refuses the requested layout, the
  // file gets that of its directory at the first write.
  if (file && sets && options.layout) {
    static_cast<void>(LustreLayouts(file->number(), path).set(*options.layout));
  }
  return file;
}

std::unique_ptr<StoreFile> LustreStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return PosixStore::make_file(std::move(opened));
  return std::make_unique<LustreStoreFile>(std::move(opened));
}

}  // namespace nacre::store
