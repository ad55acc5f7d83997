// Layouts of files on Lustre, through the kernel's interface alone.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/posix/descriptor.h"
#include "store/store.h"

namespace nacre::store {

/// Of open(2) on Lustre: the file gets no layout yet. Elsewhere it leaves O_ASYNC set.
[[nodiscard]] int delays_layout_flag();

/// Makes the file `path` on Lustre, open(2) with `flags` and O_EXCL, with the layout `lov` before
/// it has any object, or without any where that is empty. Errors: system_errno EEXIST where it
/// exists; a layout that the file system refuses, and then there is no file.
[[nodiscard]] Result<Descriptor> create_striped(const std::string& path, int flags,
                                                unsigned permissions,
                                                std::span<const std::byte> lov);

/// What somebody has set for new files of the directory of `path`: on itself or, with `or_root`, on
/// the root of the file system. None where nobody has, or has set the same on both.
[[nodiscard]] std::vector<std::byte> default_layout(const std::string& path, bool or_root);

/// Of a file that is open on a Lustre mount.
class LustreLayouts final : public FileLayouts {
 public:
  /// `descriptor` stays open as long as this one is used.
  LustreLayouts(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  Result<std::vector<std::byte>> read() override;
  Status set(std::span<const std::byte> layout) override;
  Status add(std::span<const std::byte> components) override;
  Status remove(std::span<const std::byte> which) override;
  Result<std::vector<std::byte>> inherited() override;
  Result<std::int32_t> target_count() override;

 private:
  [[nodiscard]] Status write_attribute(const char* name, std::span<const std::byte> bytes);

  int descriptor_;
  std::string path_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
