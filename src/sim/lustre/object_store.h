// ObjectStore: the data of the objects on the OSTs and on the metadata target, for all nodes.
#ifndef NACRE_SIM_LUSTRE_OBJECT_STORE_H_
#define NACRE_SIM_LUSTRE_OBJECT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "store/store.h"

namespace nacre::sim {

/// ObjectName::ost of objects on the metadata target.
inline constexpr std::int32_t metadata_target = -1;

struct ObjectName {
  std::int32_t ost = metadata_target;
  std::uint64_t number = 0;  ///< on the metadata target: the file's inode number

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

/// Thread-safe; objects are independent of each other. An object that was never written is empty.
/// Each object is a file of a store::Store. Every access opens and closes it, because thousands of
/// objects would exceed the limit of file descriptors. Errors carry the errno of the store.
class ObjectStore {
 public:
  /// In memory.
  ObjectStore();
  /// Keeps objects in `files`, as DIRECTORY/OST/NUMBER and DIRECTORY/mdt/NUMBER. `files` must be
  /// able to create them.
  ObjectStore(std::shared_ptr<store::Store> files, std::string directory);
  /// Keeps objects in files on disk. Creates the directory if it does not exist. A directory that
  /// is not empty is an error. The destructor removes the directories that this call created and
  /// that are empty.
  [[nodiscard]] static Result<ObjectStore> on_disk(const std::string& directory,
                                                   std::int64_t ost_count);
  ObjectStore(ObjectStore&&) = default;
  ObjectStore& operator=(ObjectStore&&) = delete;
  ~ObjectStore();

  /// Fills `to`, with zeros after the end of the object.
  [[nodiscard]] Status read(const ObjectName& name, std::span<std::byte> to, std::int64_t offset);
  /// After an error, the result also says how many bytes were written.
  [[nodiscard]] store::Transfer write(const ObjectName& name, std::span<const std::byte> from,
                                      std::int64_t offset);
  /// Truncates the object to `size` bytes if it is longer.
  [[nodiscard]] Status truncate(const ObjectName& name, std::int64_t size);
  /// Overwrites the part of an extent before the object's end with zeros.
  [[nodiscard]] Status erase(const ObjectName& name, const Extent& extent);
  /// Flushes the object to disk, if objects are on disk.
  [[nodiscard]] Status sync(const ObjectName& name);
  /// Ignores errors: an object that remains does no harm, because names are never reused.
  void remove(const ObjectName& name);

 private:
  [[nodiscard]] std::string path_of(const ObjectName& name) const;
  [[nodiscard]] Result<std::unique_ptr<store::StoreFile>> open(const ObjectName& name) const;
  [[nodiscard]] Status make_directory(const std::string& path);

  std::shared_ptr<store::Store> files_;
  std::string directory_;
  std::vector<std::string> created_;  // directories, parents before their subdirectories
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_OBJECT_STORE_H_
