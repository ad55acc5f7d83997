// FileSource: the file of a rank, opened on first need.
#ifndef NACRE_COLLECTIVE_FILE_SOURCE_H_
#define NACRE_COLLECTIVE_FILE_SOURCE_H_

#include "base/result.h"
#include "collective/node_rounds.h"
#include "collective/view_memory.h"
#include "store/store.h"

namespace nacre::collective {

/// Opens on first need: only ranks that touch a file open it.
class FileSource {
 public:
  virtual ~FileSource() = default;
  [[nodiscard]] virtual Result<store::StoreFile*> file() = 0;
};

/// An open file as the collective accesses of one rank use it; its parts outlive them and are for
/// this file alone.
struct CollectiveFile {
  FileSource& source;
  ViewMemory& views;
  NodeRounds& rounds;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILE_SOURCE_H_
