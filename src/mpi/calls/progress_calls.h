// The MPI's completion and blocking point-to-point calls, as the generated entry points call them
// while accesses are pending (ARCHITECTURE.md, Progress): they poll pending accesses, and pass the
// errors of completed accesses to the error handlers of their files.
#ifndef NACRE_MPI_CALLS_PROGRESS_CALLS_H_
#define NACRE_MPI_CALLS_PROGRESS_CALLS_H_

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// The entry points must call the functions below: a request of Nacre's is outstanding, or accesses
/// are pending. A few relaxed loads at most.
[[nodiscard]] bool progress_needed();

// Named as in MPI.
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
/// Does not complete the request: the call that completes it raises the access's error.
int progress_request_get_status(MPI_Request request, int* flag, MPI_Status* status);

/// Completes the nonblocking twin of MPI_Send, Ssend, Rsend, Recv or Mrecv, which the entry point
/// has started in order to poll while it waits.
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

/// Completes pending accesses, calls MPI_Finalize, and names files that the report has no line of.
int progress_finalize();

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_PROGRESS_CALLS_H_
