/* A PnetCDF program: a fixed and a record variable, blocking collective and independent,
 * nonblocking puts flushed together. Each rank reads data that another rank has written. */
#include <pnetcdf.h>

#include "../check.h"

enum { rows = 30, columns = 17, records = 4 };

static void check_nc(int code, const char* what) {
  check(code == NC_NOERR, "%s: %s", what, ncmpi_strerror(code));
}

static double value_at(int record, MPI_Offset row, MPI_Offset column) {
  return record * 1e6 + (double)row * 1e3 + (double)column;
}

static void fill(double* data, int record, MPI_Offset first, MPI_Offset count) {
  for (MPI_Offset index = 0; index < count * columns; ++index) {
    data[index] = value_at(record, first + index / columns, index % columns);
  }
}

static void write_file(const char* path, int rank, int size) {
  double data[records][rows * columns];
  int file;
  int dims[3];
  int fixed;
  int growing;
  int requests[records];
  int statuses[records];
  check_nc(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
           "create");
  check_nc(ncmpi_def_dim(file, "record", NC_UNLIMITED, &dims[0]), "def_dim");
  check_nc(ncmpi_def_dim(file, "row", (MPI_Offset)rows * size, &dims[1]), "def_dim");
  check_nc(ncmpi_def_dim(file, "column", columns, &dims[2]), "def_dim");
  check_nc(ncmpi_def_var(file, "fixed", NC_DOUBLE, 2, dims + 1, &fixed), "def_var");
  check_nc(ncmpi_def_var(file, "growing", NC_DOUBLE, 3, dims, &growing), "def_var");
  check_nc(ncmpi_enddef(file), "enddef");
  const MPI_Offset start[2] = {(MPI_Offset)rows * rank, 0};
  const MPI_Offset count[2] = {rows, columns};
  fill(data[0], 0, start[0], rows);
  check_nc(ncmpi_put_vara_double_all(file, fixed, start, count, data[0]), "put_vara_all");
  for (int record = 0; record < records; ++record) {
    const MPI_Offset start3[3] = {record, start[0], 0};
    const MPI_Offset count3[3] = {1, rows, columns};
    fill(data[record], record, start[0], rows);
    check_nc(ncmpi_iput_vara_double(file, growing, start3, count3, data[record], &requests[record]),
             "iput_vara");
  }
  check_nc(ncmpi_wait_all(file, records, requests, statuses), "wait_all");
  check_nc(ncmpi_begin_indep_data(file), "begin_indep_data");
  check_nc(ncmpi_put_vara_double(file, fixed, start, count, data[0]), "put_vara");
  check_nc(ncmpi_end_indep_data(file), "end_indep_data");
  check_nc(ncmpi_close(file), "close");
}

static void read_variable(int file, int variable, int record, int rank) {
  double data[rows * columns];
  double right[rows * columns];
  const MPI_Offset start[3] = {record < 0 ? 0 : record, (MPI_Offset)rows * rank, 0};
  const MPI_Offset count[3] = {1, rows, columns};
  const int skip = record < 0;
  check_nc(ncmpi_get_vara_double_all(file, variable, start + skip, count + skip, data),
           "get_vara_all");
  fill(right, skip ? 0 : record, start[1], rows);
  check(memcmp(data, right, sizeof data) == 0, "variable %d record %d has other values", variable,
        record);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const char* path = check_path("parallel.nc");
  int file;
  write_file(path, rank, size);
  check_nc(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  for (int record = -1; record < records; ++record)
    read_variable(file, record < 0 ? 0 : 1, record, (rank + 1) % size);
  check_nc(ncmpi_close(file), "close");
  return check_finish();
}
