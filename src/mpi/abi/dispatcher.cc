#include "mpi/abi/dispatcher.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/abi/find_mpi.h"
#include "nacre/nacre.h"

extern "C" const char* nacre_version(void) { return NACRE_VERSION; }

namespace nacre::mpi {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool is_loaded = false;
/// Once is_loaded: the MPI, and the library for it or null.
LoadedMpi found_mpi;
void* library = nullptr;
/// Loading the library may run code that calls MPI: such calls pass the library by.
thread_local bool resolving = false;

// MPI_ERR_INTERN in MPICH and in the other MPIs.
int fail_as_mpich() { return 16; }
int fail() { return 17; }
void* nothing() { return nullptr; }

void* address_of(int (*function)()) { return reinterpret_cast<void*>(function); }

const char* library_of(Abi abi) {
  switch (abi) {
    case Abi::mpich:
      return "libnacre_mpich.so";
    case Abi::openmpi:
      return "libnacre_openmpi.so";
    case Abi::standard:
      return "libnacre_mpiabi.so";
    default:
      return nullptr;
  }
}

void complain(const char* what, const char* detail) {
  fprintf(stderr, "nacre: %s%s; Nacre is off, and the MPI does its own I/O\n", what, detail);
}

void complain_of_missing_library() {
  Dl_info self;
  const bool known = dladdr(dispatched_names, &self) != 0;
  fprintf(
      stderr,
      "nacre: no library for this MPI beside %s: %s; Nacre is off, and the MPI does its own I/O; "
      "build Nacre with this MPI's headers\n",
      known ? self.dli_fname : "libnacre.so", dlerror());
}

/// Loads a library from the directory of libnacre.so, as the dynamic linker knows it since it
/// loaded libnacre.so: the program may have changed its directory. The name is absolute: UCX calls
/// dlopen on behalf of all libraries, so that $ORIGIN or a run path would be those of UCX.
void* load_neighbour(const char* name) {
  char path[2 * PATH_MAX] = "";
  Dl_info info;
  link_map* self = nullptr;
  if (dladdr1(dispatched_names, &info, reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) != 0) {
    dlinfo(self, RTLD_DI_ORIGIN, path);
  }
  const size_t length = strlen(path);
  snprintf(path + length, sizeof path - length, "%s%s", length > 0 ? "/" : "", name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/// The library for the process's MPI, or null.
void* load_library(Abi abi) {
  const char* name = library_of(abi);
  if (name == nullptr) {
    complain("this MPI has neither MPICH's, Open MPI's nor the standard ABI", "");
    return nullptr;
  }
  void* loaded = load_neighbour(name);
  if (loaded == nullptr) {
    complain_of_missing_library();
    return nullptr;
  }
  using Question = const char* (*)();
  void* question = dlsym(loaded, "nacre_missing_function");
  const char* missing = question == nullptr ? nullptr : reinterpret_cast<Question>(question)();
  if (missing == nullptr) return loaded;
  complain("this MPI lacks ", missing);
  return nullptr;
}

/// The function that the program would call without Nacre.
void* next_definition(const LoadedMpi& mpi, const Dispatched& dispatched) {
  if (dispatched.kind == Kind::own) return reinterpret_cast<void*>(nothing);
  if (void* next = dlsym(RTLD_NEXT, dispatched.name)) return next;
  if (mpi.abi != Abi::none) {
    if (void* own = mpi_symbol(&mpi, dispatched.name)) return own;
  }
  return address_of(mpi.abi == Abi::mpich ? fail_as_mpich : fail);
}

/// Fills one slot only: programs call few of the 238 names. With the lock held, once is_loaded.
void* fill_slot(unsigned index) {
  const Dispatched& dispatched = dispatched_names[index];
  void* target = library == nullptr ? nullptr : dlsym(library, dispatched.name);
  if (target == nullptr) target = next_definition(found_mpi, dispatched);
  __atomic_store_n(&nacre_slots[index], target, __ATOMIC_RELEASE);
  return target;
}

}  // namespace
}  // namespace nacre::mpi

void* nacre_resolve(unsigned index) {
  using namespace nacre::mpi;
  if (resolving) return next_definition(find_mpi(), dispatched_names[index]);
  resolving = true;
  pthread_mutex_lock(&mutex);
  if (!is_loaded) {
    found_mpi = find_mpi();
    is_loaded = found_mpi.abi != Abi::none;
    if (is_loaded) library = load_library(found_mpi.abi);
  }
  void* target = is_loaded ? fill_slot(index) : next_definition(found_mpi, dispatched_names[index]);
  pthread_mutex_unlock(&mutex);
  resolving = false;
  return target;
}
