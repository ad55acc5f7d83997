// Layouts of files on Lustre, through the kernel's interface alone.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "store/path.h"
#include "store/posix/descriptor.h"
#include "store/store.h"

namespace nacre::store {

/// Of open(2) on Lustre: the file gets no layout yet. Elsewhere it leaves O_ASYNC set.
[[nodiscard]] int delays_layout_flag();

/// Creates the file `path` on Lustre, open(2) with `flags` and O_EXCL, with the layout before it
/// has any object, or without a layout where none is asked for. Errors: system_errno EEXIST where
/// it exists; a layout that the file system refuses, and then there is no file.
[[nodiscard]] Result<Descriptor> create_striped(const std::string& path, int flags,
                                                unsigned permissions,
                                                const std::optional<plan::Layout>& layout);

/// Whether somebody has set a default layout for new files of the directory of `path`: on itself
/// or, with `or_root`, on the root of the file system. The root's own default set on a directory
/// counts as none.
[[nodiscard]] bool has_default_layout(const std::string& path, bool or_root);

/// The number of OSTs of the Lustre on which `directory` lies.
[[nodiscard]] Result<std::int32_t> ost_count(const std::string& directory);

/// Of a file that is open on a Lustre mount. Layouts become the bytes of the xattr lustre.lov here
/// and nowhere else.
class LustreLayouts final : public FileLayouts {
 public:
  /// `descriptor` stays open as long as this one is used.
  LustreLayouts(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  Result<std::optional<plan::Layout>> read() override;
  Status set(const plan::Layout& layout) override;
  Status set_default() override;
  Status add(const plan::Layout& components) override;
  Status remove_unwritten() override;
  Result<std::int32_t> target_count() override { return ost_count(directory_of(path_)); }
  bool means_no_layout(const Error& error) const override;
  bool means_not_owner(const Error& error) const override;

 private:
  [[nodiscard]] Status write_attribute(const char* name, std::span<const std::byte> bytes);
  [[nodiscard]] Status write_attribute(const char* name, const plan::Layout& layout);

  int descriptor_;
  std::string path_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
