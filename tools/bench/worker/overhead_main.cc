// Measures the overhead of an MPI-IO library: the time of an open and close, the time of an
// independent write of four bytes, and the time and memory of setting a view. Prints JSON lines.
// Like the worker, it is a plain MPI-IO program that does not know Nacre.
//
//   overhead FILE mpi-io|plain SCALE [TIME_LIMIT]
//
// SCALE multiplies the number of repeats, except for the views, which are set once. `plain`
// measures the limit: open, close and pwrite without MPI-IO. TIME_LIMIT: seconds after which a rank
// ends itself.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "heap_counter.h"
#include "json.h"
#include "mpi_support.h"
#include "resources.h"

namespace nacre::bench {
namespace {

constexpr int warmups = 3;
constexpr int writes_per_batch = 200;
constexpr int view_runs = 1'000'000;
constexpr int array_edge = 1024;

struct Job {
  std::string file;
  bool plain = false;
  int scale = 1;
  int rank = 0;
};

void barrier() { require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

MPI_File open_file(const Job& job) {
  MPI_File file = MPI_FILE_NULL;
  require(MPI_File_open(MPI_COMM_WORLD, job.file.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file),
          "MPI_File_open");
  return file;
}

int open_plain(const Job& job) {
  const int file = ::open(job.file.c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0) return file;
  std::perror(job.file.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

/// Runs `operation` `repeats` times after the warm-ups. Returns the longest time of any rank for
/// each repeat, in seconds. Collective.
template <typename Operation>
std::vector<double> timed(int repeats, Operation operation) {
  std::vector<double> samples;
  for (int i = 0; i < warmups + repeats; ++i) {
    barrier();
    const double begin = now_seconds();
    operation();
    const double taken = reduce_max(now_seconds() - begin);
    if (i >= warmups) samples.push_back(taken);
  }
  return samples;
}

void print_samples(const Job& job, std::string_view name, const std::vector<double>& samples) {
  JsonObject line;
  line.add("type", "overhead").add("name", name).add("seconds", samples);
  if (job.rank == 0) line.print();
}

void measure_open(const Job& job) {
  print_samples(job, "open_close", timed(20 * job.scale, [&] {
                  if (job.plain) {
                    ::close(open_plain(job));
                    return;
                  }
                  MPI_File file = open_file(job);
                  require(MPI_File_close(&file), "MPI_File_close");
                }));
}

void measure_write(const Job& job) {
  // Each rank writes in its own page, so that the ranks do not contend for one.
  constexpr MPI_Offset page = 4096;
  const std::array<char, 4> data = {'n', 'a', 'c', 'r'};
  const MPI_Offset base = job.rank * page;
  MPI_File file = MPI_FILE_NULL;
  int plain_file = -1;
  if (job.plain) {
    plain_file = open_plain(job);
  } else {
    file = open_file(job);
  }
  std::vector<double> samples = timed(10 * job.scale, [&] {
    for (int i = 0; i < writes_per_batch; ++i) {
      const MPI_Offset offset = base + static_cast<MPI_Offset>(i * data.size());
      if (!job.plain) {
        require(
            MPI_File_write_at(file, offset, data.data(), data.size(), MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at");
      } else if (::pwrite(plain_file, data.data(), data.size(), offset) != 4) {
        MPI_Abort(MPI_COMM_WORLD, 2);
      }
    }
  });
  for (double& sample : samples) sample /= writes_per_batch;
  print_samples(job, "write_4_bytes", samples);
  if (job.plain) {
    ::close(plain_file);
  } else {
    require(MPI_File_close(&file), "MPI_File_close");
  }
}

/// Runs of one to three doubles, each after a gap of one to five doubles.
MpiType indexed_type() {
  std::vector<int> lengths(view_runs);
  std::vector<int> displacements(view_runs);
  std::uint32_t state = 12345;
  int at = 0;
  for (int i = 0; i < view_runs; ++i) {
    state = state * 1664525U + 1013904223U;
    at += 1 + static_cast<int>((state >> 24) % 5);
    lengths[i] = 1 + static_cast<int>((state >> 16) % 3);
    displacements[i] = at;
    at += lengths[i];
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_indexed(view_runs, lengths.data(), displacements.data(), MPI_DOUBLE, &type),
          "MPI_Type_indexed");
  return MpiType::made(type);
}

/// The second half of every dimension: 262,144 runs of 4 KiB.
MpiType subarray_type() {
  const std::array<int, 3> sizes = {array_edge, array_edge, array_edge};
  const std::array<int, 3> half = {array_edge / 2, array_edge / 2, array_edge / 2};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_create_subarray(3, sizes.data(), half.data(), half.data(), MPI_ORDER_C,
                                   MPI_DOUBLE, &type),
          "MPI_Type_create_subarray");
  return MpiType::made(type);
}

struct Before {
  Heap heap;
  Memory memory;
  double time = 0;
};

Before start_measuring() {
  barrier();
  reset_heap_peak();
  reset_peak_memory();
  return {heap(), memory(), now_seconds()};
}

void print_growth(const Job& job, const std::string& name, const Before& before) {
  const double taken = now_seconds() - before.time;
  const Heap after = heap();
  const Memory resident = memory();
  const auto growth = [](std::int64_t now, std::int64_t then) {
    return reduce_max(static_cast<double>(std::max<std::int64_t>(0, now - then)));
  };
  JsonObject line;
  line.add("type", "overhead").add("name", name);
  line.add("seconds", std::vector<double>{reduce_max(taken)})
      .add("heap_peak", growth(after.peak, before.heap.live))
      .add("heap_kept", growth(after.live, before.heap.live))
      .add("resident_peak", growth(resident.peak, before.memory.resident));
  if (job.rank == 0) line.print();
}

/// Measures set_view alone, and set_view with the first read through the view: some libraries do at
/// the read what others do in set_view. The type is committed before, so its memory does not count.
void measure_view(const Job& job, const std::string& name, const MpiType& type) {
  MPI_File file = open_file(job);
  const Before before = start_measuring();
  require(MPI_File_set_view(file, 0, MPI_DOUBLE, type.get(), "native", MPI_INFO_NULL),
          "MPI_File_set_view");
  print_growth(job, "view_" + name, before);
  double value = 0;
  require(MPI_File_read_at(file, 0, &value, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), "MPI_File_read_at");
  print_growth(job, "view_and_read_" + name, before);
  require(MPI_File_close(&file), "MPI_File_close");
}

int run(const Job& job) {
  if (job.rank == 0) {
    const int file = ::open(job.file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (file < 0 || ::ftruncate(file, 1 << 20) != 0) std::perror(job.file.c_str());
    ::close(file);
  }
  barrier();
  measure_open(job);
  measure_write(job);
  if (!job.plain) {
    measure_view(job, "subarray", subarray_type());
    measure_view(job, "indexed", indexed_type());
  }
  barrier();
  JsonObject line;
  line.add("type", "end").add("loaded", loaded_libraries());
  if (job.rank == 0) {
    line.print();
    ::unlink(job.file.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace nacre::bench

int main(int argc, char** argv) {
  using namespace nacre::bench;
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s FILE mpi-io|plain SCALE [TIME_LIMIT]\n", argv[0]);
    return 1;
  }
  Job job;
  job.file = argv[1];
  job.plain = std::string_view(argv[2]) == "plain";
  job.scale = std::max(1, std::atoi(argv[3]));
  ::alarm(argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 0);
  const MpiScope mpi(&argc, &argv);
  job.rank = mpi.rank;
  return run(job);
}
