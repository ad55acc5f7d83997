// MPI_File handles as integers: the MPI's own for native handles, ours for our own.
#include "mpi/calls.h"
#include "mpi/file_handle.h"

namespace nacre::mpi {

int file_toint(MPI_File fh) {
  if (const auto number = own_handle_number(fh)) return *number;
  if (native().File_toint != nullptr) return native().File_toint(fh);
#if defined(MPI_ABI_VERSION)
  return 0;
#else
  return native().File_c2f(fh);
#endif
}

MPI_File file_fromint(int handle) {
  if (const auto own = own_handle_of(handle)) return *own;
  if (native().File_fromint != nullptr) return native().File_fromint(handle);
#if defined(MPI_ABI_VERSION)
  return native().FILE_NULL;
#else
  return native().File_f2c(handle);
#endif
}

#if !defined(MPI_ABI_VERSION)
MPI_Fint file_c2f(MPI_File fh) {
  if (const auto number = own_handle_number(fh)) return *number;
  return native().File_c2f(fh);
}

MPI_File file_f2c(MPI_Fint handle) {
  if (const auto own = own_handle_of(handle)) return *own;
  return native().File_f2c(handle);
}
#endif

}  // namespace nacre::mpi
