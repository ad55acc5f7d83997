#include "mpi/handles/errhandlers.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "mpi/handles/file_handle.h"

namespace nacre::mpi {
namespace {

/// The C functions behind the error handlers that the program made, since the MPI cannot be asked;
/// and, while there is no world model, the handler of MPI_FILE_NULL. Never destroyed.
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

void say(const std::string& message) { std::fprintf(stderr, "nacre: %s\n", message.c_str()); }

void call_own(MPI_File handle, const OwnErrhandler& handler, int code) {
  if (handler.function != nullptr) {
    handler.function(&handle, &code);
  } else if (handler.errhandler != native().ERRORS_RETURN) {
    native().Abort(native().COMM_WORLD, code);
  }
}

/// A handle whose error handler the MPI does not know: ours, or MPI_FILE_NULL without a world
/// model.
bool keeps_own_errhandler(MPI_File handle) {
  return own_errhandler(handle) != nullptr ||
         (handle == native().FILE_NULL && !world_model_active());
}

OwnErrhandler own_errhandler_of(MPI_File handle) {
  const OwnErrhandler* own = own_errhandler(handle);
  return own != nullptr ? *own : known().inherited;
}

}  // namespace

OwnErrhandler inherited_errhandler() {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  return all.inherited;
}

namespace {

/// The handler of MPI_FILE_NULL. Open MPI does not call it (MPI_File_call_errhandler takes no
/// MPI_FILE_NULL there), so we do: by its function, or, where only the MPI knows that (Fortran),
/// through a native handle.
void call_inherited(const OwnErrhandler& handler, int code) {
  const Native& mpi = native();
  if (handler.function != nullptr || handler.errhandler == mpi.ERRORS_RETURN ||
      handler.errhandler == mpi.ERRORS_ARE_FATAL) {
    return call_own(mpi.FILE_NULL, handler, code);
  }
  with_native_handle([&](MPI_File carrier) {
    mpi.File_set_errhandler(carrier, handler.errhandler);
    mpi.File_call_errhandler(carrier, code);
  });
}

}  // namespace

void call_errhandler(MPI_File handle, int code, const std::string& message) {
  const Native& mpi = native();
  if (mpi_is_finalizing()) return;
  OwnErrhandler handler{mpi.ERRORS_RETURN};
  if (keeps_own_errhandler(handle)) {
    handler = own_errhandler_of(handle);
  } else {
    // Not freed: MPICH 4.0 gives no reference, and the others' is one of a handler that stays
    // anyway.
    MPI_Errhandler errhandler = mpi.ERRORS_RETURN;
    mpi.File_get_errhandler(handle, &errhandler);
    handler = described(errhandler);
  }
  const bool fatal = handler.function == nullptr && handler.errhandler == mpi.ERRORS_ARE_FATAL;
  if (fatal) say(message);
  if (keeps_own_errhandler(handle)) {
    call_own(handle, handler, code);
  } else if (handle == mpi.FILE_NULL) {
    call_inherited(handler, code);
  } else {
    mpi.File_call_errhandler(handle, code);
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
