// Two kinds of shared counters: a word of shared memory, and a small file.
#ifndef NACRE_STORE_POSIX_SHARED_COUNTER_H_
#define NACRE_STORE_POSIX_SHARED_COUNTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

/// Creates the SharedMemory of this id (with `create`), or attaches to it. SharedMemory::forget()
/// removes its name.
[[nodiscard]] Result<std::unique_ptr<SharedCounter>> memory_counter(std::uint64_t id, bool create);

/// Hidden file beside the data file, e.g. "/scratch/.x.h5.nacre-00c0ffee00c0ffee" for
/// "/scratch/x.h5"; a name that is too long is truncated. Pure.
[[nodiscard]] std::string counter_file_path(const CounterKey& key);
/// Creates the file (with `create`; mode 0600), or attaches to it. Each call locks the file, reads,
/// writes and unlocks it. `creation_flags`: additional flags of open(2) for the creation.
[[nodiscard]] Result<std::unique_ptr<SharedCounter>> file_counter(const CounterKey& key,
                                                                  bool create, int creation_flags);
void forget_file_counter(const CounterKey& key);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_SHARED_COUNTER_H_
