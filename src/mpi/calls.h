// What the generated entry points (src/mpi/abi) call. Every function returns what the MPI call
// returns, after the file's error handler has seen an error; arguments are the program's,
// unchecked.
#ifndef NACRE_MPI_CALLS_H_
#define NACRE_MPI_CALLS_H_

#include "mpi/abi/native.h"
#include "mpi/access_call.h"

namespace nacre::mpi {

class File;

/// The file behind `handle`, or nullptr: then the entry point hands the call to the MPI unless the
/// handle is_closed(). Thread-safe, fast.
[[nodiscard]] File* find_file(MPI_File handle);

/// Whether the handle was that of a file of ours: the MPI knows it as a file on /dev/null, or not
/// at all. Thread-safe.
[[nodiscard]] bool is_closed(MPI_File handle);

/// The answer to a call on such a handle: ErrorClass::file.
int refuse_closed();

/// Every data access to a file of ours.
int access(File& file, const AccessCall& call, const AccessArguments& arguments);

/// The arguments of MPI_File_set_view.
struct ViewArguments {
  MPI_Offset displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* datarep;
  MPI_Info info;
};

// Calls on a file of ours, named as in MPI.
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

// Calls that are answered for every file and handle, ours or not: these forward by themselves.
int file_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh);
int file_close(MPI_File* fh);
int file_delete(const char* filename, MPI_Info info);
int file_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler);
int file_set_errhandler(MPI_File fh, MPI_Errhandler errhandler);
int file_get_errhandler(MPI_File fh, MPI_Errhandler* errhandler);
int file_call_errhandler(MPI_File fh, int errorcode);
int error_string(int errorcode, char* string, int* resultlen);
int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion,
                     MPI_Datarep_conversion_function* write_conversion,
                     MPI_Datarep_extent_function* file_extent, void* extra_state);
int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion,
                       MPI_Datarep_conversion_function_c* write_conversion,
                       MPI_Datarep_extent_function* file_extent, void* extra_state);
int file_toint(MPI_File fh);
MPI_File file_fromint(int handle);
#if !defined(MPI_ABI_VERSION)  // the standard ABI has no MPI_Fint
MPI_Fint file_c2f(MPI_File fh);
MPI_File file_f2c(MPI_Fint handle);
#endif

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_H_
