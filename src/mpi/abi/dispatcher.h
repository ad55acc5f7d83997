// The dispatcher, libnacre.so, which programs of any MPI preload. It exports the names of all three
// libraries as jumps through slots. At the first call it finds the MPI of the process and loads the
// library for its ABI from its own directory; it fills each slot at the slot's first call. It does
// nothing in a process that never calls MPI.
//
// A slot leads to the library's function if the library serves the name. Otherwise it leads to the
// function that the program would call without Nacre: the next definition in the search order (of a
// tool or the MPI), or that of an MPI in a local scope, as Python loads it. If there is no library
// for the MPI, all slots do, and one line on stderr says so. (The libraries obey NACRE_DISABLE:
// ranks with different environments have to agree on it.)
//
// Built without the C++ run-time library: it is in every process of a job.
#ifndef NACRE_MPI_ABI_DISPATCHER_H_
#define NACRE_MPI_ABI_DISPATCHER_H_

namespace nacre::mpi {

enum class Kind : unsigned char {
  served,  ///< a function of MPI; the library of an ABI may lack it
  own,     ///< a function of nacre.h: no MPI has it
};

/// One exported name. Its index is that of its slot.
struct Dispatched {
  const char* name;
  Kind kind;
};

extern const Dispatched dispatched_names[];

}  // namespace nacre::mpi

extern "C" {

/// The targets of the entry points. At first each leads, through dispatcher.S, to nacre_resolve.
[[gnu::visibility("hidden")]] extern void* nacre_slots[];

/// Fills the slot, unless the process has no MPI yet; returns the target for the call.
[[gnu::visibility("hidden")]] void* nacre_resolve(unsigned index);

}  // extern "C"

#endif  // NACRE_MPI_ABI_DISPATCHER_H_
