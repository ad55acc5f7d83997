#include "mpi/handles/errhandlers.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "mpi/handles/file_handle.h"

namespace nacre::mpi {
namespace {

/// The C functions of the error handlers that the program created, as the MPI does not return them;
/// and, in programs that use only Sessions, the handler of MPI_FILE_NULL. Never destroyed.
struct Known {
  std::mutex mutex;
  std::unordered_map<MPI_Errhandler, MPI_File_errhandler_function*> functions;
  OwnErrhandler inherited{native().ERRORS_RETURN};
};

Known& known() {
  static auto* instance = new Known;
  return *instance;
}

OwnErrhandler described(MPI_Errhandler errhandler) {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  const auto found = all.functions.find(errhandler);
  return {errhandler, found == all.functions.end() ? nullptr : found->second};
}

void call_own(MPI_File handle, const OwnErrhandler& handler, int code) {
  if (handler.function != nullptr) {
    handler.function(&handle, &code);
  } else if (handler.errhandler != native().ERRORS_RETURN) {
    native().Abort(native().COMM_WORLD, code);
  }
}

/// The MPI does not know the handle's error handler: the handle is Nacre's own, or MPI_FILE_NULL in
/// a program that uses only Sessions.
bool keeps_own_errhandler(MPI_File handle) {
  return own_errhandler(handle) != nullptr ||
         (handle == native().FILE_NULL && !world_model_active());
}

/// For handles for which keeps_own_errhandler() holds.
OwnErrhandler own_errhandler_of(MPI_File handle) {
  const OwnErrhandler* own = own_errhandler(handle);
  return own != nullptr ? *own : inherited_errhandler();
}

/// Not freed: MPICH 4.0 adds no reference, and the other MPIs add one to a handler that stays.
OwnErrhandler errhandler_in_mpi(MPI_File handle) {
  MPI_Errhandler errhandler = native().ERRORS_RETURN;
  native().File_get_errhandler(handle, &errhandler);
  return described(errhandler);
}

/// The handler of MPI_FILE_NULL. Open MPI's MPI_File_call_errhandler refuses MPI_FILE_NULL, so
/// Nacre calls the handler's function, or, if only the MPI knows it (Fortran), lets the MPI call it
/// for a native handle.
void call_inherited(const OwnErrhandler& handler, int code) {
  const Native& mpi = native();
  if (handler.function != nullptr || handler.errhandler == mpi.ERRORS_RETURN ||
      handler.errhandler == mpi.ERRORS_ARE_FATAL) {
    return call_own(mpi.FILE_NULL, handler, code);
  }
  if (const Result<FreeHandle> carrier = make_native_handle()) {
    mpi.File_set_errhandler(carrier->get(), handler.errhandler);
    mpi.File_call_errhandler(carrier->get(), code);
  }
}

}  // namespace

OwnErrhandler inherited_errhandler() {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  return all.inherited;
}

void call_errhandler(MPI_File handle, int code, const std::string& message) {
  if (mpi_is_finalizing()) return;
  const bool own = keeps_own_errhandler(handle);
  const OwnErrhandler handler = own ? own_errhandler_of(handle) : errhandler_in_mpi(handle);
  if (handler.function == nullptr && handler.errhandler == native().ERRORS_ARE_FATAL) {
    std::fprintf(stderr, "nacre: %s\n", message.c_str());
  }
  if (own) {
    call_own(handle, handler, code);
  } else if (handle == native().FILE_NULL) {
    call_inherited(handler, code);
  } else {
    native().File_call_errhandler(handle, code);
  }
}

int file_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  const int status = native().File_create_errhandler(function, errhandler);
  if (status == MPI_SUCCESS) {
    Known& all = known();
    const std::lock_guard guard(all.mutex);
    all.functions[*errhandler] = function;
  }
  return status;
}

int file_set_errhandler(MPI_File fh, MPI_Errhandler errhandler) {
  if (OwnErrhandler* own = own_errhandler(fh)) {
    *own = described(errhandler);
    return MPI_SUCCESS;
  }
  if (fh == native().FILE_NULL && !world_model_active()) {
    const OwnErrhandler inherited = described(errhandler);
    Known& all = known();
    const std::lock_guard guard(all.mutex);
    all.inherited = inherited;
    return MPI_SUCCESS;
  }
  return native().File_set_errhandler(fh, errhandler);
}

int file_get_errhandler(MPI_File fh, MPI_Errhandler* errhandler) {
  if (!keeps_own_errhandler(fh)) return native().File_get_errhandler(fh, errhandler);
  *errhandler = own_errhandler_of(fh).errhandler;
  return MPI_SUCCESS;
}

int file_call_errhandler(MPI_File fh, int code) {
  if (!keeps_own_errhandler(fh)) return native().File_call_errhandler(fh, code);
  call_own(fh, own_errhandler_of(fh), code);
  return MPI_SUCCESS;
}

}  // namespace nacre::mpi
