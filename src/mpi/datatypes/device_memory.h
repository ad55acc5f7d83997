// Buffers in GPU memory, which the processor cannot read: told apart before anything touches them.
#ifndef NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_
#define NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_

namespace nacre::mpi {

/// Looks which GPU runtime (CUDA, HIP) the process has loaded by now. Called at every open, so that
/// data accesses need not look.
void find_device_runtimes();

/// `buffer` is memory of a GPU that the processor cannot reach. Managed and pinned memory is not.
/// Costs two loads in a process without a GPU runtime.
[[nodiscard]] bool is_device_memory(const void* buffer);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_DEVICE_MEMORY_H_
