// A communicator on which files are opened: its duplicate for Nacre's messages, the tags of its
// open files, and its nodes.
#ifndef NACRE_MPI_TRANSPORT_COMM_STATE_H_
#define NACRE_MPI_TRANSPORT_COMM_STATE_H_

#include <memory>
#include <mutex>
#include <set>

#include "base/result.h"
#include "mpi/abi/native.h"
#include "mpi/transport/short_messages.h"
#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_tree.h"

namespace nacre::mpi {

/// A key for attributes of communicators, which duplicates of a communicator do not inherit.
[[nodiscard]] int create_comm_key(MPI_Comm_delete_attr_function* on_delete);

/// Created at the first open on a communicator. The communicator (as an attribute) and its open
/// files share it.
class CommState {
 public:
  /// Collective over `comm` the first time, local afterwards. ErrorClass::comm for MPI_COMM_NULL
  /// and intercommunicators.
  [[nodiscard]] static Result<std::shared_ptr<CommState>> of(MPI_Comm comm);

  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;
  ~CommState();

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Which ranks share memory: those that have mapped the same memory.
  [[nodiscard]] const plan::NodeMap& nodes() const { return nodes_; }
  [[nodiscard]] const plan::RankTree& tree() const { return tree_; }
  /// To and from the other ranks of this node; null if there are none.
  [[nodiscard]] const std::shared_ptr<ShortMessages>& short_messages() const {
    return short_messages_;
  }

  /// The tag for opening files.
  static constexpr int control_tag = 0;
  /// A tag that no open file of this rank uses. Rank 0 chooses for all ranks.
  [[nodiscard]] Result<int> choose_tag();
  void reserve_tag(int tag);
  void release_tag(int tag);

 private:
  explicit CommState(MPI_Comm duplicate);
  static void find_nodes(const std::shared_ptr<CommState>& state, int ranks_per_node);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  plan::NodeMap nodes_;
  plan::RankTree tree_;
  std::shared_ptr<ShortMessages> short_messages_;
  int tag_max_ = 32767;
  std::mutex mutex_;
  std::set<int> tags_in_use_;
  int next_tag_ = control_tag + 1;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_TRANSPORT_COMM_STATE_H_
