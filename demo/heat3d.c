/* heat3d: diffusion of heat in a cube, with checkpoints in parallel HDF5.
 *
 * A plain MPI + HDF5 program. The cells are decomposed over a 3-D cartesian communicator. Every
 * `--every` steps, the ranks write the state to PREFIX.STEP.h5 with collective hyperslab writes.
 * `--restart FILE` continues from a checkpoint, on any number of ranks. Each checkpoint contains a
 * checksum of its cells, which the restart verifies. */
#include <mpi.h>

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 3 };

typedef struct {
  int cells; /* along each edge of the cube */
  int steps;
  int every;
  const char* prefix;
  const char* restart;
} Options;

typedef struct {
  MPI_Comm comm;
  int rank;
  hsize_t global[DIMENSIONS];
  hsize_t start[DIMENSIONS];
  hsize_t count[DIMENSIONS];
  hsize_t padded[DIMENSIONS]; /* count plus one layer of ghost cells on each side */
  int below[DIMENSIONS];
  int above[DIMENSIONS];
  MPI_Datatype face[DIMENSIONS];
  double* temperature; /* padded */
  double* next;        /* padded */
  int step;
  double io_seconds;
} Simulation;

static void fail(const char* what) {
  fprintf(stderr, "heat3d: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static hid_t checked(hid_t id, const char* what) {
  if (id < 0) fail(what);
  return id;
}

static size_t at(const Simulation* s, hsize_t i, hsize_t j, hsize_t k) {
  return (size_t)((i * s->padded[1] + j) * s->padded[2] + k);
}

static void decompose(Simulation* s, int cells) {
  int ranks = 0;
  int dims[DIMENSIONS] = {0, 0, 0};
  const int periodic[DIMENSIONS] = {0, 0, 0};
  int coordinates[DIMENSIONS];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, DIMENSIONS, dims);
  MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, dims, periodic, 1, &s->comm);
  MPI_Comm_rank(s->comm, &s->rank);
  MPI_Cart_coords(s->comm, s->rank, DIMENSIONS, coordinates);
  for (int d = 0; d < DIMENSIONS; ++d) {
    const hsize_t edge = (hsize_t)cells;
    s->global[d] = edge;
    s->start[d] = edge * (hsize_t)coordinates[d] / (hsize_t)dims[d];
    s->count[d] = edge * (hsize_t)(coordinates[d] + 1) / (hsize_t)dims[d] - s->start[d];
    s->padded[d] = s->count[d] + 2;
    if (s->count[d] == 0) fail("more ranks along an edge than cells");
    MPI_Cart_shift(s->comm, d, 1, &s->below[d], &s->above[d]);
  }
}

static void make_faces(Simulation* s) {
  for (int d = 0; d < DIMENSIONS; ++d) {
    int sizes[DIMENSIONS];
    int face[DIMENSIONS];
    const int start[DIMENSIONS] = {0, 0, 0};
    for (int e = 0; e < DIMENSIONS; ++e) {
      sizes[e] = (int)s->padded[e];
      face[e] = e == d ? 1 : sizes[e];
    }
    MPI_Type_create_subarray(DIMENSIONS, sizes, face, start, MPI_ORDER_C, MPI_DOUBLE, &s->face[d]);
    MPI_Type_commit(&s->face[d]);
  }
}

static void allocate(Simulation* s) {
  const size_t cells = (size_t)(s->padded[0] * s->padded[1] * s->padded[2]);
  s->temperature = calloc(cells, sizeof(double));
  s->next = calloc(cells, sizeof(double));
  if (s->temperature == NULL || s->next == NULL) fail("out of memory");
}

static void set_initial_state(Simulation* s) {
  for (hsize_t i = 0; i < s->count[0]; ++i) {
    for (hsize_t j = 0; j < s->count[1]; ++j) {
      for (hsize_t k = 0; k < s->count[2]; ++k) {
        const hsize_t x = s->start[0] + i;
        const hsize_t y = s->start[1] + j;
        const hsize_t z = s->start[2] + k;
        const int warm = (x * 7 + y * 13 + z * 29) % 17 == 0;
        s->temperature[at(s, i + 1, j + 1, k + 1)] = warm ? 100.0 : (double)((x ^ y ^ z) % 8);
      }
    }
  }
}

