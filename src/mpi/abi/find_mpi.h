// Finds the MPI library of the process by its symbols, with any file name and in any scope. Needs
// libc alone: it is part of the dispatcher too.
#ifndef NACRE_MPI_ABI_FIND_MPI_H_
#define NACRE_MPI_ABI_FIND_MPI_H_

#include <link.h>

namespace nacre::mpi {

/// Which binary interface an MPI library has.
enum class Abi : unsigned char {
  none,      ///< no MPI in the process
  unknown,   ///< an MPI of another ABI
  mpich,     ///< the MPICH ABI initiative's: MPICH, Intel MPI, MVAPICH, Cray MPICH
  openmpi,   ///< Open MPI's
  standard,  ///< MPI-5's standard ABI
};

/// The MPI library of the process.
struct LoadedMpi {
  Abi abi = Abi::none;
  void* handle = nullptr;      ///< of dlopen; never closed
  bool main_program = false;   ///< the MPI is linked into the program itself
  const void* base = nullptr;  ///< start address of its object, as dladdr reports it
};

/// False: the object of dl_iterate_phdr's `info` does not define `symbol`. True: it does, or has no
/// hash table that tells (such objects are rare). One look-up in the object's DT_GNU_HASH, some
/// 50 ns. A dlopen and a dlsym of each object also search its dependencies, and together took 1.8
/// ms where Python has loaded 150 objects. Also for use inside dl_iterate_phdr.
[[nodiscard]] bool may_define(const dl_phdr_info& info, const char* symbol);

/// Searches all loaded objects for the one that defines PMPI_Comm_rank: no tool and no library of
/// Nacre does. Of several it prefers one with the standard ABI (Open MPI's libmpi_abi may load its
/// libmpi), then the first loaded. The ABI is standard if PMPI_Abi_get_version says so (MPICH 5's
/// libmpi has that function, and returns -1), Open MPI's if the object defines ompi_mpi_comm_world,
/// and MPICH's if it defines MPIR_Dup_fn, which MPICH's mpi.h refers to. Thread-safe; not for use
/// inside dl_iterate_phdr.
[[nodiscard]] LoadedMpi find_mpi();

/// The MPI library's own definition of `symbol`, or null. Takes a `const LoadedMpi*`.
[[nodiscard]] void* mpi_symbol(const void* mpi, const char* symbol);

/// The address of `symbol`, a variable of the MPI library, that the whole process uses: a program
/// that is not position-independent has a copy of its own, which the MPI library then uses too.
/// (Open MPI's predefined handles are addresses of variables.)
[[nodiscard]] void* mpi_data(const void* mpi, const char* symbol);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_ABI_FIND_MPI_H_
