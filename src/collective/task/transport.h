// Transport: messages between the ranks of one open file. Implemented over MPI (src/mpi) and inside
// one process (for tests with hundreds of ranks). Everything collective is built on these few
// calls, so it runs the same blocking, nonblocking and in tests.
#ifndef NACRE_COLLECTIVE_TASK_TRANSPORT_H_
#define NACRE_COLLECTIVE_TASK_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_tree.h"

namespace nacre::collective {

/// A message under way, owned by the transport; 0 is none.
using MessageId = std::uint64_t;

class Transport;

/// What an operation waits for.
class Condition {
 public:
  /// Whether it is fulfilled; work may be done to find out. Never blocks.
  virtual bool ready(Transport& transport) = 0;
  /// Whether it takes all that it waits for to make it ready, so that it need not be asked again
  /// before as many messages as are missing have come.
  [[nodiscard]] virtual bool takes_all() const = 0;

 protected:
  ~Condition() = default;
};

/// Messages between one pair of ranks arrive in the order sent. A transport serves one file:
/// messages of two files never meet. Buffers stay put until test() or wait() has said that the
/// message is complete. Lengths match: a receive names exactly the bytes that the sender sends
/// (zero-length messages are not sent at all). Used by one thread at a time. A broken network is
/// the MPI's to report: it ends the job.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Which ranks share memory.
  [[nodiscard]] virtual const plan::NodeMap& nodes() const = 0;
  /// This rank's place in agreements.
  [[nodiscard]] virtual const plan::RankTree& tree() const = 0;

  [[nodiscard]] virtual MessageId send(int destination, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual MessageId receive(int source, std::span<std::byte> data) = 0;

  /// Completed ids are set to 0. True when all are complete. Never blocks.
  virtual bool test(std::span<MessageId> messages) = 0;
  /// Has `rank`, of this node, look at its condition again.
  virtual void ring(int rank) = 0;
  /// Runs `job`, which touches nothing of this transport, on one of at most `thread_count_max`
  /// threads of the process; then has this rank look at its condition again. The job makes no call
  /// of the MPI.
  virtual void run_in_helper_thread(std::function<void()> job, int thread_count_max) = 0;
  /// Returns when it is ready, giving up the core in between. It is asked again when messages have
  /// come or a rank of the node has rung.
  virtual void wait(Condition& condition) = 0;
};

/// Rings all of `ranks`, of this node, but this one.
template <class Ranks>
void ring_others(Transport& transport, const Ranks& ranks) {
  for (const int rank : ranks) {
    if (rank != transport.rank()) transport.ring(rank);
  }
}

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TASK_TRANSPORT_H_
