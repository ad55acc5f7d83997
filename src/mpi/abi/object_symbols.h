// Which symbols a loaded object defines, read from its own tables. Needs libc alone: the dispatcher
// is built from it too.
#ifndef NACRE_MPI_ABI_OBJECT_SYMBOLS_H_
#define NACRE_MPI_ABI_OBJECT_SYMBOLS_H_

#include <link.h>

namespace nacre::mpi {

/// False: the object of dl_iterate_phdr's `info` does not define `symbol`. True: it does, or has no
/// hash table that could tell (such objects are rare). One look-up in the object's DT_GNU_HASH,
/// some 50 ns; a dlopen and a dlsym of each object also search its dependencies, and together took
/// 1.8 ms where Python has loaded 150 objects. For use inside dl_iterate_phdr too.
[[nodiscard]] bool may_define(const dl_phdr_info& info, const char* symbol);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_ABI_OBJECT_SYMBOLS_H_
