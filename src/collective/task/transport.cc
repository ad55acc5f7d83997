#include "collective/task/transport.h"

#include <thread>

#include "store/memory/available_memory.h"

namespace nacre::collective {

Result<store::SharedMemory> Transport::create_shared_memory(store::SharedMemory::Kind kind,
                                                            std::uint64_t id, std::int64_t bytes,
                                                            const std::string& purpose) {
  return store::SharedMemory::create(kind, id, bytes, purpose);
}

Result<store::SharedMemory> Transport::attach_shared_memory(
    const store::SharedMemoryAddress& address, std::int64_t bytes, const std::string& purpose) {
  return store::SharedMemory::attach(address, bytes, purpose);
}

std::int64_t Transport::available_memory() { return store::available_memory(); }

std::int64_t Transport::core_count() { return std::thread::hardware_concurrency(); }

}  // namespace nacre::collective
