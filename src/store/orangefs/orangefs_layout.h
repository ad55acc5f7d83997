// Layouts of files on OrangeFS, through extended attributes of the kernel's client.
#ifndef NACRE_STORE_ORANGEFS_ORANGEFS_LAYOUT_H_
#define NACRE_STORE_ORANGEFS_ORANGEFS_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "store/posix/fixed_layouts.h"

namespace nacre::store {

/// The layout of a file that is open on a mount of OrangeFS. A file gets it when it is created,
/// from the xattrs user.pvfs2.num_dfiles, user.pvfs2.dist_name and user.pvfs2.dist_params of its
/// directory, and keeps it: nothing can set the layout of one file.
class OrangefsLayouts final : public FixedLayouts {
 public:
  OrangefsLayouts(int descriptor, std::string path)
      : FixedLayouts(descriptor, std::move(path), "OrangeFS") {}

  Result<std::optional<plan::Layout>> read() override;
  /// Does nothing: the file has a layout.
  Status set(const plan::Layout& /*layout*/) override { return {}; }
  /// None: the default of a directory without xattrs is known to the servers only.
  std::optional<plan::Layout> default_layout() override { return std::nullopt; }
  /// Always fails: clients show only the servers of each file.
  Result<std::int32_t> target_count() override;
  bool means_not_owner(const Error& /*error*/) const override { return false; }
};

}  // namespace nacre::store

#endif  // NACRE_STORE_ORANGEFS_ORANGEFS_LAYOUT_H_
