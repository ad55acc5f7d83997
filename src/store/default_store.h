// The store that programs use.
#ifndef NACRE_STORE_DEFAULT_STORE_H_
#define NACRE_STORE_DEFAULT_STORE_H_

#include <memory>

#include "store/store.h"

namespace nacre::store {

/// The store of this process, for all mounted file systems. Thread-safe; never null.
[[nodiscard]] std::shared_ptr<Store> default_store();

}  // namespace nacre::store

#endif  // NACRE_STORE_DEFAULT_STORE_H_
