// The store of files on nacre-testbed (testbed/), which emulates Lustre with FUSE.
#ifndef NACRE_STORE_TESTBED_TESTBED_STORE_H_
#define NACRE_STORE_TESTBED_TESTBED_STORE_H_

#include <memory>

#include "store/lustre/lustre_store.h"

namespace nacre::store {

/// A LustreStore. Layouts are set and read as on Lustre. Locks are requested through extended
/// attributes, because FUSE passes on neither ioctls whose argument is a number nor the data of
/// ioctls that are declared as read-only.
class TestbedStore final : public LustreStore {
 protected:
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_TESTBED_TESTBED_STORE_H_
