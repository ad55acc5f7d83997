// The objects of the OSTs, and of the metadata target: bytes in memory that all nodes share.
#ifndef NACRE_TESTBED_OBJECT_STORE_H_
#define NACRE_TESTBED_OBJECT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "base/extent.h"
#include "store/memory/sparse_bytes.h"

namespace nacre::testbed {

/// What is on the metadata target is of no OST.
inline constexpr std::int32_t metadata_target = -1;

struct ObjectName {
  std::int32_t ost = metadata_target;
  std::uint64_t number = 0;  ///< on the metadata target, that of the file

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

/// Thread-safe; objects are independent of each other. One that was never written is empty.
class ObjectStore {
 public:
  /// Fills `to`: what the object has not is zeros.
  void read(const ObjectName& name, std::span<std::byte> to, std::int64_t offset);
  void write(const ObjectName& name, std::span<const std::byte> from, std::int64_t offset);
  /// Cuts off what is behind `size`.
  void truncate(const ObjectName& name, std::int64_t size);
  /// Makes zeros of what there is of an extent.
  void erase(const ObjectName& name, const Extent& extent);
  void remove(const ObjectName& name);

 private:
  struct Object {
    std::mutex mutex;
    store::SparseBytes bytes;
  };
  std::shared_ptr<Object> find(const ObjectName& name);

  std::mutex mutex_;  // of the map
  std::map<ObjectName, std::shared_ptr<Object>> objects_;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_OBJECT_STORE_H_
