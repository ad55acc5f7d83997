#include "store/orangefs/orangefs_layout.h"

#include <cerrno>
#include <cstddef>
#include <vector>

#include <sys/xattr.h>

#include "plan/layout/orangefs_layout.h"
#include "store/system/errno.h"
#include "store/system/xattr.h"

namespace nacre::store {
namespace {

constexpr const char* distribution_xattr = "system.pvfs2.md";
constexpr const char* handles_xattr = "system.pvfs2.dh";

}  // namespace

Result<std::optional<plan::Layout>> OrangefsLayouts::read() {
  std::vector<std::byte> distribution;
  std::vector<std::byte> handles;
  const auto get = [&](const char* name) {
    return [this, name](void* to, std::size_t size) {
      return ::fgetxattr(descriptor(), name, to, size);
    };
  };
  int failure = read_xattr(get(distribution_xattr), distribution);
  if (failure == 0) failure = read_xattr(get(handles_xattr), handles);
  if (failure != 0) return error_from_errno(failure, "read the layout of", path());
  Result<plan::Layout> layout = plan::decode_orangefs_layout(distribution, handles);
  if (!layout) return std::move(layout).error();
  return std::optional(*std::move(layout));
}

Result<std::int32_t> OrangefsLayouts::target_count() {
  return Error{ErrorClass::unsupported_operation, EOPNOTSUPP,
               "count the servers of " + path() + ": clients of OrangeFS do not show them"};
}

}  // namespace nacre::store
