#include "mpi_support.h"

#include <array>
#include <cstdio>

namespace nacre::bench {

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::fprintf(stderr, "nacre-bench worker: %s: %s\n", what, text.data());
  MPI_Abort(MPI_COMM_WORLD, 2);
}

Datatype Datatype::made(MPI_Datatype type) {
  require(MPI_Type_commit(&type), "MPI_Type_commit");
  Datatype result;
  result.type_ = {new MPI_Datatype(type), [](MPI_Datatype* owned) {
                    MPI_Type_free(owned);
                    delete owned;
                  }};
  return result;
}

Datatype Datatype::predefined(MPI_Datatype type) {
  Datatype result;
  result.type_ = std::make_shared<MPI_Datatype>(type);
  return result;
}

MpiScope::MpiScope(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

MpiScope::~MpiScope() { MPI_Finalize(); }

double reduce_max(double value) {
  double result = 0;
  require(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return result;
}

double reduce_sum(double value) {
  double result = 0;
  require(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return result;
}

}  // namespace nacre::bench
