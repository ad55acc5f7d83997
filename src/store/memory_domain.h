// Which processes can share memory.
#ifndef NACRE_STORE_MEMORY_DOMAIN_H_
#define NACRE_STORE_MEMORY_DOMAIN_H_

#include <cstdint>

namespace nacre::store {

/// A number that processes have in common when they run in one kernel, under one host name, with
/// one shared-memory file system and the same NACRE_NODE_ID (by which a test on one machine plays
/// several nodes). Then a CounterKey may say one_node. 0 where this process has no shared memory to
/// write to. Not stable over a reboot. Thread-safe.
[[nodiscard]] std::uint64_t shared_memory_domain();

}  // namespace nacre::store

#endif  // NACRE_STORE_MEMORY_DOMAIN_H_
