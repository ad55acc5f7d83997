// Error handlers of a C++ program: a handler may throw an exception through the MPI-IO call, and
// the file stays usable. (MPI-3 removed the C++ bindings; C++ programs use the C bindings.)
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
  // Not a data access, since an MPI may hold locks during I/O.
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
