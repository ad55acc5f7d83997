// What the stores of file systems share where a file has a layout from its creation on.
#ifndef NACRE_STORE_POSIX_FIXED_LAYOUTS_H_
#define NACRE_STORE_POSIX_FIXED_LAYOUTS_H_

#include <cerrno>
#include <string>
#include <utility>

#include "store/posix/posix_store_file.h"
#include "store/store.h"

namespace nacre::store {

/// Layouts without components, which files have from their creation on. `descriptor` must stay open
/// during the lifetime of the object; `file_system`: its name, for messages.
class FixedLayouts : public FileLayouts {
 public:
  FixedLayouts(int descriptor, std::string path, const char* file_system)
      : descriptor_(descriptor), path_(std::move(path)), file_system_(file_system) {}

  /// Does nothing: the file got the default when it was created.
  Status set_default() override { return {}; }
  Status add(const plan::Layout& /*components*/) override { return no_components(); }
  Status remove_unwritten() override { return no_components(); }
  bool means_no_layout(const Error& /*error*/) const override { return false; }

 protected:
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Error no_components() const {
    return {
        ErrorClass::unsupported_operation, EOPNOTSUPP,
        "change the layout of " + path_ + ": layouts of " + file_system_ + " have no components"};
  }

  int descriptor_;
  std::string path_;
  const char* file_system_;
};

/// A PosixStoreFile with `Layouts`, which are made of its descriptor and its path.
template <class Layouts>
class LaidOutFile final : public PosixStoreFile {
 public:
  explicit LaidOutFile(OpenedFile opened)
      : PosixStoreFile(std::move(opened)), layouts_(file().number(), path()) {}

  FileLayouts* layouts() override { return &layouts_; }

 private:
  Layouts layouts_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_FIXED_LAYOUTS_H_
