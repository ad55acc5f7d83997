// CollectiveFile: the parts of an open file that a collective access uses on one rank.
#ifndef NACRE_COLLECTIVE_COLLECTIVE_FILE_H_
#define NACRE_COLLECTIVE_COLLECTIVE_FILE_H_

#include "collective/agreement/rank_grouping.h"
#include "collective/files/file_source.h"
#include "collective/profile/profile.h"
#include "collective/repeated_access.h"
#include "collective/rounds/node_rounds.h"
#include "collective/rounds/round_copies.h"
#include "collective/views/view_memory.h"
#include "plan/decide/choice_memory.h"

namespace nacre::collective {

/// For one access. Its parts must outlive the access.
struct CollectiveFile {
  FileSource& source;
  ViewMemory& views;         ///< used by this file only
  NodeRounds& rounds;        ///< used by this file only
  RankGroupCache& groups;    ///< used by this file only
  RepeatedAccess& repeated;  ///< used by this file only
  Profiler& profiler;        ///< used by this access only
  /// Threads that access the file while the rank continues; 0: the rank accesses it itself.
  int io_thread_count = 0;
  /// Whole rounds are read by one thread at most, in their order, because the file system reads
  /// ahead of accesses in order. On the testbed, several threads that read two rounds each took up
  /// to 2.8 times as long.
  bool reads_in_order = false;
  /// Used by this file only, on rank 0. Null: each call is decided from anew.
  plan::ChoiceMemory* choices = nullptr;
  RoundCopies& copies = immediate_copies();
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_COLLECTIVE_FILE_H_
