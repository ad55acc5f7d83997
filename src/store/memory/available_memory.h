// How much memory is left.
#ifndef NACRE_STORE_MEMORY_AVAILABLE_MEMORY_H_
#define NACRE_STORE_MEMORY_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace nacre::store {

/// Bytes that the processes of this node can still allocate before the kernel kills one of them:
/// the minimum over the machine and the memory cgroups of this process. Page cache counts as
/// available. INT64_MAX if unknown. Reads files of /proc and /sys under `root`, about 0.1 ms.
/// Thread-safe.
[[nodiscard]] std::int64_t available_memory(const std::string& root = "");

}  // namespace nacre::store

#endif  // NACRE_STORE_MEMORY_AVAILABLE_MEMORY_H_
