// What generate.py writes for native.cc: the parts of filling a Native.
#ifndef NACRE_MPI_ABI_NATIVE_FILL_H_
#define NACRE_MPI_ABI_NATIVE_FILL_H_

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// The address of `symbol` in what `context` stands for, or null.
using FindSymbol = void* (*)(const void* context, const char* symbol);

/// Every required function becomes one that returns MPI_ERR_INTERN.
void fill_missing_functions(Native& table);
/// Members whose symbol is not found keep their value. Returns the first symbol of a required
/// function that is not there, or null.
const char* fill_functions(Native& table, FindSymbol find, const void* context);
/// `has_mpi_5`: the MPI implements MPI-5.0, and so the datatypes that came with it.
void fill_handles(Native& table, FindSymbol find, const void* context, bool has_mpi_5);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_ABI_NATIVE_FILL_H_
