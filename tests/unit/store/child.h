// Runs tests in child processes, for limits, users, signals and mounts that must not affect other
// tests.
#ifndef NACRE_TESTS_UNIT_STORE_CHILD_H_
#define NACRE_TESTS_UNIT_STORE_CHILD_H_

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace nacre::store::fixtures {

/// The report of a child; empty if its test passed.
using Report = std::string;

/// A forked process that runs `body` and exits. The parent must have one thread only.
class Child {
 public:
  explicit Child(const std::function<Report()>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();
  /// Waits for the child. Returns its report, or "killed by signal N".
  [[nodiscard]] Report report();

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

[[nodiscard]] Report run_in_child(const std::function<Report()>& body);

/// Collects failed checks.
class Checks {
 public:
  void that(bool condition, const std::string& words) {
    if (!condition) report_ += words + "; ";
  }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  Report report_;
};

/// For a child: creates a mount namespace. Returns the reason if the system refuses.
[[nodiscard]] std::optional<std::string> own_mounts();
/// Mounts a file system without a device, for example "tmpfs" with "size=64k".
[[nodiscard]] std::optional<std::string> mount_on(const std::string& directory,
                                                  const std::string& type,
                                                  const std::string& options);
[[nodiscard]] std::optional<std::string> make_read_only(const std::string& directory);

/// For a child: makes a system call fail with `system_errno`; with `second_argument`, only calls
/// with that second argument. Returns false if the kernel has no seccomp.
[[nodiscard]] bool refuse_system_call(int number, std::optional<unsigned> second_argument,
                                      int system_errno);

/// The report of a child that cannot run its test on this machine.
[[nodiscard]] Report skip(const std::string& reason);
/// If the report is a skip, prints the reason and returns true.
[[nodiscard]] bool is_skipped(const Report& report);

}  // namespace nacre::store::fixtures

#endif  // NACRE_TESTS_UNIT_STORE_CHILD_H_
