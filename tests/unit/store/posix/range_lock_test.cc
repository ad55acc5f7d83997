// Byte-range locks between processes, with signals, and on file systems without locks.
#include "store/posix/range_lock.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "bytes.h"
#include "child.h"
#include "store/posix/posix_store.h"
#include "store/system/descriptor.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::Checks;
using fixtures::Child;
using fixtures::read_text;
using fixtures::Report;
using fixtures::TemporaryDirectory;
using fixtures::to_create;
using fixtures::to_update;
using fixtures::write_text;

void run(const std::function<Report()>& body) {
  const Report report = fixtures::run_in_child(body);
  if (!fixtures::is_skipped(report)) CHECK(report == "");
}

std::atomic<int> interruptions{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// Increments the number in the file under a lock.
Report add_under_lock(const std::string& path, int times) {
  const auto file = *PosixStore().open(path, to_update);
  for (int i = 0; i < times; ++i) {
    const auto lock = file->lock({0, 100}, LockKind::exclusive);
    if (!lock) return lock.error().message;
    const int number = std::atoi(read_text(*file, 100, 0).c_str());
    static_cast<void>(write_text(*file, std::to_string(number + 1), 0));
  }
  return "";
}

}  // namespace

TEST_CASE("processes that update under an exclusive lock lose no update") {
  for (const std::string& root : fixtures::test_roots()) {
    const TemporaryDirectory directory(root);
    const std::string path = directory.file("x");
    REQUIRE(PosixStore().open(path, to_create).ok());
    constexpr int processes = 4;
    constexpr int times = 200;
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < processes; ++i) {
      children.push_back(std::make_unique<Child>([&] { return add_under_lock(path, times); }));
    }
    for (const auto& child : children) CHECK(child->report() == "");
    CHECK(read_text(**PosixStore().open(path, to_update), 100, 0) ==
          std::to_string(processes * times));
  }
}

TEST_CASE("a lock is released when the process of its holder ends") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x");
  const auto file = *PosixStore().open(path, to_create);
  const Report report = fixtures::run_in_child([&] {
    const auto own = *PosixStore().open(path, to_update);
    auto lock = own->lock({0, 100}, LockKind::exclusive);
    if (!lock) return lock.error().message;
    static_cast<void>(lock.value().release());  // exits while it holds the lock
    raise(SIGKILL);
    return std::string();
  });
  CHECK(report == "killed by signal 9");
  CHECK(file->lock({0, 100}, LockKind::exclusive).ok());
}

TEST_CASE("signals do not interrupt waiting for a lock") {
#ifdef __SANITIZE_THREAD__
  MESSAGE("SKIP: ThreadSanitizer holds signals back until a call that it watches; fcntl is none");
  return;
#endif
  run([] {
    const TemporaryDirectory directory;
    const auto holder = *PosixStore().open(directory.file("x"), to_create);
    const auto waiter = *PosixStore().open(directory.file("x"), to_update);
    auto held = holder->lock({0, 1}, LockKind::exclusive);

    struct sigaction action {};
    action.sa_handler = [](int) { ++interruptions; };  // without SA_RESTART
    sigaction(SIGALRM, &action, nullptr);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    std::thread releaser([&] {
      while (interruptions < 5) std::this_thread::yield();
      held->reset();
    });
    const itimerval every_millisecond{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every_millisecond, nullptr);
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    const auto lock = waiter->lock({0, 1}, LockKind::exclusive);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    releaser.join();
    Checks checks;
    checks.that(lock.ok(), "lock");
    checks.that(interruptions >= 5, "interrupted");
    return checks.report();
  });
}

TEST_CASE("the error on a file system without locks names it, with advice") {
  for (const int system_errno : {ENOSYS, ENOLCK, EOPNOTSUPP}) {
    run([&] {
      const TemporaryDirectory directory;
      const auto file = *PosixStore().open(directory.file("x"), to_create);
      if (!fixtures::refuse_system_call(SYS_fcntl, F_OFD_SETLKW, system_errno)) {
        return fixtures::skip("no seccomp");
      }
      Checks checks;
      const auto lock = file->lock({0, 1}, LockKind::exclusive);
      checks.that(!lock && lock.error().error_class == ErrorClass::unsupported_operation, "class");
      checks.that(!lock && lock.error().system_errno == system_errno, "errno");
      checks.that(
          !lock && lock.error().message.find(directory.file("x")) != std::string::npos &&
              lock.error().message.find("(tmpfs) grants no byte-range locks") != std::string::npos,
          "message");
      const auto counter = PosixStore().counter({directory.file("x"), 1, false}, true);
      checks.that(!counter && counter.error().error_class == ErrorClass::unsupported_operation,
                  "counter");
      checks.that(directory.entry_count() == 1, "no counter's file is left");
      return checks.report();
    });
  }
}

TEST_CASE("node-local locks are refused to ranks on several nodes, with advice") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x");
  const auto made = *PosixStore().open(path, to_create);
  const Descriptor file(::open(path.c_str(), O_RDWR));
  const LockTarget target{file.number(), path, "localflock"};
  const auto refused = lock_range(target, {0, 1}, LockKind::exclusive);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().error_class == ErrorClass::unsupported_operation);
  CHECK(refused.error().message.find("localflock") != std::string::npos);
  CHECK(refused.error().message.find("hold on one node only; use a file system") !=
        std::string::npos);
  CHECK(lock_range(target, {0, 0}, LockKind::exclusive).ok());
  const Status checked = check_locks(target);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().message == refused.error().message);
}

TEST_CASE("whether there are locks is found without waiting for a lock that another open holds") {
  const TemporaryDirectory directory;
  const auto holder = *PosixStore().open(directory.file("x"), to_create);
  const auto held = holder->lock({0, 100}, LockKind::exclusive);
  REQUIRE(held.ok());
  for (const OpenOptions& options : {to_update, OpenOptions{.read = true}}) {
    CHECK((*PosixStore().open(directory.file("x"), options))->check_locks().ok());
  }
  CHECK(holder->check_locks().ok());
}

TEST_CASE("a file system without locks is found without acquiring one") {
  run([] {
    const TemporaryDirectory directory;
    const auto file = *PosixStore().open(directory.file("x"), to_create);
    if (!fixtures::refuse_system_call(SYS_fcntl, F_OFD_GETLK, ENOSYS)) {
      return fixtures::skip("no seccomp");
    }
    Checks checks;
    const Status checked = file->check_locks();
    checks.that(!checked && checked.error().error_class == ErrorClass::unsupported_operation,
                "class");
    return checks.report();
  });
}

}  // namespace nacre::store
