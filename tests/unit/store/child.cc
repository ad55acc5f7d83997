#include "child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nacre::store::fixtures {
namespace {

constexpr const char* skip_mark = "SKIP: ";

std::optional<std::string> failure(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

/// Catches exceptions, which must not unwind into the child's copy of the parent's test.
Report guarded(const std::function<Report()>& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return std::string("exception: ") + exception.what();
  } catch (...) {
    return "a requirement failed in the child";
  }
}

bool write_text(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

}  // namespace

Child::Child(const std::function<Report()>& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed test leaves no child
    const Report report = guarded(body);
    const ssize_t written = write(ends[1], report.data(), report.size());
    _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

Child::~Child() {
  if (process_ > 0) static_cast<void>(report());
}

Report Child::report() {
  if (process_ <= 0) return "no process was made";
  Report text;
  std::array<char, 4096> buffer{};
  ssize_t bytes = 0;
  while ((bytes = read(pipe_, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  close(pipe_);
  int state = 0;
  while (waitpid(process_, &state, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (WIFSIGNALED(state)) return text + "killed by signal " + std::to_string(WTERMSIG(state));
  if (WEXITSTATUS(state) != 0) return text + "exit " + std::to_string(WEXITSTATUS(state));
  return text;
}

Report run_in_child(const std::function<Report()>& body) { return Child(body).report(); }

std::optional<std::string> own_mounts() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const int spaces = user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  if (unshare(spaces) != 0) return failure("unshare");
  // In a user namespace: only mapped users and groups can create files.
  const bool mapped =
      user == 0 || (write_text("/proc/self/setgroups", "deny") &&
                    write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1") &&
                    write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1"));
  if (!mapped) return failure("map the user");
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failure("mount /");
  return std::nullopt;
}

std::optional<std::string> mount_on(const std::string& directory, const std::string& type,
                                    const std::string& options) {
  if (mount("none", directory.c_str(), type.c_str(), 0, options.c_str()) != 0) {
    return failure("mount " + type);
  }
  return std::nullopt;
}

std::optional<std::string> make_read_only(const std::string& directory) {
  const char* path = directory.c_str();
  if (mount(path, path, nullptr, MS_BIND, nullptr) != 0) return failure("bind mount");
  if (mount("none", path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    return failure("remount read-only");
  }
  return std::nullopt;
}

bool refuse_system_call(int number, std::optional<unsigned> second_argument, int system_errno) {
  // Compares the low half of the argument, which contains the command of fcntl.
  constexpr unsigned low_half = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
  const auto statement = [](unsigned code, unsigned value, unsigned char to_skip) {
    return sock_filter{static_cast<unsigned short>(code), 0, to_skip, value};
  };
  std::vector<sock_filter> filter;
  filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0));
  const unsigned char others = second_argument ? 3 : 1;
  filter.push_back(statement(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), others));
  if (second_argument) {
    const unsigned second = offsetof(seccomp_data, args) + 8 + low_half;
    filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, second, 0));
    filter.push_back(statement(BPF_JMP | BPF_JEQ | BPF_K, *second_argument, 1));
  }
  filter.push_back(
      statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(system_errno), 0));
  filter.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Report skip(const std::string& reason) { return skip_mark + reason; }

bool is_skipped(const Report& report) {
  if (report.rfind(skip_mark, 0) != 0) return false;
  MESSAGE(report);
  return true;
}

}  // namespace nacre::store::fixtures
