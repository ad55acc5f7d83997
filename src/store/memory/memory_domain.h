// Which processes can share memory.
#ifndef NACRE_STORE_MEMORY_MEMORY_DOMAIN_H_
#define NACRE_STORE_MEMORY_MEMORY_DOMAIN_H_

#include <cstdint>

namespace nacre::store {

/// A number that is equal in two processes if they have the same kernel, host name, shared-memory
/// file system and NACRE_NODE_ID (which simulates several nodes on one machine). CounterKey may
/// then set one_node. 0 if this process cannot write to shared memory. Changes at a reboot.
/// Thread-safe.
[[nodiscard]] std::uint64_t shared_memory_domain();

}  // namespace nacre::store

#endif  // NACRE_STORE_MEMORY_MEMORY_DOMAIN_H_
