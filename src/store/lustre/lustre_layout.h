// Layouts of files on Lustre, through system calls alone (no liblustreapi).
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
#include "store/store.h"
#include "store/system/descriptor.h"

namespace nacre::store {

/// Flag of open(2): Lustre creates the file without a layout. Other file systems take it as
/// O_ASYNC.
[[nodiscard]] int delays_layout_flag();

/// Creates the file `path` on Lustre with open(2), `flags` and O_EXCL, and sets its layout. If none
/// is requested, it leaves the file without one, or sets the default if its owner may not read and
/// write it, because then no layout can be set later. Fails with system_errno EEXIST if the file
/// exists. If the file system refuses the layout, it fails and removes the file; with
/// ErrorClass::info_value if the layout is invalid there, for example because it names an OST that
/// does not exist.
[[nodiscard]] Result<Descriptor> create_striped(const std::string& path, int flags,
                                                unsigned permissions,
                                                const std::optional<plan::Layout>& layout);

/// Whether the directory of `path` or, with `or_root`, the root of the file system has a default
/// layout. A directory whose default equals that of the root counts as having none; one whose
/// default cannot be read counts as having one.
[[nodiscard]] bool has_default_layout(const std::string& path, bool or_root);

/// The number of OSTs of the Lustre on which `directory` lies.
[[nodiscard]] Result<std::int32_t> ost_count(const std::string& directory);
/// `opened`: open_directory(directory).
[[nodiscard]] Result<std::int32_t> ost_count(const Descriptor& opened,
                                             const std::string& directory);

/// The layout of a file that is open on a Lustre mount. The only code that reads and writes the
/// xattr lustre.lov.
class LustreLayouts final : public FileLayouts {
 public:
  /// `descriptor` must stay open during the lifetime of this object.
  LustreLayouts(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  Result<std::optional<plan::Layout>> read() override;
  Status set(const plan::Layout& layout) override;
  Status set_default() override;
  std::optional<plan::Layout> default_layout() override;
  Status add(const plan::Layout& components) override;
  Status remove_unwritten() override;
  Result<std::int32_t> target_count() override { return ost_count(directory_of(path_)); }
  bool means_no_layout(const Error& error) const override;
  bool means_not_owner(const Error& error) const override;

 private:
  [[nodiscard]] Status write_attribute(const char* name, std::span<const std::byte> bytes);
  [[nodiscard]] Status write_attribute(const char* name, const plan::Layout& layout);
  void see_others();

  int descriptor_;
  std::string path_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
