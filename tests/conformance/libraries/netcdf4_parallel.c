/* A netCDF-4 program: parallel HDF5 underneath, collective and independent access, read back by
 * other ranks. */
#include <netcdf.h>
#include <netcdf_par.h>

#include "../check.h"

enum { rows = 40, columns = 23 };

static void check_nc(int code, const char* what) {
  check(code == NC_NOERR, "%s: %s", what, nc_strerror(code));
}

static void fill(float* data, int rank, int variable) {
  for (int index = 0; index < rows * columns; ++index)
    data[index] = (float)(variable * 100000 + rank * 2000 + index);
}

int main(int argc, char** argv) {
  static float data[rows * columns];
  static float right[rows * columns];
  int file;
  int dims[2];
  int variables[2];
  MPI_Init(&argc, &argv);
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const char* path = check_path("parallel.nc4");
  const size_t count[2] = {rows, columns};
  check_nc(
      nc_create_par(path, NC_CLOBBER | NC_NETCDF4 | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, &file),
      "create");
  check_nc(nc_def_dim(file, "row", (size_t)(rows * size), &dims[0]), "def_dim");
  check_nc(nc_def_dim(file, "column", columns, &dims[1]), "def_dim");
  check_nc(nc_def_var(file, "independent", NC_FLOAT, 2, dims, &variables[0]), "def_var");
  check_nc(nc_def_var(file, "collective", NC_FLOAT, 2, dims, &variables[1]), "def_var");
  check_nc(nc_enddef(file), "enddef");
  for (int index = 0; index < 2; ++index) {
    const size_t start[2] = {(size_t)(rows * rank), 0};
    check_nc(nc_var_par_access(file, variables[index], index == 1 ? NC_COLLECTIVE : NC_INDEPENDENT),
             "par_access");
    fill(data, rank, index);
    check_nc(nc_put_vara_float(file, variables[index], start, count, data), "put_vara");
  }
  check_nc(nc_close(file), "close");
  check_nc(nc_open_par(path, NC_NOWRITE | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "open");
  for (int index = 0; index < 2; ++index) {
    const int from = (rank + 1) % size;
    const size_t start[2] = {(size_t)(rows * from), 0};
    check_nc(nc_var_par_access(file, variables[index], index == 0 ? NC_COLLECTIVE : NC_INDEPENDENT),
             "par_access");
    check_nc(nc_get_vara_float(file, variables[index], start, count, data), "get_vara");
    fill(right, from, index);
    check(memcmp(data, right, sizeof data) == 0, "variable %d has other values", index);
  }
  check_nc(nc_close(file), "close");
  return check_finish();
}
