// Layouts of files on CephFS, through extended attributes alone (no libcephfs).
#ifndef NACRE_STORE_CEPH_CEPH_LAYOUT_H_
#define NACRE_STORE_CEPH_CEPH_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "store/posix/fixed_layouts.h"

namespace nacre::store {

/// The layout of a file that is open on a mount of CephFS, by the kernel's client or ceph-fuse. A
/// file has a layout from its creation on, which can change only while the file is empty. Thus it
/// never grows: Nacre leaves it as it is unless striping hints request another, because successive
/// objects of a file with the default layout already lie on all OSDs. The only code that reads and
/// writes the xattrs ceph.file.layout and ceph.dir.layout.
class CephLayouts final : public FixedLayouts {
 public:
  CephLayouts(int descriptor, std::string path)
      : FixedLayouts(descriptor, std::move(path), "CephFS") {}

  Result<std::optional<plan::Layout>> read() override;
  /// As plan::ceph_layout_request(). Does nothing if the file has data. ErrorClass::info_value if
  /// the value of a hint is invalid there, for example because there is no such pool.
  Status set(const plan::Layout& layout) override;
  /// The layout of the nearest directory above the file that has one, or else CephFS's own default.
  std::optional<plan::Layout> default_layout() override;
  /// Always fails: clients do not show ordinary users how many OSDs there are.
  Result<std::int32_t> target_count() override;
  /// CephFS wants the flag p in the MDS capabilities of the client's key.
  bool means_not_owner(const Error& error) const override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_CEPH_CEPH_LAYOUT_H_
