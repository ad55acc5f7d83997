/* A parallel HDF5 program: contiguous and chunked 2-D datasets, hyperslabs interleaved between
 * ranks, written collectively and independently. Each rank reads and checks the values that another
 * rank has written. */
#include <hdf5.h>

#include "../check.h"

enum { rows = 64, columns = 48 };

static int value_at(hsize_t row, hsize_t column) { return (int)(row * 1000 + column); }

/* Selects the rows rank, rank + size, ... of the dataspace of the file. */
static hsize_t select_rows(hid_t space, int rank, int size) {
  const hsize_t start[2] = {(hsize_t)rank, 0};
  const hsize_t stride[2] = {(hsize_t)size, 1};
  const hsize_t count[2] = {(hsize_t)((rows - rank + size - 1) / size), columns};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
  return count[0];
}

static hid_t transfer_list(int collective) {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  return list;
}

static void write_dataset(hid_t file, const char* name, int chunked, int collective) {
  static int data[rows * columns];
  const hsize_t dims[2] = {rows, columns};
  const hsize_t chunk[2] = {7, 11};
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const hid_t space = H5Screate_simple(2, dims, NULL);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(creation, 2, chunk);
  const hid_t dataset =
      H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  check(dataset >= 0, "%s was not created", name);
  const hsize_t mine[2] = {select_rows(space, rank, size), columns};
  for (hsize_t row = 0; row < mine[0]; ++row) {
    for (hsize_t column = 0; column < columns; ++column) {
      data[row * columns + column] = value_at((hsize_t)rank + row * (hsize_t)size, column);
    }
  }
  const hid_t memory = H5Screate_simple(2, mine, NULL);
  const hid_t transfer = transfer_list(collective);
  check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer, data) >= 0, "%s was not written",
        name);
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
}

static void read_dataset(hid_t file, const char* name, int collective) {
  static int data[rows * columns];
  const int size = check_size(MPI_COMM_WORLD);
  const int rank = (check_rank(MPI_COMM_WORLD) + 1) % size;
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  check(dataset >= 0, "%s was not opened", name);
  const hid_t space = H5Dget_space(dataset);
  const hsize_t mine[2] = {select_rows(space, rank, size), columns};
  const hid_t memory = H5Screate_simple(2, mine, NULL);
  const hid_t transfer = transfer_list(collective);
  memset(data, -1, sizeof data);
  check(H5Dread(dataset, H5T_NATIVE_INT, memory, space, transfer, data) >= 0, "%s was not read",
        name);
  int wrong = 0;
  for (hsize_t row = 0; row < mine[0]; ++row) {
    for (hsize_t column = 0; column < columns; ++column) {
      wrong +=
          data[row * columns + column] != value_at((hsize_t)rank + row * (hsize_t)size, column);
    }
  }
  check(wrong == 0, "%s: %d values wrong", name, wrong);
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
}

static hid_t access_list(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
  return list;
}

int main(int argc, char** argv) {
  const char* names[] = {"contiguous_independent", "contiguous_collective", "chunked_independent",
                         "chunked_collective"};
  MPI_Init(&argc, &argv);
  const char* path = check_path("parallel.h5");
  hid_t list = access_list();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  check(file >= 0, "the file was not created");
  for (int index = 0; index < 4; ++index) write_dataset(file, names[index], index / 2, index % 2);
  check(H5Fclose(file) >= 0, "close");
  file = H5Fopen(path, H5F_ACC_RDONLY, list);
  check(file >= 0, "the file was not opened");
  for (int index = 0; index < 8; ++index) read_dataset(file, names[index % 4], index / 4);
  check(H5Fclose(file) >= 0, "close");
  H5Pclose(list);
  return check_finish();
}
