/* The program may free or change the arguments of a pending operation (datatypes, infos, the view)
 * at once. Several operations of several files complete in any order, with every completion call.
 */
#include "check.h"

enum { count = 64 };

static MPI_Datatype strided(void) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void freed_datatypes(MPI_File file) {
  const int rank = check_rank(MPI_COMM_WORLD);
  int out[2 * count];
  int in[2 * count];
  MPI_Request request[2];
  MPI_Status status[2];
  MPI_Datatype type = strided();
  for (int index = 0; index < 2 * count; ++index) out[index] = 1000 * rank + index, in[index] = -1;
  check_ok(MPI_File_iwrite_at_all(file, 4 * count * rank, out, 1, type, &request[0]),
           "iwrite_at_all");
  MPI_Type_free(&type);
  type = strided();
  check_ok(MPI_File_iwrite_at(file, 4 * count * (rank + 100), out, 1, type, &request[1]),
           "iwrite_at");
  MPI_Type_free(&type);
  check_ok(MPI_Waitall(2, request, status), "waitall");
  check(check_status_bytes(&status[0]) == 4 * count, "the status says %d bytes",
        check_status_bytes(&status[0]));
  type = strided();
  check_ok(MPI_File_iread_at(file, 4 * count * rank, in, 1, type, &request[0]), "iread_at");
  MPI_Type_free(&type);
  check_ok(MPI_Wait(&request[0], &status[0]), "wait");
  for (int index = 0; index < 2 * count; ++index) {
    check(in[index] == (index % 2 == 0 ? out[index] : -1), "int %d is %d", index, in[index]);
  }
}

static void changed_view(MPI_File file) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Status status;
  MPI_Info info;
  MPI_Datatype type = strided();
  int out[count];
  int in[count];
  for (int index = 0; index < count; ++index) out[index] = 5000 * rank + index;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  check_ok(MPI_File_set_view(file, 4096 * rank, MPI_INT, type, "native", info), "set_view");
  MPI_Type_free(&type);
  MPI_Info_free(&info);
  check_ok(MPI_File_iwrite_all(file, out, count, MPI_INT, &request), "iwrite_all");
  check_ok(MPI_Wait(&request, &status), "wait");
  check_ok(MPI_File_iwrite_at(file, 0, out, count, MPI_INT, &request), "iwrite_at");
  check_ok(MPI_Wait(&request, &status), "wait");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
           "set_view to bytes");
  for (int index = 0; index < count; index += 9) {
    check_ok(MPI_File_read_at(file, 4096 * rank + 8 * index, &in[index], 4, MPI_BYTE, &status),
             "read_at");
    check(in[index] == out[index], "int %d is %d, must be %d", index, in[index], out[index]);
  }
}

static void any_order(MPI_File first, MPI_File second) {
  enum { requests = 6 };
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Request request[requests];
  MPI_Status status[requests];
  int value[requests];
  int done = 0;
  int left = requests;
  for (int index = 0; index < requests; ++index) {
    value[index] = 100 * rank + index;
    check_ok(MPI_File_iwrite_at_all(index % 2 == 0 ? first : second,
                                    4 * (index * check_size(MPI_COMM_WORLD) + rank), &value[index],
                                    1, MPI_INT, &request[index]),
             "iwrite_at_all");
  }
  check_ok(MPI_Wait(&request[5], &status[5]), "wait for the last first");
  check(request[5] == MPI_REQUEST_NULL, "a completed request is not MPI_REQUEST_NULL");
  for (left = 5; left > 2; --left) {
    int index = MPI_UNDEFINED;
    check_ok(MPI_Waitany(requests, request, &index, &status[0]), "waitany");
    check(index >= 0 && index < 5, "waitany found %d", index);
  }
  int indices[requests];
  while (left > 0) {
    int outcount = 0;
    check_ok(MPI_Testsome(requests, request, &outcount, indices, status), "testsome");
    if (outcount == MPI_UNDEFINED) break;
    left -= outcount;
  }
  check(left == 0, "%d requests were lost", left);
  check_ok(MPI_Testall(requests, request, &done, status), "testall");
  check(done, "testall of nothing is not done");
}

/* A request that is freed instead of completed: its data is written eventually (the launcher ends a
 * hang). */
static void freed_request(MPI_File file) {
  const MPI_Offset at = 100000 + 4 * check_rank(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Status status;
  static int out = 4711;
  int in = 0;
  check_ok(MPI_File_iwrite_at(file, at, &out, 1, MPI_INT, &request), "iwrite_at");
  check_ok(MPI_Request_free(&request), "request_free");
  check(request == MPI_REQUEST_NULL, "a freed request is not MPI_REQUEST_NULL");
  while (in != out && check_ok(MPI_File_read_at(file, at, &in, 1, MPI_INT, &status), "read_at"))
    continue;
}

/* Its bytes do not fit in an int. Nobody sends them: only the call itself is of interest. */
static void large_exchange(MPI_File file) {
  char byte = 1;
  MPI_Request request;
  MPI_Datatype type;
  MPI_Datatype huge;
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Type_contiguous(2, type, &huge);
  MPI_Type_commit(&huge);
  check_ok(MPI_File_iwrite_at(file, 0, &byte, 1, MPI_BYTE, &request), "iwrite_at");
  check_ok(MPI_Sendrecv_replace(&byte, 3, type, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE),
           "sendrecv_replace");
  check_ok(MPI_Sendrecv_replace(&byte, 1, huge, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE),
           "sendrecv_replace of one element");
  check_ok(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  MPI_Type_free(&huge);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_File first;
  MPI_File second;
  MPI_Init(&argc, &argv);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("pending-1"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &first),
           "open");
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("pending-2"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &second),
           "open");
  freed_datatypes(first);
  changed_view(second);
  any_order(first, second);
  freed_request(first);
  large_exchange(first);
  check_ok(MPI_File_close(&first), "close");
  check_ok(MPI_File_close(&second), "close");
  return check_finish();
}
