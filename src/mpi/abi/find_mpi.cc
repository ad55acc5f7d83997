#include "mpi/abi/find_mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/abi/object_symbols.h"

namespace nacre::mpi {
namespace {

constexpr const char* marker_name = "PMPI_Comm_rank";

/// The file names of the loaded objects that may be the MPI, in load order, each with its
/// terminator.
struct Names {
  char* text = nullptr;
  size_t size = 0;
  bool failed = false;
};

/// dlopen must wait until dl_iterate_phdr has let go of the loader's lock, so names are all it
/// collects.
int collect_name(dl_phdr_info* info, size_t /*size*/, void* argument) {
  if (!may_define(*info, marker_name)) return 0;
  auto* names = static_cast<Names*>(argument);
  const size_t length = strlen(info->dlpi_name) + 1;
  auto* grown = static_cast<char*>(realloc(names->text, names->size + length));
  if (grown == nullptr) {
    names->failed = true;
    return 1;
  }
  memcpy(grown + names->size, info->dlpi_name, length);
  names->text = grown;
  names->size += length;
  return 0;
}

const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

Abi abi_of(void* handle) {
  using AbiVersion = int (*)(int*, int*);
  if (void* found = dlsym(handle, "PMPI_Abi_get_version")) {
    int major = -1;
    int minor = -1;
    if (reinterpret_cast<AbiVersion>(found)(&major, &minor) == 0 && major > 0) return Abi::standard;
  }
  if (dlsym(handle, "ompi_mpi_comm_world") != nullptr) return Abi::openmpi;
  if (dlsym(handle, "MPIR_Dup_fn") != nullptr) return Abi::mpich;
  return Abi::unknown;
}

/// What the object `name` is; "" is the main program.
LoadedMpi examine(const char* name) {
  const bool main_program = *name == '\0';
  void* handle = dlopen(main_program ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  // A handle's look-up goes on through the object's dependencies: those have their own turn. They
  // are told apart by where the same object's dynamic section, its link map's name, lies.
  const void* marker = dlsym(handle, marker_name);
  Dl_info info;
  link_map* definer = nullptr;
  link_map* self = nullptr;
  const bool defines =
      marker != nullptr &&
      dladdr1(marker, &info, reinterpret_cast<void**>(&definer), RTLD_DL_LINKMAP) != 0 &&
      dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&self)) == 0 && definer == self;
  if (!defines) {
    dlclose(handle);
    return {};
  }
  return {abi_of(handle), handle, main_program, info.dli_fbase};
}

}  // namespace

LoadedMpi find_mpi() {
  Names names;
  dl_iterate_phdr(collect_name, &names);
  LoadedMpi best;
  for (size_t at = 0; at < names.size; at += strlen(names.text + at) + 1) {
    const LoadedMpi candidate = examine(names.text + at);
    const bool better = candidate.abi == Abi::standard && best.abi != Abi::standard;
    if (best.abi == Abi::none || better) best = candidate;
  }
  free(names.text);
  return best;
}

void* mpi_symbol(const void* mpi, const char* symbol) {
  const auto* loaded = static_cast<const LoadedMpi*>(mpi);
  void* found = dlsym(loaded->handle, symbol);
  // The main program's handle searches everything in global scope, us included.
  if (found != nullptr && loaded->main_program && object_of(found) != loaded->base) return nullptr;
  return found;
}

void* mpi_data(const void* mpi, const char* symbol) {
  if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
  return mpi_symbol(mpi, symbol);
}

}  // namespace nacre::mpi
