// The entry point of the worker. python/nacre/tune/rank.py loads the MPI of the user and this
// library, and calls nacre_tune_worker.
#include "worker.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <sched.h>
#include <unistd.h>

namespace nacre_tune {

Measurement::Measurement(const std::string& word) {
  std::istringstream parts(word);
  std::getline(parts, name_, ':');
  std::string part;
  while (std::getline(parts, part, ':')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    values_[part.substr(0, equals)] = part.substr(equals + 1);
  }
}

std::int64_t Measurement::number(const std::string& key, std::int64_t otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 10);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void wait_for_all() {
  // Naps grow: many ranks that wake up often would take cores too, where they share them.
  constexpr useconds_t nap_max_us = 3200;
  useconds_t nap_us = 200;
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; done == 0; nap_us = std::min(2 * nap_us, nap_max_us)) {
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (done == 0) usleep(nap_us);
  }
}

int worst(int error) {
  wait_for_all();
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return error;
}

double slowest(double seconds) {
  wait_for_all();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

namespace {

Ranks find_ranks() {
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  // Emulated nodes share the memory of this machine.
  const char* given = std::getenv("NACRE_NODE_ID");
  if (given != nullptr) {
    MPI_Comm_split(MPI_COMM_WORLD, std::atoi(given), ranks.rank, &ranks.node_comm);
  } else {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL,
                        &ranks.node_comm);
  }
  MPI_Comm_rank(ranks.node_comm, &ranks.rank_in_node);
  MPI_Comm_size(ranks.node_comm, &ranks.ranks_in_node);
  MPI_Allreduce(&ranks.ranks_in_node, &ranks.ranks_in_node_min, 1, MPI_INT, MPI_MIN,
                MPI_COMM_WORLD);
  int first = ranks.rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, ranks.node_comm);
  std::vector<int> firsts(static_cast<std::size_t>(ranks.count));
  MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks.count; ++rank) {
    if (firsts[static_cast<std::size_t>(rank)] != rank) continue;
    if (rank == first) ranks.node = static_cast<int>(ranks.first_of_node.size());
    ranks.first_of_node.push_back(rank);
  }
  ranks.nodes = static_cast<int>(ranks.first_of_node.size());
  return ranks;
}

void print_ranks(const Ranks& ranks, const char* client) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  // A rank may be bound to one core: the node has the cores of all its ranks.
  MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, ranks.node_comm);
  if (ranks.rank != 0) return;
  std::printf(
      "NACRE-TUNE {\"ranks\": %d, \"nodes\": %d, \"ranks_per_node\": %d, \"cores\": %d, "
      "\"client\": %s}\n",
      ranks.count, ranks.nodes, ranks.ranks_in_node_min, CPU_COUNT(&cores), client);
  std::fflush(stdout);
}

Sample measure(const Ranks& ranks, const Measurement& what, const std::string& directory) {
  if (what.name() == "message") return measure_message(ranks, what);
  if (what.name() == "ring") return measure_ring(ranks, what);
  if (what.name() == "copy") return measure_copy(ranks, what);
  if (what.name() == "transfer") return measure_transfer(ranks, what, directory);
  if (what.name() == "turns") return measure_turns(ranks, what, directory);
  if (what.name() == "collective") return measure_collective(ranks, what, directory);
  return measure_open(ranks, what, directory);
}

/// Whether the time is over, on rank 0's clock.
bool is_over(double deadline) {
  int over = seconds_now() > deadline ? 1 : 0;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over != 0;
}

}  // namespace
}  // namespace nacre_tune

/// Runs the measurements in `words`, which end with a null pointer, each `repetitions` times, until
/// `seconds` are over. Rank 0 prints a line of JSON for each repetition, and before them one on the
/// ranks, with `client`: the settings of the node's file system client as JSON.
extern "C" __attribute__((visibility("default"))) int nacre_tune_worker(const char* directory,
                                                                        const char* client,
                                                                        double seconds,
                                                                        int repetitions,
                                                                        const char** words) {
  using namespace nacre_tune;
  MPI_Init(nullptr, nullptr);
  const Ranks ranks = find_ranks();
  const double deadline = seconds_now() + seconds;
  print_ranks(ranks, client);
  for (; *words != nullptr; ++words) {
    const Measurement what(*words);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      if (is_over(deadline)) break;
      const Sample sample = measure(ranks, what, directory);
      if (ranks.rank == 0) {
        std::printf(
            "NACRE-TUNE {\"word\": \"%s\", \"seconds\": %.9g, \"bytes\": %.17g, "
            "\"count\": %.17g, \"error\": %d}\n",
            *words, sample.seconds, sample.bytes, sample.count, sample.error);
        std::fflush(stdout);
      }
      if (sample.error != 0) break;
    }
  }
  MPI_Finalize();
  return 0;
}
