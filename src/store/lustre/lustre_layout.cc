#include "store/lustre/lustre_layout.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "plan/layout/layout_growth.h"
#include "plan/layout/lov_codec.h"
#include "store/lustre/lustre_defaults.h"
#include "store/system/directory.h"
#include "store/system/errno.h"
#include "store/system/xattr.h"

namespace nacre::store {
namespace {

constexpr const char* layout_xattr = "lustre.lov";
constexpr const char* more_components_xattr = "lustre.lov.add";
constexpr const char* less_components_xattr = "lustre.lov.del";
constexpr mode_t owners_access = S_IRUSR | S_IWUSR;
constexpr int delay_create = O_NOCTTY | FASYNC;
constexpr unsigned get_ost_count = _IOR('f', 168, long);  // LL_IOC_GETOBDCOUNT

/// The default layout that is set on a directory; empty: none is.
Result<std::vector<std::byte>> layout_of(const std::string& directory) {
  std::vector<std::byte> bytes;
  const auto get = [&](void* to, std::size_t size) {
    return ::getxattr(directory.c_str(), layout_xattr, to, size);
  };
  const int failure = read_xattr(get, bytes);
  if (failure == 0) return bytes;
  if (failure == ENODATA || failure == EOPNOTSUPP) return std::vector<std::byte>();
  return error_from_errno(failure, "read the default layout of", directory);
}

/// Runs `set`, which sets the layout of a file that was created with `mode`. This needs permission
/// to read and write the file, also through a descriptor that could.
template <class Set>
Status with_permission(int descriptor, mode_t mode, const std::string& path, Set set) {
  const auto change_to = [&](mode_t wanted) {
    return ::fchmod(descriptor, wanted) == 0
               ? Status()
               : error_from_errno(errno, "set the permissions of", path);
  };
  Status status = change_to(mode | owners_access);
  if (status) status = set();
  return status ? change_to(mode) : status;
}

/// The class of an errno with which Lustre refuses a layout. Hints request the layouts of new
/// files, so a layout that cannot exist (EINVAL: for example, there is no such OST) or an OST that
/// is down (EREMOTEIO) is the fault of a hint's value, not of the file's name.
ErrorClass class_of_refusal(const Error& error) {
  const bool is_value = error.system_errno == EINVAL || error.system_errno == EREMOTEIO;
  return is_value ? ErrorClass::info_value : error.error_class;
}

/// Advice to the user if the file system refuses a layout.
std::string advice_for(int reason) {
  if (reason == EPERM) return " (only the owner of the file may do this)";
  if (reason == EACCES) return " (this needs permission to write the file)";
  return " (check the OST indices with `lfs osts`; an old Lustre may not support this kind of "
         "layout)";
}

/// The highest directory above `directory` on the same file system.
std::string top_of_mount(const std::string& directory) {
  std::string top = directory;
  walk_up_mount(directory, [&](const std::string& here) {
    top = here;
    return false;
  });
  return top;
}

/// The default layout of `directory`, or else of the root of the file system; empty: neither has
/// one, or it cannot be read.
std::vector<std::byte> inherited_layout(const std::string& directory) {
  Result<std::vector<std::byte>> inherited = layout_of(directory);
  if (inherited && inherited->empty()) inherited = layout_of(top_of_mount(directory));
  return inherited ? *std::move(inherited) : std::vector<std::byte>();
}

}  // namespace

int delays_layout_flag() { return delay_create; }

Result<Descriptor> create_striped(const std::string& path, int flags, unsigned permissions,
                                  const std::optional<plan::Layout>& layout) {
  const int exclusively = flags | O_CREAT | O_EXCL | delay_create;
  Descriptor file(
      retry_interrupted([&] { return ::open(path.c_str(), exclusively, permissions); }));
  struct stat made {};
  if (!file.valid() || ::fstat(file.number(), &made) != 0) {
    return error_from_errno(errno, "open", path);
  }
  // The umask, or the default ACL of the directory, may have removed more permissions.
  const mode_t mode = made.st_mode & 07777U;
  const bool is_settable = (mode & owners_access) == owners_access;
  if (!layout && is_settable) return file;
  LustreLayouts layouts(file.number(), path);
  // A layout that Nacre cannot set later is set now.
  const auto set_one = [&] { return layout ? layouts.set(*layout) : layouts.set_default(); };
  Status set = is_settable ? set_one() : with_permission(file.number(), mode, path, set_one);
  if (set) return file;
  // A file without a layout would fail every write of other processes that have it open.
  static_cast<void>(::unlink(path.c_str()));
  return std::move(set).error();
}

bool has_default_layout(const std::string& path, bool or_root) {
  const std::string directory = directory_of(path);
  const Result<std::vector<std::byte>> set = layout_of(directory);
  // What cannot be read may be a default, which the file system then gives the file by itself.
  if (!set) return true;
  if (set->empty() != or_root) return or_root;
  const Result<std::vector<std::byte>> of_root = layout_of(top_of_mount(directory));
  if (!of_root) return true;
  // For a directory without a default of its own, newer clients return the root's.
  return or_root ? !of_root->empty() : *set != *of_root;
}

Result<std::int32_t> ost_count(const std::string& directory) {
  return ost_count(open_directory(directory), directory);
}

Result<std::int32_t> ost_count(const Descriptor& opened, const std::string& directory) {
  long count = 0;  // 0 asks for OSTs
  if (!opened.valid() || ::ioctl(opened.number(), get_ost_count, &count) != 0) {
    return error_from_errno(errno, "count the OSTs of", directory);
  }
  return static_cast<std::int32_t>(count);
}

Result<std::optional<plan::Layout>> LustreLayouts::read() {
  // A client learns of a layout that another client has set or changed by asking for the
  // attributes. Without the size among them, Lustre asks the metadata server only.
  struct statx ignored {};
  static_cast<void>(::statx(descriptor_, "", AT_EMPTY_PATH, STATX_TYPE, &ignored));
  std::vector<std::byte> bytes;
  const auto get = [&](void* to, std::size_t size) {
    return ::fgetxattr(descriptor_, layout_xattr, to, size);
  };
  const int failure = read_xattr(get, bytes);
  if (failure != 0 && failure != ENODATA) {
    return error_from_errno(failure, "read the layout of", path_);
  }
  if (failure == ENODATA || bytes.empty()) return std::optional<plan::Layout>();
  Result<plan::Layout> layout = plan::decode_lov(bytes);
  if (!layout) return std::move(layout).error();
  return std::optional(*std::move(layout));
}

Status LustreLayouts::write_attribute(const char* name, std::span<const std::byte> bytes) {
  const int set = retry_interrupted(
      [&] { return ::fsetxattr(descriptor_, name, bytes.data(), bytes.size(), 0); });
  if (set == 0) {
    see_others();
    return {};
  }
  Error error = error_from_errno(errno, "set the layout of", path_);
  error.error_class = class_of_refusal(error);
  error.message += advice_for(error.system_errno);
  return error;
}

Status LustreLayouts::write_attribute(const char* name, const plan::Layout& layout) {
  const Result<std::vector<std::byte>> bytes = plan::encode_lov(layout);
  return bytes ? write_attribute(name, *bytes) : bytes.error();
}

/// If another client has set a layout at the same time, Lustre keeps that layout and reports
/// success. This client may then see no layout until it accesses the file, even after it has asked
/// for attributes (Lustre 2.17, in 2 of 100 races).
void LustreLayouts::see_others() {
  if (::fgetxattr(descriptor_, layout_xattr, nullptr, 0) >= 0 || errno != ENODATA) return;
  std::byte ignored{};
  static_cast<void>(::pread(descriptor_, &ignored, sizeof ignored, 0));  // cannot if write-only
}

Status LustreLayouts::set(const plan::Layout& layout) {
  return write_attribute(layout_xattr, layout);
}

Status LustreLayouts::set_default() {
  // A second open of the file would not set it: it does not reach Lustre's servers if this node has
  // the file open for writing. The default is copied as bytes, so that Nacre need not decode it.
  const std::vector<std::byte> inherited = inherited_layout(directory_of(path_));
  if (!inherited.empty() && write_attribute(layout_xattr, inherited)) return {};
  return set(plan::plain_layout({}));
}

std::optional<plan::Layout> LustreLayouts::default_layout() {
  const std::vector<std::byte> inherited = inherited_layout(directory_of(path_));
  if (inherited.empty()) return default_of_clients();
  Result<plan::Layout> layout = plan::decode_lov(inherited);
  return layout ? std::optional(*std::move(layout)) : std::nullopt;
}

Status LustreLayouts::add(const plan::Layout& components) {
  return write_attribute(more_components_xattr, components);
}

Status LustreLayouts::remove_unwritten() {
  // The file system selects them by their flags: a write may instantiate a component meanwhile.
  return write_attribute(less_components_xattr, plan::all_unwritten());
}

bool LustreLayouts::means_no_layout(const Error& error) const {
  // EBADF: the file has no layout at all; ENODATA: the layout ends before the bytes.
  return error.system_errno == EBADF || error.system_errno == ENODATA;
}

bool LustreLayouts::means_not_owner(const Error& error) const {
  return error.system_errno == EPERM;
}

}  // namespace nacre::store
