// All of MPI's data access routines as one: found by name, so that the large-count forms are tested
// wherever the process has them, also where this MPI's mpi.h does not declare them.
#ifndef NACRE_TESTS_DIFFERENTIAL_CALLS_H_
#define NACRE_TESTS_DIFFERENTIAL_CALLS_H_

#include <mpi.h>

#include <cstdint>
#include <string>

namespace differential {

enum class Position : std::uint8_t { at, individual, shared, ordered };
enum class Timing : std::uint8_t { blocking, nonblocking, split };

struct Call {
  bool write = false;
  Position position = Position::individual;
  bool collective = false;  ///< implied by ordered
  Timing timing = Timing::blocking;
  bool large_count = false;  ///< the _c form, where there is one
};

/// Its name in MPI, e.g. "MPI_File_iwrite_at_all_c".
std::string name_of(const Call& call);

struct Arguments {
  MPI_File file;
  std::int64_t offset;
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
};

/// The routine itself; for split collectives the begin. `completion` is the MPI_Status* of a
/// blocking routine, the MPI_Request* of a nonblocking one. Returns MPI's code, or -1 where the
/// process has no such routine.
int start(const Call& call, const Arguments& arguments, void* completion);

/// The end of a split collective.
int finish(const Call& call, const Arguments& arguments, MPI_Status* status);

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_CALLS_H_
