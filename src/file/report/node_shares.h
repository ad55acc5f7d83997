// NodeShares: what the nodes of a job moved to and from a file, in constant size.
#ifndef NACRE_FILE_REPORT_NODE_SHARES_H_
#define NACRE_FILE_REPORT_NODE_SHARES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/profile/profile_digest.h"
#include "collective/profile/spread.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/report/job_facts.h"

namespace nacre::file {

/// Sums over the ranks of a node, or of one rank.
struct NodeFigures {
  std::int64_t bytes = 0;  ///< of the program
  std::int64_t file_bytes = 0;
  std::int64_t file_calls = 0;
  std::int64_t file_nanoseconds = 0;  ///< as in FileShare
};

/// The file accesses of a node. `rank` is its lowest.
struct NodeShare : collective::FileShare {
  HostNames::Name host{};
};

/// The nodes' figures of one kind of calls. Trivially copyable.
struct NodeShares {
  static constexpr std::size_t busiest_max = 8;

  collective::Spread bytes;       ///< of the program, by node
  collective::Spread file_bytes;  ///< by node
  /// The nodes that moved most bytes to or from the file, busiest first.
  std::array<NodeShare, busiest_max> busiest;
};

void fold(NodeShares& into, const NodeShares& from);

/// Collective. `own`: of this rank, for each kind of calls. The result is valid on rank 0 only.
collective::Task<std::vector<NodeShares>> reduce_node_shares(collective::Transport& transport,
                                                             std::vector<NodeFigures> own);

}  // namespace nacre::file

#endif  // NACRE_FILE_REPORT_NODE_SHARES_H_
