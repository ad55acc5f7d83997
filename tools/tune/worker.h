// The worker of `nacre tune`: measures, one after the other, what the words of its command line
// name.
#ifndef NACRE_TUNE_WORKER_H_
#define NACRE_TUNE_WORKER_H_

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nacre_tune {

/// The ranks and the nodes that they run on. A node is the ranks that share memory.
struct Ranks {
  int rank = 0;
  int count = 1;
  int node = 0;
  int nodes = 1;
  int rank_in_node = 0;
  int ranks_in_node = 1;
  int ranks_in_node_min = 1;       ///< of the node with the fewest
  std::vector<int> first_of_node;  ///< lowest rank of each node
  MPI_Comm node_comm = MPI_COMM_NULL;
};

/// One measurement: "name:key=value:key=value".
class Measurement {
 public:
  explicit Measurement(const std::string& word);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::int64_t number(const std::string& key, std::int64_t otherwise) const;
  [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
};

/// The result of one repetition, equal on all ranks.
struct Sample {
  double seconds = 0;  ///< of the slowest rank
  double bytes = 0;    ///< of all ranks; of messages and copies, of a node
  double count = 0;    ///< messages, pieces, calls or opens of one rank
  int error = 0;       ///< errno of a failed access; 0: none
};

double seconds_now();
/// Returns when all ranks have called it. A rank that waits sleeps, so that it takes no core from
/// the ranks that measure.
void wait_for_all();
// After wait_for_all, equal on all ranks:
/// The largest error of all ranks.
int worst(int error);
/// The time of the slowest rank.
double slowest(double seconds);
/// Creates the file anew. With the number `stripes`, on that many OSTs: from `first` on, `step`
/// further for each `number`. Returns an errno, or 0.
int create_file(const std::string& path, const Measurement& what, std::int64_t number);

// All ranks call these.
Sample measure_message(const Ranks& ranks, const Measurement& what);
Sample measure_ring(const Ranks& ranks, const Measurement& what);
Sample measure_copy(const Ranks& ranks, const Measurement& what);
Sample measure_transfer(const Ranks& ranks, const Measurement& what, const std::string& directory);
Sample measure_turns(const Ranks& ranks, const Measurement& what, const std::string& directory);
Sample measure_open(const Ranks& ranks, const Measurement& what, const std::string& directory);
Sample measure_collective(const Ranks& ranks, const Measurement& what,
                          const std::string& directory);

}  // namespace nacre_tune

#endif  // NACRE_TUNE_WORKER_H_
