// Progress of accesses that the program has started and does not wait for. The ranks of a
// collective access must answer each other while their programs compute. The MPI decides who polls
// for them (ARCHITECTURE.md, Progress).
#ifndef NACRE_MPI_PROGRESS_PROGRESS_H_
#define NACRE_MPI_PROGRESS_PROGRESS_H_

#include <memory>
#include <thread>

#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

/// Polls `queue` until nothing is pending in it, and keeps it alive until then. To be called after
/// an access was queued: a queue that is still idle would be dropped at once.
void watch(const std::shared_ptr<OperationQueue>& queue);

/// No other thread of this process may call MPI (as far as Nacre can know), and no access is
/// pending: a blocking call is the only activity on any file.
[[nodiscard]] bool has_no_other_activity();

/// Progresses all pending accesses of this process, without waiting.
void poll_all();

/// Completes all pending accesses of this process.
void finish_all_pending();

/// The MPI's progress engine has called this thread back: the thread may start messages and test
/// them, but must not wait.
[[nodiscard]] bool inside_mpi_progress();

/// An access is pending: a call that waits for the MPI polls meanwhile. With Driver::calls only
/// this completes the access. With the other drivers it keeps a wait that spins from holding the
/// MPI's lock: under MPICH 4.0 at MPI_THREAD_MULTIPLE the helper thread never acquired it.
[[nodiscard]] bool must_poll_while_waiting();

/// Polls pending accesses until `ready()`, and yields the core between polls.
template <class Ready>
void poll_until(Ready ready) {
  while (!ready()) {
    poll_all();
    std::this_thread::yield();
  }
}

}  // namespace nacre::mpi

#endif  // NACRE_MPI_PROGRESS_PROGRESS_H_
