// What the generated entry points call in place of the MPI's completion and blocking calls while
// something of ours is pending; see ARCHITECTURE.md, Progress.
#ifndef NACRE_MPI_CALLS_PROGRESS_CALLS_H_
#define NACRE_MPI_CALLS_PROGRESS_CALLS_H_

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// Completion and blocking calls have to go through us: some request of ours is outstanding, or
/// accesses are pending that nobody else drives. At most a few relaxed loads.
[[nodiscard]] bool progress_needed();

// As the MPI's calls, with what is pending polled and errors of our requests raised.
int progress_wait(MPI_Request* request, MPI_Status* status);
int progress_waitall(int count, MPI_Request requests[], MPI_Status* statuses);
int progress_waitany(int count, MPI_Request requests[], int* index, MPI_Status* status);
int progress_waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                      MPI_Status* statuses);
int progress_test(MPI_Request* request, int* flag, MPI_Status* status);
int progress_testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses);
int progress_testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int progress_testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                      MPI_Status* statuses);
/// Completes nothing: an error of ours is raised by the call that does.
int progress_request_get_status(MPI_Request request, int* flag, MPI_Status* status);

/// MPI_Send, Ssend, Rsend, Recv and Mrecv are started by the entry point as their nonblocking
/// twins, so that they poll while they wait, and end here.
int progress_finish(MPI_Request* request, MPI_Status* status);

/// One direction of MPI_Sendrecv.
struct Message {
  void* buffer;  ///< only read when sent
  int count;
  MPI_Datatype datatype;
  int peer;
  int tag;
};

int progress_sendrecv(const Message& send, const Message& receive, MPI_Comm comm,
                      MPI_Status* status);
/// Both messages have the same buffer, count and datatype.
int progress_sendrecv_replace(const Message& send, const Message& receive, MPI_Comm comm,
                              MPI_Status* status);
int progress_iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int progress_improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                     MPI_Status* status);
int progress_probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int progress_mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);

/// Ends what is pending, then MPI_Finalize.
int progress_finalize();

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_PROGRESS_CALLS_H_
