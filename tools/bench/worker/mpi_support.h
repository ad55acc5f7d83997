#pragma once

#include <mpi.h>

#include <memory>

namespace nacre::bench {

/// Ends the whole job with the MPI's own text unless `code` is MPI_SUCCESS: a benchmark has nothing
/// to save, and the driver reports the text.
void require(int code, const char* what);

/// A datatype that is freed with the last of its copies. Predefined ones are borrowed.
class Datatype {
 public:
  Datatype() = default;
  /// Takes over a type that was just made, and commits it.
  static Datatype made(MPI_Datatype type);
  static Datatype predefined(MPI_Datatype type);

  [[nodiscard]] MPI_Datatype get() const { return type_ ? *type_ : MPI_DATATYPE_NULL; }

 private:
  std::shared_ptr<MPI_Datatype> type_;
};

/// MPI_Init and MPI_Finalize, with errors of files returned rather than ignored.
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
