// Transport: messages between the ranks of one open file. Implemented over MPI (src/mpi) and inside
// one process (for tests with hundreds of ranks), and in virtual time (src/sim). All collective
// code uses these calls only.
#ifndef NACRE_COLLECTIVE_TASK_TRANSPORT_H_
#define NACRE_COLLECTIVE_TASK_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_tree.h"
#include "store/memory/shared_memory.h"

namespace nacre::collective {

/// Id of a pending message, which the transport owns; 0: none.
using MessageId = std::uint64_t;

class Transport;

/// A condition that an operation waits for.
class Condition {
 public:
  /// Whether the condition holds; may do work to find out. Never blocks.
  virtual bool ready(Transport& transport) = 0;
  /// Whether all pending messages must complete before the condition can hold. The transport then
  /// checks it only after as many messages have arrived as are missing.
  [[nodiscard]] virtual bool takes_all() const = 0;

 protected:
  ~Condition() = default;
};

/// Messages between a pair of ranks arrive in the order sent. A transport serves one file; messages
/// of different files never match. A buffer must stay in place until test() or wait() reports that
/// its message is complete. A receive has exactly the size of its message; messages of zero bytes
/// are not sent. Used by one thread at a time. Reports no errors: the MPI aborts the job if the
/// network fails.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The ranks that share memory.
  [[nodiscard]] virtual const plan::NodeMap& nodes() const = 0;
  /// The tree of ranks along which agreements send messages.
  [[nodiscard]] virtual const plan::RankTree& tree() const = 0;

  [[nodiscard]] MessageId send(int destination, std::span<const std::byte> data) {
    ++sent_.messages;
    sent_.bytes += static_cast<std::int64_t>(data.size());
    return post_send(destination, data);
  }
  [[nodiscard]] virtual MessageId receive(int source, std::span<std::byte> data) = 0;

  /// Sets completed ids to 0. Returns whether all are complete. Never blocks.
  virtual bool test(std::span<MessageId> messages) = 0;
  /// Makes `rank`, on this node, check its condition again.
  virtual void ring(int rank) = 0;
  /// Runs `job` on a thread of the process until it returns false; after each run makes this rank
  /// check its condition again. The process starts no more than `thread_count_max` threads for it.
  /// The job must not use this transport or call the MPI.
  virtual void run_in_helper_thread(std::function<bool()> job, int thread_count_max) = 0;
  /// Returns when `condition` is ready; yields the core meanwhile. Checks the condition again after
  /// a message arrives or a rank of the node rings.
  virtual void wait(Condition& condition) = 0;

  /// Creates memory that all ranks of this node can attach. Errors: SharedMemory::create().
  [[nodiscard]] virtual Result<store::SharedMemory> create_shared_memory(
      store::SharedMemory::Kind kind, std::uint64_t id, std::int64_t bytes,
      const std::string& purpose);
  /// Memory that a rank of this node created with the same size. Errors: SharedMemory::attach().
  [[nodiscard]] virtual Result<store::SharedMemory> attach_shared_memory(
      const store::SharedMemoryAddress& address, std::int64_t bytes, const std::string& purpose);
  /// The memory that this node has left, in bytes.
  [[nodiscard]] virtual std::int64_t available_memory();
  /// The cores of this node; 0: as many as ranks.
  [[nodiscard]] virtual std::int64_t core_count();

  /// What send() was called with.
  struct Sent {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
  };
  /// Since the transport was made.
  [[nodiscard]] const Sent& sent() const { return sent_; }

 private:
  [[nodiscard]] virtual MessageId post_send(int destination, std::span<const std::byte> data) = 0;

  Sent sent_;
};

/// Rings all of `ranks`, which are on this node, except this rank.
template <class Ranks>
void ring_others(Transport& transport, const Ranks& ranks) {
  for (const int rank : ranks) {
    if (rank != transport.rank()) transport.ring(rank);
  }
}

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TASK_TRANSPORT_H_
