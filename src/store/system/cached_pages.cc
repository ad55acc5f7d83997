#include "store/system/cached_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/rounding.h"

namespace nacre::store {

void discard_cached_pages(int descriptor, const Extent& bytes) {
  // The kernel keeps pages that are only partly in the range.
  static const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
  const std::int64_t begin = round_down(bytes.offset, page_bytes);
  const std::int64_t end = round_up(bytes.end(), page_bytes);
  // A length of 0 would mean "to the end of the file".
  if (end > begin)
    static_cast<void>(::posix_fadvise(descriptor, begin, end - begin, POSIX_FADV_DONTNEED));
}

}  // namespace nacre::store
