// The store of files on OrangeFS.
#ifndef NACRE_STORE_ORANGEFS_ORANGEFS_STORE_H_
#define NACRE_STORE_ORANGEFS_ORANGEFS_STORE_H_

#include <memory>
#include <string>

#include "store/orangefs/orangefs_layout.h"
#include "store/posix/posix_store.h"

namespace nacre::store {

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
