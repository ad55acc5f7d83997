// A data access as its entry point describes it.
#ifndef NACRE_MPI_ACCESS_CALL_H_
#define NACRE_MPI_ACCESS_CALL_H_

#include <cstdint>

#include "file/open_file.h"
#include "mpi/abi/native.h"

namespace nacre::mpi {

enum class Timing : std::uint8_t { blocking, nonblocking, split_begin, split_end };

/// Which of the data-access routines it is: all 34 of MPI-4.1, table 14.1, in either width of
/// count.
struct AccessCall {
  plan::Direction direction;
  file::Position position;
  bool collective;
  Timing timing;
};

/// What the program gave it. Fields that the routine does not have are 0 or null: offset where the
/// position is not explicit, count and datatype at the end of a split collective, one of status and
/// request.
struct AccessArguments {
  MPI_Offset offset;      ///< etypes
  void* buffer;           ///< only read by writes
  MPI_Count count;        ///< as given: may be negative
  MPI_Datatype datatype;  ///< as given: may be MPI_DATATYPE_NULL
  MPI_Status* status;     ///< blocking and split_end; may be MPI_STATUS_IGNORE
  MPI_Request* request;   ///< nonblocking
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_ACCESS_CALL_H_
