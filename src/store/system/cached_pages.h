// The pages of files that the kernel has cached.
#ifndef NACRE_STORE_SYSTEM_CACHED_PAGES_H_
#define NACRE_STORE_SYSTEM_CACHED_PAGES_H_

#include "base/extent.h"

namespace nacre::store {

/// Makes the next read of `bytes` of an open file ask the file system. Pages that are not written
/// back yet, or that are being read, stay.
void discard_cached_pages(int descriptor, const Extent& bytes);

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_CACHED_PAGES_H_
