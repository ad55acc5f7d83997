// What the generated entry points (src/mpi/abi) call. Arguments are the program's, unchecked. Every
// function returns what the MPI call returns, and first passes an error to the file's error
// handler.
#ifndef NACRE_MPI_CALLS_CALLS_H_
#define NACRE_MPI_CALLS_CALLS_H_

#include "mpi/abi/native.h"
#include "mpi/handles/errhandlers.h"
#include "mpi/handles/errors.h"
#include "mpi/handles/file_handle.h"

namespace nacre::mpi {

/// The arguments of a data access. Fields that the routine does not have are 0 or null: offset if
/// the position is not explicit, count and datatype at the end of a split collective, status or
/// request.
struct AccessArguments {
  MPI_Offset offset;      ///< etypes
  void* buffer;           ///< only read by writes
  MPI_Count count;        ///< as given: may be negative
  MPI_Datatype datatype;  ///< as given: may be MPI_DATATYPE_NULL
  MPI_Status* status;     ///< blocking and split_end; may be MPI_STATUS_IGNORE
  MPI_Request* request;   ///< nonblocking
};

/// Raises ErrorClass::file for a call on a closed handle.
int refuse_closed();

/// Any data access to a file of Nacre.
int access(File& file, const AccessCall& call, const AccessArguments& arguments);

/// The arguments of MPI_File_set_view.
struct ViewArguments {
  MPI_Offset displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* datarep;
  MPI_Info info;
};

// Calls on a file of Nacre, named as in MPI.
int file_set_size(File& file, MPI_Offset size);
int file_preallocate(File& file, MPI_Offset size);
int file_get_size(File& file, MPI_Offset* size);
int file_get_group(File& file, MPI_Group* group);
int file_get_amode(File& file, int* amode);
int file_set_info(File& file, MPI_Info info);
int file_get_info(File& file, MPI_Info* info_used);
int file_set_view(File& file, const ViewArguments& arguments);
int file_get_view(File& file, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* datarep);
int file_seek(File& file, MPI_Offset offset, int whence);
int file_get_position(File& file, MPI_Offset* offset);
int file_get_byte_offset(File& file, MPI_Offset offset, MPI_Offset* disp);
int file_seek_shared(File& file, MPI_Offset offset, int whence);
int file_get_position_shared(File& file, MPI_Offset* offset);
int file_get_type_extent(File& file, MPI_Datatype datatype, MPI_Aint* extent);
int file_get_type_extent_c(File& file, MPI_Datatype datatype, MPI_Count* extent);
int file_set_atomicity(File& file, int flag);
int file_get_atomicity(File& file, int* flag);
int file_sync(File& file);

// Calls for every file and handle, named as in MPI: they call the MPI if the file is not Nacre's.
int file_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh);
int file_close(MPI_File* fh);
int file_delete(const char* filename, MPI_Info info);
/// After MPI_Finalize: rank 0 of each file that is still open and was to be reported says that the
/// report has no line for it.
void warn_of_unreported_files();
int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion,
                     MPI_Datarep_conversion_function* write_conversion,
                     MPI_Datarep_extent_function* file_extent, void* extra_state);
int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion,
                       MPI_Datarep_conversion_function_c* write_conversion,
                       MPI_Datarep_extent_function* file_extent, void* extra_state);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_CALLS_H_
