#include "store/testbed/testbed_store.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <sys/xattr.h>

#include "store/path.h"

namespace nacre::store {
namespace {

class TestbedFile final : public LustreStoreFile {
 public:
  using LustreStoreFile::LustreStoreFile;

 protected:
  int acquire_group_lock(std::int32_t number) override { return set("testbed.group_lock", number); }
  int release_group_lock(std::int32_t number) override {
    return set("testbed.group_unlock", number);
  }
  int narrow_locks_of(int /*descriptor*/) override { return set("testbed.narrow_locks", 1); }
  int request_locks(std::span<const Extent> ranges) override {
    std::string text;
    for (const Extent& range : ranges) {
      text += ' ' + std::to_string(range.offset) + ' ' + std::to_string(range.length);
    }
    return set("testbed.lock_ahead", text);
  }

 private:
  /// Sets the attribute of the file's directory. The kernel blocks calls on the file's own
  /// attributes during a write, and that write may be waiting for the lock.
  int set(const char* attribute, std::int32_t number) {
    return set(attribute, ' ' + std::to_string(number));
  }
  int set(const char* attribute, const std::string& words) {
    const std::string directory = directory_of(path());
    const std::string text = std::to_string(identity().inode) + words;
    return ::setxattr(directory.c_str(), attribute, text.data(), text.size(), 0);
  }
};

}  // namespace

std::unique_ptr<StoreFile> TestbedStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return LustreStore::make_file(std::move(opened));
  return std::make_unique<TestbedFile>(std::move(opened));
}

}  // namespace nacre::store
