#include "store/lustre/lustre_mount.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "store/path.h"
#include "store/posix/descriptor.h"
#include "store/text_file.h"

namespace nacre::store {
namespace {

constexpr std::uint32_t fuse_magic = 0x65735546;
/// Any file of the testbed has it; other file systems do not take such names.
constexpr const char* testbed_xattr = "testbed.node";

bool may_be_testbed(std::uint32_t magic) {
  return magic == fuse_magic && std::getenv("NACRE_TESTBED") != nullptr;
}

/// The fields of a line, apart by blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (blank > 0) fields.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return fields;
}

bool is_in_list(std::string_view list, std::string_view word) {
  const std::string in_commas = "," + std::string(list) + ",";
  return in_commas.find("," + std::string(word) + ",") != std::string::npos;
}

}  // namespace

bool has_mount_option(std::string_view mountinfo, dev_t device, std::string_view option) {
  constexpr std::size_t device_field = 2;
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    const std::vector<std::string_view> fields = fields_of(mountinfo.substr(0, end));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    const bool is_it = fields.size() > device_field && fields[device_field] == wanted;
    if (is_it && is_in_list(fields.back(), option)) return true;
  }
  return false;
}

bool has_local_locks(int descriptor) {
  struct statfs system {};
  struct stat file {};
  if (::fstatfs(descriptor, &system) != 0 || ::fstat(descriptor, &file) != 0) return false;
  if (static_cast<std::uint32_t>(system.f_type) != lustre_magic) return false;
  const auto mounts = read_text_file("/proc/self/mountinfo");
  return mounts && mounts->has_value() && has_mount_option(**mounts, file.st_dev, "localflock");
}

bool is_on_testbed(int descriptor, std::uint32_t magic) {
  return may_be_testbed(magic) && ::fgetxattr(descriptor, testbed_xattr, nullptr, 0) > 0;
}

bool is_on_lustre(const std::string& path) {
  const std::string directory = directory_of(path);
  struct statfs system {};
  const int looked = retry_interrupted([&] { return ::statfs(directory.c_str(), &system); });
  if (looked != 0) return false;
  const auto magic = static_cast<std::uint32_t>(system.f_type);
  return magic == lustre_magic ||
         (may_be_testbed(magic) && ::getxattr(directory.c_str(), testbed_xattr, nullptr, 0) > 0);
}

}  // namespace nacre::store
