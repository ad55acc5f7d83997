#include "mpi/errhandlers.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "mpi/calls.h"
#include "mpi/file_handle.h"
#include "mpi/lifetime.h"

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

void call_errhandler(MPI_File handle, int code, const std::string& message) {
  const Native& mpi = native();
  if (mpi_is_finalizing()) return;
  if (keeps_own_errhandler(handle)) {
    const OwnErrhandler handler = own_errhandler_of(handle);
    if (handler.function == nullptr && handler.errhandler != mpi.ERRORS_RETURN) say(message);
    call_own(handle, handler, code);
    return;
  }
  MPI_Errhandler errhandler = mpi.ERRHANDLER_NULL;
  if (mpi.File_get_errhandler(handle, &errhandler) == MPI_SUCCESS) {
    if (errhandler == mpi.ERRORS_ARE_FATAL) say(message);
    mpi.Errhandler_free(&errhandler);
  }
  mpi.File_call_errhandler(handle, code);
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
