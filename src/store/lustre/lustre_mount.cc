#include "store/lustre/lustre_mount.h"

#include <cstdlib>

#include <fcntl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "store/posix/descriptor.h"

namespace nacre::store {
namespace {

constexpr std::uint32_t fuse_magic = 0x65735546;
/// Any file of the testbed has it; other file systems do not take such names.
constexpr const char* testbed_xattr = "testbed.node";

}  // namespace

bool is_on_testbed(int descriptor, std::uint32_t magic) {
  if (magic != fuse_magic || std::getenv("NACRE_TESTBED") == nullptr) return false;
  return ::fgetxattr(descriptor, testbed_xattr, nullptr, 0) > 0;
}

bool is_on_lustre(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const Descriptor opened(retry_interrupted(
      [&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  struct statfs system {};
  if (!opened.valid() || ::fstatfs(opened.number(), &system) != 0) return false;
  const auto magic = static_cast<std::uint32_t>(system.f_type);
  return magic == lustre_magic || is_on_testbed(opened.number(), magic);
}

}  // namespace nacre::store
