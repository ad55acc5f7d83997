/* More than 2 GiB in one call and offsets over 4 TiB, in a sparse file. Uses the _c functions if
 * the process has them, which is always true with Nacre. The functions without _c use a large
 * datatype. Also uses datatypes of the constructors with large counts. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static const int64_t giant = (INT64_C(1) << 31) + 4096 + 7;
static const int64_t far_offset = (INT64_C(9) << 40) + 5;

typedef int (*at_c)(MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*);

static at_c find(const char* name) {
  at_c found;
  *(void**)&found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL && getenv("NACRE_TEST_EXPECT") != NULL)
    check(0, "%s is not in this process", name);
  return found;
}

static MPI_Count bytes_of(MPI_Status* status) {
  MPI_Count bytes = -1;
  MPI_Get_elements_x(status, MPI_BYTE, &bytes);
  return bytes;
}

static void far_away(MPI_File file) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Status status;
  MPI_Offset offset = 0;
  int out = 77 + rank;
  int in = 0;
  check_ok(MPI_File_set_view(file, far_offset, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
           "a view at 9 TiB");
  check_ok(MPI_File_write_at_all(file, (INT64_C(1) << 38) + rank, &out, 1, MPI_INT, &status),
           "write at 10 TiB");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_read_at_all(file, (INT64_C(1) << 38) + rank, &in, 1, MPI_INT, &status),
           "read at 10 TiB");
  check(in == out, "read %d at 10 TiB", in);
  check_ok(MPI_File_get_byte_offset(file, INT64_C(1) << 38, &offset), "get_byte_offset");
  check(offset == far_offset + (INT64_C(1) << 40), "byte offset %lld", (long long)offset);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_set_size(file, 0), "set_size 0");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "bytes");
}

/* Types of the constructors with large counts, which few MPIs have: as a view, whose types the
 * program frees, and inside the type of the memory. */
static void large_types(MPI_File file) {
  int (*contiguous)(MPI_Count, MPI_Datatype, MPI_Datatype*);
  int (*vector)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);
  *(void**)&contiguous = dlsym(RTLD_DEFAULT, "MPI_Type_contiguous_c");
  *(void**)&vector = dlsym(RTLD_DEFAULT, "MPI_Type_vector_c");
  if (contiguous == NULL || vector == NULL) return;
  const int rank = check_rank(MPI_COMM_WORLD);
  enum { count = 5, held = 16 };
  MPI_Datatype etype;
  MPI_Datatype in_file;
  MPI_Datatype filetype;
  MPI_Datatype in_memory;
  MPI_Datatype memory;
  contiguous(3, MPI_SHORT, &etype);
  vector(2, 1, 2, etype, &in_file);
  MPI_Type_create_resized(in_file, 0, held * sizeof(short), &filetype);
  vector(2, 3, 5, MPI_SHORT, &in_memory);
  MPI_Type_create_resized(in_memory, 0, held * sizeof(short), &memory);
  MPI_Type_commit(&etype);
  MPI_Type_commit(&filetype);
  MPI_Type_commit(&memory);
  const MPI_Offset begin = rank * (MPI_Offset)(count * held * sizeof(short));
  check_ok(MPI_File_set_view(file, begin, etype, filetype, "native", MPI_INFO_NULL),
           "a view of large constructors");
  MPI_Type_free(&etype);
  MPI_Type_free(&in_file);
  MPI_Type_free(&filetype);
  MPI_Type_free(&in_memory);

  short out[count * held];
  short in[count * held] = {0};
  for (int i = 0; i < count * held; i++) out[i] = (short)(1000 * rank + i);
  MPI_Status status;
  check_ok(MPI_File_write_at_all(file, 0, out, count, memory, &status), "write");
  check(bytes_of(&status) == count * 6 * (MPI_Count)sizeof(short), "the status says %lld bytes",
        (long long)bytes_of(&status));
  check_ok(MPI_File_read_at_all(file, 0, in, count, memory, &status), "read");
  for (int i = 0; i < count * held; i++) {
    const int at = i % held;
    const int is_data = at < 3 || (at >= 5 && at < 8);
    check(in[i] == (is_data ? out[i] : 0), "%d in memory instead of %d", in[i], out[i]);
  }
  MPI_Offset displacement = 0;
  char representation[MPI_MAX_DATAREP_STRING];
  check_ok(MPI_File_get_view(file, &displacement, &etype, &filetype, representation), "get_view");
  int size = 0;
  MPI_Type_size(filetype, &size);
  check(size == 6 * (int)sizeof(short), "the filetype has %d bytes", size);
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  MPI_Type_free(&memory);
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "bytes");
}

