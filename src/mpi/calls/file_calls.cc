// The calls that move no data: size, view, pointers, consistency, hints, data representations.
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "mpi/calls/calls.h"
#include "mpi/datatypes/datarep.h"
#include "mpi/datatypes/named_types.h"
#include "mpi/handles/errors.h"
#include "mpi/handles/file_handle.h"
#include "mpi/handles/info.h"

namespace nacre::mpi {
namespace {

/// Runs a collective task of the file and returns its code.
int run(File& file, collective::Task<Status> task) {
  return raise_if_failed(file.handle(),
                         file.queue().run(std::move(task), file.open_file().transport()));
}

/// Stores a result in the program's variable, or raises its error.
template <class T, class Out>
int store(File& file, const Result<T>& result, Out* out) {
  if (!result) return raise(file.handle(), result.error());
  *out = static_cast<Out>(*result);
  return MPI_SUCCESS;
}

Result<file::Whence> whence_of(int whence) {
  if (whence == MPI_SEEK_SET) return file::Whence::set;
  if (whence == MPI_SEEK_CUR) return file::Whence::current;
  if (whence == MPI_SEEK_END) return file::Whence::end;
  return Error{ErrorClass::arg, 0,
               "the whence of the seek is " + std::to_string(whence) +
                   "; pass MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"};
}

MPI_Datatype duplicate_for_program(MPI_Datatype datatype) {
  if (is_named(datatype)) return datatype;
  MPI_Datatype copy = native().DATATYPE_NULL;
  native().Type_dup(datatype, &copy);
  return copy;
}

/// The file view that MPI_File_set_view describes. Local.
Result<file::View> view_of(const ViewArguments& arguments, const Representation& representation) {
  const Result<plan::TypeMap> etype = map_in_file(representation, arguments.etype);
  if (!etype) return etype.error();
  Result<plan::TypeMap> filetype = map_in_file(representation, arguments.filetype);
  if (!filetype) return std::move(filetype).error();
  const bool at_shared_pointer = arguments.displacement == MPI_DISPLACEMENT_CURRENT;
  return file::View{.map = {*std::move(filetype), at_shared_pointer ? 0 : arguments.displacement},
                    .at_shared_pointer = at_shared_pointer,
                    .etype_size = etype->size(),
                    .representation = representation.name};
}

struct ExtentRule {
  MPI_Datarep_extent_function* function;
  void* extra_state;
};

int register_program_representation(const char* name, const Conversion& read,
                                    const Conversion& write, const ExtentRule& extent) {
  Status status = register_representation({.name = name == nullptr ? "" : name,
                                           .kind = Representation::Kind::registered,
                                           .read = read,
                                           .write = write,
                                           .extent = extent.function,
                                           .extra_state = extent.extra_state});
  return raise_if_failed(native().FILE_NULL, status);
}

}  // namespace

int file_set_size(File& file, MPI_Offset size) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::set_size);
  return run(file, file.open_file().resize(size));
}

int file_preallocate(File& file, MPI_Offset size) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::preallocate);
  return run(file, file.open_file().preallocate(size));
}

int file_get_size(File& file, MPI_Offset* size) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::get_size);
  return store(file, file.open_file().size(), size);
}

int file_get_group(File& file, MPI_Group* group) {
  return native().Comm_group(file.comm().comm(), group);
}

int file_get_amode(File& file, int* amode) {
  *amode = file.amode();
  return MPI_SUCCESS;
}

int file_set_info(File& file, MPI_Info info) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::set_info);
  return run(file, file.open_file().update_hints(info_pairs(info)));
}

int file_get_info(File& file, MPI_Info* info_used) {
  *info_used = make_info(file.open_file().hints().effective());
  return MPI_SUCCESS;
}

int file_set_view(File& file, const ViewArguments& arguments) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::set_view);
  auto representation = find_representation(arguments.datarep == nullptr ? "" : arguments.datarep);
  Result<file::View> view = representation ? view_of(arguments, **representation)
                                           : Result<file::View>(representation.error());
  std::optional<Error> refusal;
  if (!view) refusal = view.error();
  const int status =
      run(file, file.open_file().set_view(view ? *std::move(view) : file::View{},
                                          info_pairs(arguments.info), std::move(refusal)));
  if (status != MPI_SUCCESS) return status;
  file.set_view_types({file.open_file().displacement(), KeptDatatype(arguments.etype),
                       KeptDatatype(arguments.filetype), *std::move(representation)});
  return status;
}

int file_get_view(File& file, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* datarep) {
  const ViewTypes types = file.view_types();
  *disp = types.displacement;
  *etype = duplicate_for_program(types.etype.get());
  *filetype = duplicate_for_program(types.filetype.get());
  std::strcpy(datarep, types.representation->name.c_str());  // names fit MPI_MAX_DATAREP_STRING
  return MPI_SUCCESS;
}

int file_seek(File& file, MPI_Offset offset, int whence) {
  const Result<file::Whence> from = whence_of(whence);
  if (!from) return raise(file.handle(), from.error());
  return raise_if_failed(file.handle(), file.open_file().seek(offset, *from));
}

int file_get_position(File& file, MPI_Offset* offset) {
  return store(file, file.open_file().position(), offset);
}

int file_get_byte_offset(File& file, MPI_Offset offset, MPI_Offset* disp) {
  return store(file, file.open_file().byte_offset(offset), disp);
}

int file_seek_shared(File& file, MPI_Offset offset, int whence) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::seek_shared);
  const Result<file::Whence> from = whence_of(whence);
  std::optional<Error> refusal;
  if (!from) refusal = from.error();
  return run(file, file.open_file().seek_shared(offset, from ? *from : file::Whence::set,
                                                std::move(refusal)));
}

int file_get_position_shared(File& file, MPI_Offset* offset) {
  const file::PlainCallClock clock(file.open_file().profile(),
                                   file::PlainCall::get_position_shared);
  return store(file, file.open_file().position_shared(), offset);
}

int file_get_type_extent_c(File& file, MPI_Datatype datatype, MPI_Count* extent) {
  const Result<plan::TypeMap> map = map_in_file(*file.representation(), datatype);
  return store(file, map ? Result<MPI_Count>(map->extent()) : Result<MPI_Count>(map.error()),
               extent);
}

int file_get_type_extent(File& file, MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Count count = 0;
  const int status = file_get_type_extent_c(file, datatype, &count);
  if (status == MPI_SUCCESS) *extent = count;
  return status;
}

int file_set_atomicity(File& file, int flag) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::set_atomicity);
  return run(file, file.open_file().set_atomicity(flag != 0));
}

int file_get_atomicity(File& file, int* flag) {
  *flag = file.open_file().atomicity() ? 1 : 0;
  return MPI_SUCCESS;
}

int file_sync(File& file) {
  const file::PlainCallClock clock(file.open_file().profile(), file::PlainCall::sync);
  return run(file, file.open_file().sync());
}

int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion,
                     MPI_Datarep_conversion_function* write_conversion,
                     MPI_Datarep_extent_function* file_extent, void* extra_state) {
  return register_program_representation(datarep, {read_conversion, nullptr},
                                         {write_conversion, nullptr}, {file_extent, extra_state});
}

int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion,
                       MPI_Datarep_conversion_function_c* write_conversion,
                       MPI_Datarep_extent_function* file_extent, void* extra_state) {
  return register_program_representation(datarep, {nullptr, read_conversion},
                                         {nullptr, write_conversion}, {file_extent, extra_state});
}

}  // namespace nacre::mpi
