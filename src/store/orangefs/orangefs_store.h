// Files on OrangeFS, with their layouts, and their store.
#ifndef NACRE_STORE_ORANGEFS_ORANGEFS_STORE_H_
#define NACRE_STORE_ORANGEFS_ORANGEFS_STORE_H_

#include <memory>
#include <string>
#include <utility>

#include "store/orangefs/orangefs_layout.h"
#include "store/posix/posix_store.h"
#include "store/posix/posix_store_file.h"

namespace nacre::store {

/// See StoreFile.
class OrangefsStoreFile final : public PosixStoreFile {
 public:
  explicit OrangefsStoreFile(OpenedFile opened)
      : PosixStoreFile(std::move(opened)), layouts_(file().number(), path()) {}

  FileLayouts* layouts() override { return &layouts_; }

 private:
  OrangefsLayouts layouts_;
};

/// A PosixStore whose files have layouts. New files get that of their directory, whatever
/// OpenOptions request.
class OrangefsStore : public PosixStore {
 public:
  /// Refuses every layout, and says how to set that of the directory.
  Status check_layout(const std::string& path, const plan::Layout& layout) override;

 protected:
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_ORANGEFS_ORANGEFS_STORE_H_
