// CollectiveFile: an open file as the collective accesses of one rank use it.
#ifndef NACRE_COLLECTIVE_COLLECTIVE_FILE_H_
#define NACRE_COLLECTIVE_COLLECTIVE_FILE_H_

#include "collective/agreement/rank_grouping.h"
#include "collective/files/file_source.h"
#include "collective/profile/profile.h"
#include "collective/rounds/node_rounds.h"
#include "collective/views/view_memory.h"

namespace nacre::collective {

/// Of one access, which its parts outlive.
struct CollectiveFile {
  FileSource& source;
  ViewMemory& views;       ///< of this file alone
  NodeRounds& rounds;      ///< likewise
  RankGroupCache& groups;  ///< likewise
  Profiler& profiler;      ///< of this access alone
  /// Threads of the process that access files while the rank goes on; 0: the rank does.
  int io_thread_count = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_COLLECTIVE_FILE_H_
