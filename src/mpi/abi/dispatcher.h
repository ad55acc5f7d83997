// The dispatcher, libnacre.so: what a program preloads whatever its MPI. It exports the names of
// all three libraries as jumps through slots, finds out at the first call which MPI the process
// holds, loads the library for its ABI from its own directory and fills each slot at its first
// call. A process that never calls MPI is left alone.
//
// A slot gets the library's function where the library serves the name, and else what the program
// would have called without us: the next definition in the search order (a tool's, the MPI's), or
// that of an MPI that was loaded out of everybody's sight, as Python does. Everything goes that way
// where there is no library for the MPI, which one line on stderr tells. (NACRE_DISABLE is the
// library's to obey: ranks with differing environments agree on it.)
//
// Built without the C++ run-time library: it is in every process of a job.
#ifndef NACRE_MPI_ABI_DISPATCHER_H_
#define NACRE_MPI_ABI_DISPATCHER_H_

namespace nacre::mpi {

enum class Kind : unsigned char {
  served,  ///< the library's where it has the name
  own,     ///< of nacre.h: no MPI has it
};

/// One exported name. Its index is its slot's.
struct Dispatched {
  const char* name;
  Kind kind;
};

extern const Dispatched dispatched_names[];

}  // namespace nacre::mpi

extern "C" {

/// Where the entry points jump to. At first each leads, by way of dispatcher.S, to nacre_resolve.
[[gnu::visibility("hidden")]] extern void* nacre_slots[];

/// Fills the slot, unless there is no MPI yet; returns where the call of name `index` is to go.
[[gnu::visibility("hidden")]] void* nacre_resolve(unsigned index);

}  // extern "C"

#endif  // NACRE_MPI_ABI_DISPATCHER_H_
