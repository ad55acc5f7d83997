#pragma once

#include <mpi.h>

#include <memory>

#include "sim/workload/datatype.h"

namespace nacre::bench {

/// Unless `code` is MPI_SUCCESS, prints `what` and the error string of the MPI, and aborts the job.
/// The driver reports the text.
void require(int code, const char* what);

/// A datatype. The last copy frees it, unless it is predefined.
class MpiType {
 public:
  MpiType() = default;
  /// Makes and commits the type that is described.
  static MpiType of(const workload::Datatype& description);
  /// Takes ownership of a new type and commits it.
  static MpiType made(MPI_Datatype type);
  static MpiType predefined(MPI_Datatype type);

  [[nodiscard]] MPI_Datatype get() const { return type_ ? *type_ : MPI_DATATYPE_NULL; }

 private:
  static MpiType structure(const workload::Datatype& description);
  static MpiType subarray(const workload::Datatype& description);

  std::shared_ptr<MPI_Datatype> type_;
};

/// Calls MPI_Init and MPI_Finalize.
class MpiScope {
 public:
  MpiScope(int* argc, char*** argv);
  ~MpiScope();
  MpiScope(const MpiScope&) = delete;
  MpiScope& operator=(const MpiScope&) = delete;

  int rank = 0;
  int ranks = 0;
};

[[nodiscard]] double reduce_max(double value);
[[nodiscard]] double reduce_sum(double value);

}  // namespace nacre::bench
