#include "store/lustre/lustre_mount.h"

#include <cstdlib>

#include <sys/vfs.h>
#include <sys/xattr.h>

#include "store/path.h"
#include "store/posix/descriptor.h"

namespace nacre::store {
namespace {

constexpr std::uint32_t fuse_magic = 0x65735546;
/// Any file of the testbed has it; other file systems do not take such names.
constexpr const char* testbed_xattr = "testbed.node";

bool may_be_testbed(std::uint32_t magic) {
  return magic == fuse_magic && std::getenv("NACRE_TESTBED") != nullptr;
}

}  // namespace

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
