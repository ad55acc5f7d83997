// The store of files on nacre-testbed (testbed/), which plays a Lustre on FUSE.
#ifndef NACRE_STORE_TESTBED_TESTBED_STORE_H_
#define NACRE_STORE_TESTBED_TESTBED_STORE_H_

#include <memory>

#include "store/lustre/lustre_store.h"

namespace nacre::store {

/// As LustreStore. Layouts are set and read as on Lustre; locks are asked for by extended
/// attributes, as FUSE lets no ioctl through that passes a number in place of an address, nor the
/// bytes of one that says that it only reads them.
class TestbedStore final : public LustreStore {
 protected:
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_TESTBED_TESTBED_STORE_H_
