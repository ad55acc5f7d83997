// Shared counters by two means: a word of memory that the ranks of a node share, and a small file.
#ifndef NACRE_STORE_POSIX_SHARED_COUNTER_H_
#define NACRE_STORE_POSIX_SHARED_COUNTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

/// Makes (with `create`) or attaches; the counter is the SharedMemory of that id.
[[nodiscard]] Result<std::unique_ptr<SharedCounter>> memory_counter(std::uint64_t id, bool create);
void forget_memory_counter(std::uint64_t id);

/// Hidden file beside the data file, e.g. "/scratch/.x.h5.nacre-00c0ffee00c0ffee" for
/// "/scratch/x.h5"; a name too long for a directory loses its end. Pure.
[[nodiscard]] std::string counter_file_path(const CounterKey& key);
/// Makes (with `create`; mode 0600) or attaches. Each call locks the file, reads, writes and
/// unlocks. `creation_flags`: of open(2), beside its own, for the open that makes it alone.
[[nodiscard]] Result<std::unique_ptr<SharedCounter>> file_counter(const CounterKey& key,
                                                                  bool create, int creation_flags);
void forget_file_counter(const CounterKey& key);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_SHARED_COUNTER_H_
