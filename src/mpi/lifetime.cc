#include "mpi/lifetime.h"

#include <atomic>
#include <mutex>

#include "mpi/abi/native.h"
#include "mpi/file_handle.h"
#include "mpi/progress.h"

namespace nacre::mpi {
namespace {

std::atomic<bool> finalizing = false;

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int never_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int finalize_begins(MPI_Comm, int, void*, void*) {
  // Communication still works here: what the program left pending may need it to end on other
  // ranks.
  finish_all_pending();
  release_pooled_handles();
  finalizing.store(true);
  return MPI_SUCCESS;
}

}  // namespace

void watch_finalize() {
  static std::once_flag once;
  if (!world_model_active()) return;
  std::call_once(once, [] {
    // Attributes go in the reverse order of their coming. ROMIO, at its first open, sets one that
    // ends it: ours has to come later to find its files still alive.
    with_native_handle([](MPI_File) {});
    int key = MPI_KEYVAL_INVALID;
    native().Comm_create_keyval(never_copy, finalize_begins, &key, nullptr);
    native().Comm_set_attr(native().COMM_SELF, key, nullptr);
    native().Comm_free_keyval(&key);  // the attribute keeps it
  });
}

bool world_model_active() {
  int initialized = 0;
  int finalized = 0;
  native().Initialized(&initialized);
  native().Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

bool mpi_is_finalizing() { return finalizing.load(); }

}  // namespace nacre::mpi
