// Progress of what the program started and does not wait for yet. Collective accesses need their
// ranks to answer each other while the program is elsewhere; who lets them depends on the MPI
// (ARCHITECTURE.md, Progress).
#ifndef NACRE_MPI_PROGRESS_PROGRESS_H_
#define NACRE_MPI_PROGRESS_PROGRESS_H_

#include <memory>
#include <thread>

#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

/// Polls `queue` until nothing is pending in it, and keeps it alive until then. To be called after
/// an access was queued: a queue that is still idle would be dropped at once.
void watch(const std::shared_ptr<OperationQueue>& queue);

/// Whether this process does nothing else with any file while it is in a blocking call: no other
/// thread may be in MPI, as far as can be told, and nothing is pending that the call would poll.
[[nodiscard]] bool has_no_other_activity();

/// Lets all pending accesses of this process go on, as far as they can without waiting.
void poll_all();

/// Runs all pending accesses of this process to their end.
void finish_all_pending();

/// This thread is inside the MPI's own progress engine, called back by it: it may start messages
/// and ask whether they are complete, and not wait.
[[nodiscard]] bool inside_mpi_progress();

/// Some access is pending: whoever waits for the MPI polls it meanwhile. Where nothing else drives
/// pending accesses that is what lets them end; where something does, it keeps a spinning wait from
/// holding the MPI's lock against it (MPICH 4.0 at MPI_THREAD_MULTIPLE: its helper thread never got
/// in).
[[nodiscard]] bool must_poll_while_waiting();

/// Polls pending accesses until `ready()`, giving up the core in between.
template <class Ready>
void poll_until(Ready ready) {
  while (!ready()) {
    poll_all();
    std::this_thread::yield();
  }
}

}  // namespace nacre::mpi

#endif  // NACRE_MPI_PROGRESS_PROGRESS_H_