static void mark(char* buffer, int rank, int sign) {
  buffer[0] = (char)(sign * (rank + 1));
  buffer[(INT64_C(1) << 31) - 1] = (char)(sign * (rank + 2));
  buffer[INT64_C(1) << 31] = (char)(sign * (rank + 3));
  buffer[giant - 1] = (char)(sign * (rank + 4));
}

static void is_marked(const char* buffer, int rank, int sign, const char* what) {
  check(buffer[0] == (char)(sign * (rank + 1)) &&
            buffer[(INT64_C(1) << 31) - 1] == (char)(sign * (rank + 2)) &&
            buffer[INT64_C(1) << 31] == (char)(sign * (rank + 3)) &&
            buffer[giant - 1] == (char)(sign * (rank + 4)),
        "%s: the bytes around 2 GiB are wrong", what);
}

static void classic_form(MPI_File file, char* buffer) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Datatype chunk;
  MPI_Datatype tail;
  MPI_Status status;
  const int length = 1 << 20;
  MPI_Type_contiguous(length, MPI_BYTE, &chunk);
  const int lengths[2] = {(int)(giant / length), (int)(giant % length)};
  const MPI_Aint places[2] = {0, (MPI_Aint)lengths[0] * length};
  const MPI_Datatype types[2] = {chunk, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, places, types, &tail);
  MPI_Type_commit(&tail);
  mark(buffer, rank, 1);
  check_ok(MPI_File_write_at_all(file, rank * giant, buffer, 1, tail, &status),
           "write_at_all of 2 GiB and more");
  check(bytes_of(&status) == giant, "the status says %lld bytes", (long long)bytes_of(&status));
  mark(buffer, 0, 0);
  check_ok(MPI_File_read_at(file, rank * giant, buffer, 1, tail, &status),
           "read_at of 2 GiB and more");
  check(bytes_of(&status) == giant, "the status says %lld bytes", (long long)bytes_of(&status));
  is_marked(buffer, rank, 1, "classic form");
  MPI_Type_free(&chunk);
  MPI_Type_free(&tail);
}

static void large_form(MPI_File file, char* buffer) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Status status;
  const at_c write_at_all = find("MPI_File_write_at_all_c");
  const at_c read_at = find("MPI_File_read_at_c");
  if (write_at_all == NULL || read_at == NULL) return;
  mark(buffer, rank, -1);
  check_ok(write_at_all(file, rank * giant, buffer, giant, MPI_BYTE, &status), "write_at_all_c");
  check(bytes_of(&status) == giant, "write_at_all_c: the status says %lld bytes",
        (long long)bytes_of(&status));
  mark(buffer, 0, 0);
  check_ok(read_at(file, rank * giant, buffer, giant, MPI_BYTE, &status), "read_at_c");
  check(bytes_of(&status) == giant, "read_at_c: the status says %lld bytes",
        (long long)bytes_of(&status));
  is_marked(buffer, rank, -1, "_c form");
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("large"),
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file),
           "open");
  if (argc == 1) {
    far_away(file);
    large_types(file);
  } else { /* "bytes": moves 2 GiB per rank, for the long tests */
    char* buffer = mmap(NULL, (size_t)giant, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (check(buffer != MAP_FAILED, "no memory")) {
      classic_form(file, buffer);
      large_form(file, buffer);
    }
  }
  check_ok(MPI_File_close(&file), "close");
  return check_finish();
}
