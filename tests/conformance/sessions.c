/* A program that uses only MPI Sessions: it has no MPI_COMM_WORLD and no MPI_COMM_SELF. Without
 * MPI-4's sessions in the MPI's mpi.h this test is not built. */
#include "check.h"

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_File file;
  MPI_Status status;
  int all = 0;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 2;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  if (MPI_Comm_create_from_group(group, "nacre-test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) !=
      MPI_SUCCESS)
    return 2;
  MPI_Group_free(&group);
  const int rank = check_rank(comm);
  const int from = (rank + 1) % check_size(comm);
  int out = 10 + rank;
  int in = -1;
  check_ok(MPI_File_open(comm, check_path("sessions"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  check_ok(MPI_File_write_at_all(file, 4 * rank, &out, 1, MPI_INT, &status), "write_at_all");
  MPI_File_sync(file);
  MPI_Barrier(comm);
  MPI_File_sync(file);
  check_ok(MPI_File_read_at_all(file, 4 * from, &in, 1, MPI_INT, &status), "read_at_all");
  check(in == 10 + from, "read %d", in);
  check_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "seek before the file");
  check_ok(MPI_File_write_ordered(file, &out, 1, MPI_INT, &status), "write_ordered");
  check_ok(MPI_File_close(&file), "close");
  check_failures += check_served();
  MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return all == 0 ? 0 : 1;
}
