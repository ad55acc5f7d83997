// Finds the MPI library in the process by its symbols, whatever its file is called and however it
// was loaded. Needs libc alone: the dispatcher is built from it too.
#ifndef NACRE_MPI_ABI_FIND_MPI_H_
#define NACRE_MPI_ABI_FIND_MPI_H_

namespace nacre::mpi {

/// Which binary interface an MPI library has.
enum class Abi : unsigned char {
  none,      ///< no MPI in the process
  unknown,   ///< an MPI of neither kind
  mpich,     ///< the MPICH ABI initiative's: MPICH, Intel MPI, MVAPICH, Cray MPICH
  openmpi,   ///< Open MPI's
  standard,  ///< MPI-5's standard ABI
};

/// The MPI library of the process.
struct LoadedMpi {
  Abi abi = Abi::none;
  void* handle = nullptr;      ///< of dlopen; never closed
  bool main_program = false;   ///< the MPI is linked into the program itself
  const void* base = nullptr;  ///< where its object starts, as dladdr says
};

/// Looks through all loaded objects for the one that defines PMPI_Comm_rank, which no tool and none
/// of our libraries defines. Where several do, one with the standard ABI wins (Open MPI's
/// libmpi_abi may bring its libmpi along), then the first loaded. The ABI is standard where
/// PMPI_Abi_get_version says so (MPICH 5's libmpi has that function, but answers -1), Open MPI's
/// where ompi_mpi_comm_world is there, MPICH's where MPIR_Dup_fn is, which MPICH's mpi.h refers to.
/// Thread-safe; not for use inside dl_iterate_phdr.
[[nodiscard]] LoadedMpi find_mpi();

/// The MPI library's own definition of `symbol`, or null. Takes a `const LoadedMpi*`.
[[nodiscard]] void* mpi_symbol(const void* mpi, const char* symbol);

/// Where `symbol`, a variable of the MPI library, lies for everybody: a program that is not
/// position-independent has a copy of its own, which the MPI library then uses too (Open MPI's
/// predefined handles are their addresses).
[[nodiscard]] void* mpi_data(const void* mpi, const char* symbol);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_ABI_FIND_MPI_H_
