// Files that a process must not buffer, whether it has a descriptor of them or not.
#ifndef NACRE_POSIX_BUFFERING_FILE_SET_H_
#define NACRE_POSIX_BUFFERING_FILE_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "posix/system/system.h"

namespace nacre::posix {

/// Identities of files. Nothing is ever removed; a full set has every file. Constant-initialised;
/// the caller holds a lock.
class FileSet {
 public:
  static constexpr std::size_t capacity = 1024;

  void add(const FileIdentity& identity) {
    if (files_ == nullptr)
      files_ = reinterpret_cast<FileIdentity*>(map_memory(capacity * sizeof(FileIdentity)));
    if (files_ == nullptr) {
      count_ = capacity;
    } else if (!has(identity)) {
      files_[count_++] = identity;
    }
  }
  [[nodiscard]] bool has(const FileIdentity& identity) const {
    if (count_ == capacity) return true;
    return std::find(files_, files_ + count_, identity) != files_ + count_;
  }

 private:
  FileIdentity* files_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_FILE_SET_H_
