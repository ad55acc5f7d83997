// Memory that the ranks of a node make together.
#ifndef NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_
#define NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>

#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "store/shared_memory.h"

namespace nacre::collective {

/// Collective over `node_ranks`, the ranks of one node, lowest first and two at least: zeros that
/// all of them see, or nothing on all of them, where one of them has no memory left or does not
/// find what the lowest has made (containers on one host look like one node and are not). `bytes`
/// are the same on all. Once this has returned the memory has no name any more.
Task<std::optional<store::SharedMemory>> share_memory(Transport& transport,
                                                      std::span<const int> node_ranks,
                                                      std::int64_t bytes);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_NODE_NODE_MEMORY_H_
