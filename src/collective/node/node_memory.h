// Memory that the ranks of a node allocate together.
#ifndef NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_
#define NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>

#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "store/memory/shared_memory.h"

namespace nacre::collective {

/// Collective over `node_ranks`: two or more ranks of one node, lowest first. Returns shared memory
/// of `bytes` zeros, or nothing on all ranks if a rank cannot allocate it or does not find the
/// memory of the lowest rank (containers on one host look like one node, but do not share memory).
/// The same `bytes` on all ranks. The memory has no name after this has returned. Ranks in several
/// PID namespaces get named memory, all others unnamed memory.
Task<std::optional<store::SharedMemory>> share_memory(Transport& transport,
                                                      std::span<const int> node_ranks,
                                                      std::int64_t bytes);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_
