// One random program. Every rank draws the same program, runs its part with MPI, and keeps a model
// of all ranks.
#ifndef NACRE_TESTS_DIFFERENTIAL_PROGRAM_H_
#define NACRE_TESTS_DIFFERENTIAL_PROGRAM_H_

#include <mpi.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "calls.h"
#include "oracle.h"
#include "random.h"
#include "types.h"

namespace differential {

struct Options {
  std::uint64_t seed = 0;
  std::string directory;
  bool check_each_step = false;
  bool check_types = false;       ///< compare type maps with the MPI's extents and MPI_Pack
  std::set<std::string> without;  ///< features to leave out, for MPIs that fail in them

  [[nodiscard]] bool with(const char* feature) const { return without.count(feature) == 0; }
};

class Program {
 public:
  /// Collective over `comm`. Programs differ by `number`.
  Program(MPI_Comm comm, const Options& options, std::uint64_t number);

  /// Runs the program to its end or to the first step that fails on any rank, and prints the
  /// failure. Returns whether all steps passed.
  bool run();

  /// The current step of this rank, to report a hang. Always null-terminated.
  static const char* current();

 private:
  /// One data access of one rank.
  struct Access {
    Call call;
    std::int64_t offset = 0;  ///< explicit offset, in etypes
    std::int64_t first = 0;   ///< data byte of the view where it starts
    Type memory;
    std::int64_t count = 0;
    std::uint64_t tag = 0;  ///< tag of the written data
    int writer = 0;
    bool free_early = false;

    [[nodiscard]] std::int64_t bytes() const { return count * memory.size(); }
    [[nodiscard]] std::string text() const;
  };
  /// A pending access of this rank.
  struct Pending {
    Access access;
    Buffer buffer;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    explicit Pending(const Access& made) : access(made), buffer(made.memory, made.count) {}
  };

  // Steps. Each draws the same random numbers on every rank.
  void step();
  void open(bool create);
  void close_and_reopen();
  void set_view();
  void resize();
  void seek();
  void seek_shared();
  void set_atomicity();
  void access_independently();
  void access_shared_in_turn();
  void access_collectively();

  // Drawing.
  Type draw_leaf(bool any);
  Call draw_collective_call();
  View draw_view_base();
  std::vector<View> draw_views();
  void deal_interleaved(std::vector<View>& views, const TypeRequest& request);
  MPI_Info draw_info();
  Access draw_access(const Call& call, int rank, std::int64_t pointer);
  void limit_to_file(Access& access, int rank);

  // Running this rank's part.
  Arguments arguments(Pending& pending);
  void run_blocking(const Access& access);
  void run_concurrently(const std::vector<Access>& accesses, bool shuffled);
  void run_split(const Access& access);
  void begin(Pending& pending, MPI_Datatype& early);
  void check_result(Pending& pending);
  void check_status(const Pending& pending, std::int64_t expected);

  // The model.
  std::int64_t expected_bytes(const Access& access, int rank) const;
  void apply(const Access& access, int rank);
  void settle_pointers();

  // Checks.
  void expect(bool right, const std::string& what);
  void call(int code, const char* what);
  void check_queries();
  void check_types(const Type& type);
  void compare_file();
  bool agreed();
  void make_visible();
  void describe(const std::string& text);

  MPI_Comm comm_;
  Options options_;
  std::uint64_t number_;
  Random random_;
  int rank_ = 0;
  int size_ = 1;
  std::string path_;
  std::string failure_;
  std::vector<std::string> history_;

  MPI_File file_ = MPI_FILE_NULL;
  FileModel model_;
  std::vector<View> views_;             ///< of each rank
  std::vector<Type> leaves_;            ///< of the current view; [0]: the basic type of etypes
  std::vector<std::int64_t> pointers_;  ///< individual, in etypes
  std::vector<bool> pointer_lost_;      ///< after a short read, until the next seek
  std::int64_t shared_ = 0;
  bool shared_lost_ = false;
  bool identical_views_ = true;
  bool atomic_ = false;
};

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_PROGRAM_H_
