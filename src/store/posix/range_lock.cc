#include "store/posix/range_lock.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>

#include "store/file_system.h"
#include "store/system/descriptor.h"
#include "store/system/errno.h"

namespace nacre::store {
namespace {

struct flock lock_record(const Extent& range, short type) {
  struct flock record {};
  record.l_type = type;
  record.l_whence = SEEK_SET;
  record.l_start = range.offset;
  record.l_len = range.length;
  return record;
}

class OfdLock final : public FileLock {
 public:
  OfdLock(int descriptor, const Extent& range) : descriptor_(descriptor), range_(range) {}
  OfdLock(const OfdLock&) = delete;
  OfdLock& operator=(const OfdLock&) = delete;
  ~OfdLock() override {
    struct flock record = lock_record(range_, F_UNLCK);
    static_cast<void>(retry_interrupted([&] { return fcntl(descriptor_, F_OFD_SETLK, &record); }));
  }

 private:
  int descriptor_;
  Extent range_;
};

/// The lock of an empty range. To the kernel a length of 0 would mean "to the end of the file".
class EmptyLock final : public FileLock {};

std::string advice(const FileSystemFacts& facts) {
  const FileSystem* const file_system = file_system_of(facts);
  if (file_system != nullptr && !file_system->locks_advice.empty()) {
    return std::string(file_system->locks_advice);
  }
  return "use a file system that has byte-range locks, or avoid shared file pointers, atomic mode "
         "and write sieving";
}

Error lock_error(int system_errno, const LockTarget& target) {
  Error error = error_from_errno(system_errno, "lock", target.path);
  const bool unsupported = system_errno == ENOSYS || system_errno == ENOLCK ||
                           system_errno == EOPNOTSUPP || system_errno == EINVAL;
  if (!unsupported) return error;
  const FileSystemFacts facts = facts_of_file(target.descriptor);
  error.error_class = ErrorClass::unsupported_operation;
  error.message += "; the file system (" + name_of(facts) +
                   ") grants no byte-range locks here: " + advice(facts);
  return error;
}

Status check_reach(const LockTarget& target) {
  if (target.local_locks_cause.empty()) return {};
  return Error{
      ErrorClass::unsupported_operation, EOPNOTSUPP,
      "lock " + target.path + ": the file system is " + std::string(target.local_locks_cause) +
          ": byte-range locks hold on one node only; " + advice(facts_of_file(target.descriptor))};
}

}  // namespace

Status check_locks(const LockTarget& target) {
  if (Status reach = check_reach(target); !reach) return reach;
  struct flock record = lock_record({0, 1}, F_RDLCK);
  if (retry_interrupted([&] { return fcntl(target.descriptor, F_OFD_GETLK, &record); }) != 0) {
    return lock_error(errno, target);
  }
  return {};
}

Result<std::unique_ptr<FileLock>> lock_range(const LockTarget& target, const Extent& range,
                                             LockKind kind) {
  if (range.empty()) return std::unique_ptr<FileLock>(std::make_unique<EmptyLock>());
  if (Status reach = check_reach(target); !reach) return std::move(reach).error();
  struct flock record = lock_record(range, kind == LockKind::shared ? F_RDLCK : F_WRLCK);
  if (retry_interrupted([&] { return fcntl(target.descriptor, F_OFD_SETLKW, &record); }) != 0) {
    return lock_error(errno, target);
  }
  return std::unique_ptr<FileLock>(std::make_unique<OfdLock>(target.descriptor, range));
}

}  // namespace nacre::store
