// Tests in a process of their own: for limits, users, signals and mounts that must not reach the
// rest.
#ifndef NACRE_TESTS_UNIT_STORE_CHILD_H_
#define NACRE_TESTS_UNIT_STORE_CHILD_H_

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace nacre::store::fixtures {

/// What a child has to say: empty when all was as it should be.
using Report = std::string;

/// A forked process that runs `body` and ends. The parent has no other thread when it is made.
class Child {
 public:
  explicit Child(const std::function<Report()>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();
  /// Waits for its end. "killed by signal N" where it did not come to one by itself.
  [[nodiscard]] Report report();

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

[[nodiscard]] Report run_in_child(const std::function<Report()>& body);

/// Collects what was not as it should be.
class Checks {
 public:
  void that(bool condition, const std::string& words) {
    if (!condition) report_ += words + "; ";
  }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  Report report_;
};

/// For a child: gives it mounts of its own. A reason where the system does not let it.
[[nodiscard]] std::optional<std::string> own_mounts();
/// Mounts a file system without a device, e.g. "tmpfs" with "size=64k".
[[nodiscard]] std::optional<std::string> mount_on(const std::string& directory,
                                                  const std::string& type,
                                                  const std::string& options);
[[nodiscard]] std::optional<std::string> make_read_only(const std::string& directory);

/// For a child: from now on the system call fails with `system_errno`, where its second argument is
/// `second_argument`, if that is given. False where the kernel has no seccomp.
[[nodiscard]] bool refuse_system_call(int number, std::optional<unsigned> second_argument,
                                      int system_errno);

/// What a child reports that cannot do its test here.
[[nodiscard]] Report skip(const std::string& reason);
/// Prints the reason and is true where the report is a skip.
[[nodiscard]] bool is_skipped(const Report& report);

}  // namespace nacre::store::fixtures

#endif  // NACRE_TESTS_UNIT_STORE_CHILD_H_
