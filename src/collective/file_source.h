// FileSource: the file of a rank, opened on first need.
#ifndef NACRE_COLLECTIVE_FILE_SOURCE_H_
#define NACRE_COLLECTIVE_FILE_SOURCE_H_

#include "base/result.h"
#include "collective/node_rounds.h"
#include "collective/profile.h"
#include "collective/rank_grouping.h"
#include "collective/view_memory.h"
#include "store/store.h"

namespace nacre::collective {

/// Opens on first need: only ranks that touch a file open it.
class FileSource {
 public:
  virtual ~FileSource() = default;
  [[nodiscard]] virtual Result<store::StoreFile*> file() = 0;
};

/// An open file as a collective access of one rank uses it; its parts outlive the access.
struct CollectiveFile {
  FileSource& source;
  ViewMemory& views;    ///< of this file alone
  NodeRounds& rounds;   ///< likewise
  GroupMemory& groups;  ///< likewise
  Profiler& profiler;   ///< of this access alone
  /// Threads of the process that access files while the rank goes on; 0: the rank does.
  int io_thread_count = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILE_SOURCE_H_