static void exchange_faces(Simulation* s) {
  for (int d = 0; d < DIMENSIONS; ++d) {
    hsize_t low[DIMENSIONS] = {0, 0, 0};
    hsize_t high[DIMENSIONS] = {0, 0, 0};
    low[d] = 1;
    high[d] = s->count[d];
    double* first = s->temperature + at(s, low[0], low[1], low[2]);
    double* last = s->temperature + at(s, high[0], high[1], high[2]);
    low[d] = 0;
    high[d] = s->count[d] + 1;
    double* before = s->temperature + at(s, low[0], low[1], low[2]);
    double* after = s->temperature + at(s, high[0], high[1], high[2]);
    MPI_Sendrecv(last, 1, s->face[d], s->above[d], d, before, 1, s->face[d], s->below[d], d,
                 s->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(first, 1, s->face[d], s->below[d], d, after, 1, s->face[d], s->above[d], d,
                 s->comm, MPI_STATUS_IGNORE);
  }
}

static void advance(Simulation* s) {
  const double rate = 0.1;
  exchange_faces(s);
  for (hsize_t i = 1; i <= s->count[0]; ++i) {
    for (hsize_t j = 1; j <= s->count[1]; ++j) {
      for (hsize_t k = 1; k <= s->count[2]; ++k) {
        const double* t = s->temperature;
        const double here = t[at(s, i, j, k)];
        const double around = t[at(s, i - 1, j, k)] + t[at(s, i + 1, j, k)] +
                              t[at(s, i, j - 1, k)] + t[at(s, i, j + 1, k)] +
                              t[at(s, i, j, k - 1)] + t[at(s, i, j, k + 1)];
        s->next[at(s, i, j, k)] = here + rate * (around - 6.0 * here);
      }
    }
  }
  double* old = s->temperature;
  s->temperature = s->next;
  s->next = old;
  ++s->step;
}

/* The sum, modulo 2^64, of a hash of each cell's position and bits. It does not depend on the
 * number of ranks. */
static uint64_t checksum(const Simulation* s) {
  uint64_t sum = 0;
  for (hsize_t i = 0; i < s->count[0]; ++i) {
    for (hsize_t j = 0; j < s->count[1]; ++j) {
      for (hsize_t k = 0; k < s->count[2]; ++k) {
        const uint64_t place =
            ((s->start[0] + i) * s->global[1] + s->start[1] + j) * s->global[2] + s->start[2] + k;
        uint64_t bits = 0;
        memcpy(&bits, &s->temperature[at(s, i + 1, j + 1, k + 1)], sizeof bits);
        bits = (bits ^ (place * 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U;
        sum += bits ^ (bits >> 31);
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, s->comm);
  return sum;
}

/* The block of this rank in the file. */
static hid_t file_selection(const Simulation* s) {
  const hid_t space = checked(H5Screate_simple(DIMENSIONS, s->global, NULL), "H5Screate_simple");
  H5Sselect_hyperslab(space, H5S_SELECT_SET, s->start, NULL, s->count, NULL);
  return space;
}

static hid_t memory_selection(const Simulation* s) {
  const hsize_t inside[DIMENSIONS] = {1, 1, 1};
  const hid_t space = checked(H5Screate_simple(DIMENSIONS, s->padded, NULL), "H5Screate_simple");
  H5Sselect_hyperslab(space, H5S_SELECT_SET, inside, NULL, s->count, NULL);
  return space;
}

static hid_t collective_transfer(void) {
  const hid_t transfer = checked(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  return transfer;
}

static hid_t parallel_access(const Simulation* s) {
  const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  H5Pset_fapl_mpio(access, s->comm, MPI_INFO_NULL);
  H5Pset_coll_metadata_write(access, 1);
  H5Pset_all_coll_metadata_ops(access, 1);
  return access;
}

/* `chunked`: in chunks of 16^3 cells, which cross the block boundaries of ranks. */
static void write_field(const Simulation* s, hid_t file, const char* name, hid_t type,
                        int chunked) {
  const hid_t properties = checked(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  H5Pset_obj_track_times(properties, 0);
  if (chunked) {
    hsize_t chunk[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS; ++d) chunk[d] = s->global[d] < 16 ? s->global[d] : 16;
    H5Pset_chunk(properties, DIMENSIONS, chunk);
  }
  const hid_t file_space = file_selection(s);
  const hid_t memory_space = memory_selection(s);
  const hid_t transfer = collective_transfer();
  const hid_t dataset = checked(
      H5Dcreate2(file, name, type, file_space, H5P_DEFAULT, properties, H5P_DEFAULT), "H5Dcreate2");
  if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, transfer, s->temperature) <
      0) {
    fail("H5Dwrite");
  }
  H5Dclose(dataset);
  H5Pclose(transfer);
  H5Sclose(memory_space);
  H5Sclose(file_space);
  H5Pclose(properties);
}

static void write_attribute(hid_t file, const char* name, hid_t type, const void* value) {
  const hid_t space = checked(H5Screate(H5S_SCALAR), "H5Screate");
  const hid_t attribute =
      checked(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), "H5Acreate2");
  if (H5Awrite(attribute, type, value) < 0) fail("H5Awrite");
  H5Aclose(attribute);
  H5Sclose(space);
}

static void read_attribute(hid_t file, const char* name, hid_t type, void* value) {
  const hid_t attribute = checked(H5Aopen(file, name, H5P_DEFAULT), "H5Aopen");
  if (H5Aread(attribute, type, value) < 0) fail("H5Aread");
  H5Aclose(attribute);
}

static void write_checkpoint(Simulation* s, const char* prefix) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%04d.h5", prefix, s->step);
  const uint64_t sum = checksum(s);
  MPI_Barrier(s->comm);
  const double begin = MPI_Wtime();
  const hid_t access = parallel_access(s);
  const hid_t file = checked(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  write_field(s, file, "temperature", H5T_IEEE_F64LE, 0);
  write_field(s, file, "temperature_single", H5T_IEEE_F32LE, 0);
  write_field(s, file, "temperature_chunked", H5T_IEEE_F64LE, 1);
  write_attribute(file, "step", H5T_NATIVE_INT, &s->step);
  write_attribute(file, "checksum", H5T_NATIVE_UINT64, &sum);
  if (H5Fclose(file) < 0) fail("H5Fclose");
  H5Pclose(access);
  MPI_Barrier(s->comm);
  s->io_seconds += MPI_Wtime() - begin;
}

static void read_field(Simulation* s, hid_t file, const char* name) {
  const hid_t dataset = checked(H5Dopen2(file, name, H5P_DEFAULT), "H5Dopen2");
  const hid_t file_space = file_selection(s);
  const hid_t memory_space = memory_selection(s);
  const hid_t transfer = collective_transfer();
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, transfer, s->temperature) < 0) {
    fail("H5Dread");
  }
  H5Pclose(transfer);
  H5Sclose(memory_space);
  H5Sclose(file_space);
  H5Dclose(dataset);
}

static void read_checkpoint(Simulation* s, const char* name) {
  static const char* const fields[] = {"temperature_chunked", "temperature"};
  uint64_t expected = 0;
  MPI_Barrier(s->comm);
  const double begin = MPI_Wtime();
  const hid_t access = parallel_access(s);
  const hid_t file = checked(H5Fopen(name, H5F_ACC_RDONLY, access), "H5Fopen");
  read_attribute(file, "step", H5T_NATIVE_INT, &s->step);
  read_attribute(file, "checksum", H5T_NATIVE_UINT64, &expected);
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    read_field(s, file, fields[i]);
    if (checksum(s) != expected) fail("the cells read do not have the checksum of the checkpoint");
  }
  if (H5Fclose(file) < 0) fail("H5Fclose");
  H5Pclose(access);
  s->io_seconds += MPI_Wtime() - begin;
}

static Options parse(int argc, char** argv) {
  Options options = {64, 12, 4, "heat3d", NULL};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc)
      fail("usage: heat3d [--cells N] [--steps N] [--every N] [--prefix P] [--restart F]");
    if (strcmp(argv[i], "--cells") == 0) {
      options.cells = atoi(argv[i + 1]);
    } else if (strcmp(argv[i], "--steps") == 0) {
      options.steps = atoi(argv[i + 1]);
    } else if (strcmp(argv[i], "--every") == 0) {
      options.every = atoi(argv[i + 1]);
    } else if (strcmp(argv[i], "--prefix") == 0) {
      options.prefix = argv[i + 1];
    } else if (strcmp(argv[i], "--restart") == 0) {
      options.restart = argv[i + 1];
    } else {
      fail("unknown option");
    }
  }
  if (options.cells < 1 || options.every < 1) fail("--cells and --every must be positive");
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = parse(argc, argv);
  Simulation s = {.step = 0, .io_seconds = 0};
  decompose(&s, options.cells);
  make_faces(&s);
  allocate(&s);
  if (options.restart != NULL) {
    read_checkpoint(&s, options.restart);
  } else {
    set_initial_state(&s);
  }
  while (s.step < options.steps) {
    advance(&s);
    if (s.step % options.every == 0) write_checkpoint(&s, options.prefix);
  }
  if (s.rank == 0) printf("io_seconds %.6f\n", s.io_seconds);
  for (int d = 0; d < DIMENSIONS; ++d) MPI_Type_free(&s.face[d]);
  free(s.temperature);
  free(s.next);
  MPI_Comm_free(&s.comm);
  MPI_Finalize();
  return 0;
}
