#include "store/ceph/ceph_layout.h"

#include <cerrno>
#include <string_view>

#include <sys/xattr.h>

#include "plan/layout/ceph_layout.h"
#include "store/path.h"
#include "store/system/descriptor.h"
#include "store/system/directory.h"
#include "store/system/errno.h"
#include "store/system/xattr.h"

namespace nacre::store {
namespace {

constexpr const char* file_xattr = "ceph.file.layout";
constexpr const char* directory_xattr = "ceph.dir.layout";

/// The layout of a directory that has one of its own, as text; otherwise empty.
std::string layout_of_directory(const std::string& directory) {
  std::string text;
  const auto get = [&](void* to, std::size_t size) {
    return ::getxattr(directory.c_str(), directory_xattr, to, size);
  };
  return read_xattr(get, text) == 0 ? text : "";
}

/// The default layout of the nearest directory from `directory` on upwards; empty if none has one.
std::string inherited_layout(const std::string& directory) {
  std::string text;
  walk_up_mount(directory.empty() ? "./" : directory, [&](const std::string& here) {
    text = layout_of_directory(here);
    return !text.empty();
  });
  return text;
}

/// Hints request the layouts of new files, so a layout that cannot exist (EINVAL) or an unknown
/// pool (ENOENT) is the fault of a hint's value, not of the file's name.
Error refusal(int system_errno, const std::string& path) {
  Error error = error_from_errno(system_errno, "set the layout of", path);
  if (system_errno == EINVAL || system_errno == ENOENT) {
    error.error_class = ErrorClass::info_value;
    error.message += " (the pool must be a data pool of this file system)";
  } else if (system_errno == EPERM || system_errno == EACCES) {
    error.message += " (this needs the flag p in the MDS capabilities of the client's key)";
  }
  return error;
}

}  // namespace

Result<std::optional<plan::Layout>> CephLayouts::read() {
  std::string text;
  const auto get = [&](void* to, std::size_t size) {
    return ::fgetxattr(descriptor(), file_xattr, to, size);
  };
  const int failure = read_xattr(get, text);
  if (failure != 0) return error_from_errno(failure, "read the layout of", path());
  Result<plan::Layout> layout = plan::parse_ceph_layout(text);
  if (!layout) return std::move(layout).error();
  return std::optional(*std::move(layout));
}

Status CephLayouts::set(const plan::Layout& layout) {
  const Result<std::optional<plan::Layout>> current = read();
  if (!current) return current.error();
  const std::string text = plan::ceph_layout_request(layout, **current);
  if (text.empty()) return {};
  const int done = retry_interrupted(
      [&] { return ::fsetxattr(descriptor(), file_xattr, text.data(), text.size(), 0); });
  if (done == 0 || errno == ENOTEMPTY) return {};
  return refusal(errno, path());
}

std::optional<plan::Layout> CephLayouts::default_layout() {
  const std::string inherited = inherited_layout(directory_of(path()));
  if (inherited.empty()) {
    constexpr std::int64_t object_bytes = 4 << 20;
    return plan::plain_layout(
        {.stripe_size = object_bytes, .object_size = object_bytes, .stripe_count = 1});
  }
  Result<plan::Layout> layout = plan::parse_ceph_layout(inherited);
  return layout ? std::optional(*std::move(layout)) : std::nullopt;
}

Result<std::int32_t> CephLayouts::target_count() {
  return Error{ErrorClass::unsupported_operation, EOPNOTSUPP,
               "count the OSDs of " + path() + ": clients of CephFS do not show them"};
}

bool CephLayouts::means_not_owner(const Error& error) const {
  return error.system_errno == EPERM || error.system_errno == EACCES;
}

}  // namespace nacre::store
