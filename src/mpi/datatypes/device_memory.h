// Recognises buffers in GPU memory, which the processor cannot read.
#ifndef NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_
#define NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_

namespace nacre::mpi {

/// Searches the process for GPU runtimes (CUDA, HIP). Every open calls it, so that data accesses
/// need not search.
void find_device_runtimes();

/// `buffer` is memory of a GPU that the processor cannot reach. Managed and pinned memory is not.
/// Costs two loads in a process without a GPU runtime.
[[nodiscard]] bool is_device_memory(const void* buffer);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_
