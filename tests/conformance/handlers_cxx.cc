// Error handlers of a C++ program: a handler may throw through the MPI-IO call, which ends it; the
// file stays usable. (MPI's C++ bindings are gone since MPI-3; C++ programs use the C ones.)
#include <stdexcept>
#include <string>

#include "check.h"

namespace {

void throwing(MPI_File*, int* code, ...) { throw std::runtime_error(std::to_string(*code)); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_File file;
  MPI_Errhandler handler;
  MPI_File_create_errhandler(throwing, &handler);
  MPI_File_open(MPI_COMM_WORLD, check_path("handlers-cxx"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, handler);
  bool caught = false;
  char byte = 7;
  MPI_Status status;
  // Not a data access: what an MPI holds locked while it does I/O is its own matter.
  try {
    MPI_File_call_errhandler(file, MPI_ERR_IO);
  } catch (const std::runtime_error& error) {
    caught = std::string(error.what()) == std::to_string(MPI_ERR_IO);
  }
  check(caught, "the handler's exception did not arrive");
  check_ok(MPI_File_write_at_all(file, check_rank(MPI_COMM_WORLD), &byte, 1, MPI_BYTE, &status),
           "a write after it");
  MPI_File_close(&file);
  MPI_Errhandler_free(&handler);
  return check_finish();
}
