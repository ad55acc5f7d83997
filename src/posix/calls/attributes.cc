// Calls that change the times, the mode, the owner or the extended attributes of a file. A write
// changes times and takes the set-user-ID bit away: bytes in memory are written first.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "posix/calls/process.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

using Times = const timespec*;
using OldTimes = const timeval*;

constinit Next<int(int, Times)> next_futimens("futimens");
constinit Next<int(int, const char*, Times, int)> next_utimensat("utimensat");
constinit Next<int(int, OldTimes)> next_futimes("futimes");
constinit Next<int(int, const char*, OldTimes)> next_futimesat("futimesat");
constinit Next<int(const char*, OldTimes)> next_utimes("utimes");
constinit Next<int(const char*, OldTimes)> next_lutimes("lutimes");
constinit Next<int(const char*, const utimbuf*)> next_utime("utime");
constinit Next<int(int, mode_t)> next_fchmod("fchmod");
constinit Next<int(int, const char*, mode_t, int)> next_fchmodat("fchmodat");
constinit Next<int(const char*, mode_t)> next_chmod("chmod");
constinit Next<int(int, uid_t, gid_t)> next_fchown("fchown");
constinit Next<int(int, const char*, uid_t, gid_t, int)> next_fchownat("fchownat");
constinit Next<int(const char*, uid_t, gid_t)> next_chown("chown");
constinit Next<int(const char*, uid_t, gid_t)> next_lchown("lchown");
constinit Next<int(int, const char*, const void*, std::size_t, int)> next_fsetxattr("fsetxattr");
constinit Next<int(const char*, const char*, const void*, std::size_t, int)> next_setxattr(
    "setxattr");
constinit Next<int(const char*, const char*, const void*, std::size_t, int)> next_lsetxattr(
    "lsetxattr");

template <class Call>
int change(int descriptor, Call call) {
  if (process.is_on()) process.flush(descriptor);
  return call();
}

template <class Call>
int change_at(int directory, const char* path, Call call) {
  if (path == nullptr) return change(directory, call);
  if (process.is_on()) process.flush(directory, path);
  return call();
}

}  // namespace

#pragma GCC visibility push(default)

int call_futimens(int descriptor, Times times) asm("futimens");
int call_futimens(int descriptor, Times times) {
  return change(descriptor, [&] { return next_futimens(descriptor, times); });
}

int call_utimensat(int directory, const char* path, Times times, int flags) asm("utimensat");
int call_utimensat(int directory, const char* path, Times times, int flags) {
  return change_at(directory, path, [&] { return next_utimensat(directory, path, times, flags); });
}

int call_futimes(int descriptor, OldTimes times) asm("futimes");
int call_futimes(int descriptor, OldTimes times) {
  return change(descriptor, [&] { return next_futimes(descriptor, times); });
}

int call_futimesat(int directory, const char* path, OldTimes times) asm("futimesat");
int call_futimesat(int directory, const char* path, OldTimes times) {
  return change_at(directory, path, [&] { return next_futimesat(directory, path, times); });
}

int call_utimes(const char* path, OldTimes times) asm("utimes");
int call_utimes(const char* path, OldTimes times) {
  return change_at(AT_FDCWD, path, [&] { return next_utimes(path, times); });
}

int call_lutimes(const char* path, OldTimes times) asm("lutimes");
int call_lutimes(const char* path, OldTimes times) {
  return change_at(AT_FDCWD, path, [&] { return next_lutimes(path, times); });
}

int call_utime(const char* path, const utimbuf* times) asm("utime");
int call_utime(const char* path, const utimbuf* times) {
  return change_at(AT_FDCWD, path, [&] { return next_utime(path, times); });
}

int call_fchmod(int descriptor, mode_t mode) asm("fchmod");
int call_fchmod(int descriptor, mode_t mode) {
  return change(descriptor, [&] { return next_fchmod(descriptor, mode); });
}

int call_fchmodat(int directory, const char* path, mode_t mode, int flags) asm("fchmodat");
int call_fchmodat(int directory, const char* path, mode_t mode, int flags) {
  return change_at(directory, path, [&] { return next_fchmodat(directory, path, mode, flags); });
}

int call_chmod(const char* path, mode_t mode) asm("chmod");
int call_chmod(const char* path, mode_t mode) {
  return change_at(AT_FDCWD, path, [&] { return next_chmod(path, mode); });
}

int call_fchown(int descriptor, uid_t user, gid_t group) asm("fchown");
int call_fchown(int descriptor, uid_t user, gid_t group) {
  return change(descriptor, [&] { return next_fchown(descriptor, user, group); });
}

int call_fchownat(int directory, const char* path, uid_t user, gid_t group,
                  int flags) asm("fchownat");
int call_fchownat(int directory, const char* path, uid_t user, gid_t group, int flags) {
  return change_at(directory, path,
                   [&] { return next_fchownat(directory, path, user, group, flags); });
}

int call_chown(const char* path, uid_t user, gid_t group) asm("chown");
int call_chown(const char* path, uid_t user, gid_t group) {
  return change_at(AT_FDCWD, path, [&] { return next_chown(path, user, group); });
}

int call_lchown(const char* path, uid_t user, gid_t group) asm("lchown");
int call_lchown(const char* path, uid_t user, gid_t group) {
  return change_at(AT_FDCWD, path, [&] { return next_lchown(path, user, group); });
}

int call_fsetxattr(int descriptor, const char* name, const void* value, std::size_t bytes,
                   int flags) asm("fsetxattr");
int call_fsetxattr(int descriptor, const char* name, const void* value, std::size_t bytes,
                   int flags) {
  return change(descriptor, [&] { return next_fsetxattr(descriptor, name, value, bytes, flags); });
}

int call_setxattr(const char* path, const char* name, const void* value, std::size_t bytes,
                  int flags) asm("setxattr");
int call_setxattr(const char* path, const char* name, const void* value, std::size_t bytes,
                  int flags) {
  return change_at(AT_FDCWD, path, [&] { return next_setxattr(path, name, value, bytes, flags); });
}

int call_lsetxattr(const char* path, const char* name, const void* value, std::size_t bytes,
                   int flags) asm("lsetxattr");
int call_lsetxattr(const char* path, const char* name, const void* value, std::size_t bytes,
                   int flags) {
  return change_at(AT_FDCWD, path, [&] { return next_lsetxattr(path, name, value, bytes, flags); });
}

#pragma GCC visibility pop

}  // namespace nacre::posix
