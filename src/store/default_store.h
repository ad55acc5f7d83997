// The store that a program's files are on, unless something else is asked for.
#ifndef NACRE_STORE_DEFAULT_STORE_H_
#define NACRE_STORE_DEFAULT_STORE_H_

#include <memory>

#include "store/store.h"

namespace nacre::store {

/// The one of the process: files of the kernel's file systems. Thread-safe; never null.
[[nodiscard]] std::shared_ptr<Store> default_store();

}  // namespace nacre::store

#endif  // NACRE_STORE_DEFAULT_STORE_H_
