// The store of files on Lustre.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_STORE_H_
#define NACRE_STORE_LUSTRE_LUSTRE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "store/lustre/lustre_layout.h"
#include "store/path.h"
#include "store/posix/posix_store.h"

namespace nacre::store {

/// A PosixStore that also sets the layouts that OpenOptions request.
class LustreStore : public PosixStore {
 public:
  Result<std::int32_t> target_count(const std::string& path) override {
    return ost_count(directory_of(path));
  }

 protected:
  Result<Descriptor> open_descriptor(const std::string& path, int flags,
                                     const OpenOptions& options) override;
  /// A second open of the file must not set a layout.
  int reopen_flags() const override { return delays_layout_flag(); }
  /// O_APPEND: Lustre creates such files with a single stripe.
  int counter_flags() const override;
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_STORE_H_
