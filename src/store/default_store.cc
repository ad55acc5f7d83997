#include "store/default_store.h"

#include "store/posix/posix_store.h"

namespace nacre::store {

std::shared_ptr<Store> default_store() {
  static const std::shared_ptr<Store> store = std::make_shared<PosixStore>();
  return store;
}

}  // namespace nacre::store
