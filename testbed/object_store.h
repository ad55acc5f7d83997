// The objects of the OSTs, and of the metadata target: bytes that all nodes share.
#ifndef NACRE_TESTBED_OBJECT_STORE_H_
#define NACRE_TESTBED_OBJECT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "store/store.h"

namespace nacre::testbed {

/// What is on the metadata target is of no OST.
inline constexpr std::int32_t metadata_target = -1;

struct ObjectName {
  std::int32_t ost = metadata_target;
  std::uint64_t number = 0;  ///< on the metadata target, that of the file

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

/// Thread-safe; objects are independent of each other. One that was never written is empty. Each is
/// a file of a store::Store, opened for each access: there are thousands, and descriptors are few.
/// Errors carry the errno of the store.
class ObjectStore {
 public:
  /// In memory.
  ObjectStore();
  /// DIRECTORY/OST/NUMBER, and DIRECTORY/mdt/NUMBER, of a store in which such files can be made.
  ObjectStore(std::shared_ptr<store::Store> files, std::string directory);
  /// Such files on disk. The directory is made where there is none; one that is not empty is an
  /// error. What was made of directories goes with the store, if the objects have gone.
  [[nodiscard]] static Result<ObjectStore> on_disk(const std::string& directory,
                                                   std::int64_t ost_count);
  ObjectStore(ObjectStore&&) = default;
  ObjectStore& operator=(ObjectStore&&) = delete;
  ~ObjectStore();

  /// Fills `to`: what the object has not is zeros.
  [[nodiscard]] Status read(const ObjectName& name, std::span<std::byte> to, std::int64_t offset);
  /// How much was written before what went wrong, too.
  [[nodiscard]] store::Transfer write(const ObjectName& name, std::span<const std::byte> from,
                                      std::int64_t offset);
  /// Cuts off what is behind `size`.
  [[nodiscard]] Status truncate(const ObjectName& name, std::int64_t size);
  /// Makes zeros of what there is of an extent.
  [[nodiscard]] Status erase(const ObjectName& name, const Extent& extent);
  /// What was written is on the disk then, if on any.
  [[nodiscard]] Status sync(const ObjectName& name);
  /// One that cannot be removed stays, in nobody's way: no other object has its name.
  void remove(const ObjectName& name);

 private:
  [[nodiscard]] std::string path_of(const ObjectName& name) const;
  [[nodiscard]] Result<std::unique_ptr<store::StoreFile>> open(const ObjectName& name) const;
  [[nodiscard]] Status make_directory(const std::string& path);

  std::shared_ptr<store::Store> files_;
  std::string directory_;
  std::vector<std::string> made_;  // directories, those within others behind them
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_OBJECT_STORE_H_
