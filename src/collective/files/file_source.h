// FileSource: the file of a rank, opened at its first use.
#ifndef NACRE_COLLECTIVE_FILES_FILE_SOURCE_H_
#define NACRE_COLLECTIVE_FILES_FILE_SOURCE_H_

#include "base/result.h"
#include "store/store.h"

namespace nacre::collective {

/// Only ranks that access the file open it.
class FileSource {
 public:
  virtual ~FileSource() = default;
  [[nodiscard]] virtual Result<store::StoreFile*> file() = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_FILE_SOURCE_H_
