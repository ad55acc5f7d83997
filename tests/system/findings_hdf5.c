/* The programs of test_findings.py that use HDF5: `findings_hdf5 FILE CASE` raises a finding,
 * `findings_hdf5 FILE CASE good` is like it and does not. */
#include <mpi.h>

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kib = 1 << 10, mib = 1 << 20, groups = 300 };

static int rank, size, good;
static const char* path;
static char* buffer;

/* `together`: metadata are read and written by collective calls. */
static hid_t access_list(int together) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_coll_metadata_write(list, together);
  H5Pset_all_coll_metadata_ops(list, together);
  return list;
}

/* HDF5 1.10.5 to 1.10.8 ignore the list of the file when they read. */
static hid_t object_list(hid_t kind, int together) {
  const hid_t list = H5Pcreate(kind);
  H5Pset_all_coll_metadata_ops(list, together);
  return list;
}

static hid_t create_file(int together) {
  const hid_t list = access_list(together);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  H5Pclose(list);
  return file;
}

/* `chunk`: bytes; 0: the dataset is contiguous. */
static hid_t create_chunked(hid_t file, const char* name, hsize_t bytes, hsize_t chunk) {
  const hid_t space = H5Screate_simple(1, &bytes, NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) H5Pset_chunk(list, 1, &chunk);
  const hid_t dataset =
      H5Dcreate(file, name, H5T_NATIVE_CHAR, space, H5P_DEFAULT, list, H5P_DEFAULT);
  H5Pclose(list);
  H5Sclose(space);
  return dataset;
}

static hid_t create_dataset(hid_t file, const char* name, hsize_t bytes) {
  return create_chunked(file, name, bytes, 0);
}

/* Writes `count` blocks of `bytes` from `start` on, `step` apart, with one call. */
static void write_blocks(hid_t dataset, hsize_t start, hsize_t step, hsize_t count, hsize_t bytes,
                         int together) {
  const hsize_t all = count * bytes;
  const hid_t memory = H5Screate_simple(1, &all, NULL);
  const hid_t space = H5Dget_space(dataset);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &step, &count, &bytes);
  H5Pset_dxpl_mpio(transfer, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  if (H5Dwrite(dataset, H5T_NATIVE_CHAR, memory, space, transfer, buffer) < 0) abort();
  H5Pclose(transfer);
  H5Sclose(space);
  H5Sclose(memory);
}

static void create_groups(hid_t file) {
  const hid_t one = H5Screate(H5S_SCALAR);
  for (int i = 0; i < groups; ++i) {
    char name[32];
    snprintf(name, sizeof name, "group%d", i);
    const hid_t group = H5Gcreate(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t attribute = H5Acreate(group, "step", H5T_NATIVE_INT, one, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, &i);
    H5Aclose(attribute);
    H5Gclose(group);
  }
  H5Sclose(one);
}

static void metadata_writes(void) {
  const hid_t file = create_file(good);
  const hid_t dataset = create_dataset(file, "data", (hsize_t)size * 8 * mib);
  create_groups(file);
  write_blocks(dataset, (hsize_t)rank * 8 * mib, 8 * mib, 1, 8 * mib, 1);
  H5Dclose(dataset);
  H5Fclose(file);
}

static void metadata_by_all_ranks(void) {
  hid_t file = create_file(1);
  create_groups(file);
  H5Fclose(file);
  const hid_t list = access_list(good);
  const hid_t links = object_list(H5P_LINK_ACCESS, good);
  const hid_t attributes = object_list(H5P_ATTRIBUTE_ACCESS, good);
  file = H5Fopen(path, H5F_ACC_RDONLY, list);
  for (int i = 0; i < groups; ++i) {
    char name[32];
    int step = -1;
    snprintf(name, sizeof name, "group%d", i);
    const hid_t attribute = H5Aopen_by_name(file, name, "step", attributes, links);
    H5Aread(attribute, H5T_NATIVE_INT, &step);
    if (step != i) abort();
    H5Aclose(attribute);
  }
  H5Fclose(file);
  H5Pclose(attributes);
  H5Pclose(links);
  H5Pclose(list);
}

static void small_collective_calls(void) {
  const hid_t file = create_file(1);
  const hsize_t calls = good ? 1 : 400, bytes = 400 * kib / calls;
  const hid_t dataset = create_dataset(file, "data", (hsize_t)size * 400 * kib);
  for (hsize_t i = 0; i < calls; ++i)
    write_blocks(dataset, (i * size + rank) * bytes, bytes, 1, bytes, 1);
  H5Dclose(dataset);
  H5Fclose(file);
}

static void collective_missing(void) {
  const hid_t file = create_file(1);
  const hsize_t pieces = 2000, bytes = 512;
  const hid_t dataset = create_dataset(file, "data", size * pieces * bytes);
  if (good) {
    write_blocks(dataset, rank * bytes, size * bytes, pieces, bytes, 1);
  } else {
    for (hsize_t i = 0; i < pieces; ++i)
      write_blocks(dataset, (i * size + rank) * bytes, bytes, 1, bytes, 0);
  }
  H5Dclose(dataset);
  H5Fclose(file);
}

/* Each rank writes 4 MiB with one call, which consists of many chunks or of few. */
static void write_chunks(int together, int metadata_together) {
  const hid_t file = create_file(metadata_together);
  const hsize_t bytes = 4 * mib;
  const hid_t dataset = create_chunked(file, "data", size * bytes, good ? mib : kib);
  write_blocks(dataset, rank * bytes, bytes, 1, bytes, together);
  H5Dclose(dataset);
  H5Fclose(file);
}

static void small_chunks(void) { write_chunks(0, 1); }

static void index_of_small_chunks(void) { write_chunks(1, 0); }

/* All ranks read all of a dataset, each by itself, or each a part of it. */
static void redundant_reads(void) {
  const hsize_t whole = 8 * mib, bytes = good ? whole / size : whole;
  const hsize_t start = good ? rank * bytes : 0, one = 1;
  hid_t file = create_file(1);
  hid_t dataset = create_dataset(file, "data", whole);
  write_blocks(dataset, rank * whole / size, whole, 1, whole / size, 1);
  H5Dclose(dataset);
  H5Fclose(file);
  sleep(1); /* the file is older than its next open, whatever the clock of its times */
  const hid_t list = access_list(1);
  const hid_t memory = H5Screate_simple(1, &bytes, NULL);
  file = H5Fopen(path, H5F_ACC_RDONLY, list);
  dataset = H5Dopen(file, "data", H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, &bytes);
  if (H5Dread(dataset, H5T_NATIVE_CHAR, memory, space, H5P_DEFAULT, buffer) < 0) abort();
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  H5Sclose(memory);
  H5Pclose(list);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"metadata-writes", metadata_writes},
    {"metadata-by-all-ranks", metadata_by_all_ranks},
    {"small-collective-calls", small_collective_calls},
    {"collective-missing", collective_missing},
    {"small-chunks", small_chunks},
    {"index-of-small-chunks", index_of_small_chunks},
    {"redundant-reads", redundant_reads},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  path = argv[1];
  good = argc > 3;
  buffer = calloc(8, mib);
  int found = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(cases[i].name, argv[2]) == 0) {
      cases[i].run();
      found = 1;
    }
  }
  free(buffer);
  MPI_Finalize();
  return found ? 0 : 1;
}
