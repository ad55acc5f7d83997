#include "store/default_store.h"

#include <cerrno>
#include <optional>
#include <string>

#include "store/file_system.h"
#include "store/path.h"
#include "store/posix/posix_store.h"

namespace nacre::store {
namespace {

/// The file system of the directory of `path`.
std::optional<FileSystemFacts> facts_of_directory(const std::string& path) {
  const std::string directory = directory_of(path);
  return facts_of_path(directory.empty() ? "." : directory);
}

/// Forwards each call to the store of the file system on which the file lies.
class MountedStore final : public Store {
 public:
  Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                          const OpenOptions& options) override {
    OpenOptions known = options;
    if (!known.facts) known.facts = facts_of_path(path);
    if (known.facts) return store_of(*known.facts).open(path, known);
    if (options.create) known.facts = facts_of_directory(path);
    if (!known.facts) return posix_.open(path, options);
    Store& store = store_of(*known.facts);
    known.exclusive = true;
    Result<std::unique_ptr<StoreFile>> made = store.open(path, known);
    const bool is_there = !made && made.error().system_errno == EEXIST;
    if (!is_there || options.exclusive) return made;
    // Another process created the file first, or the name is a link to a file that does not exist
    // yet, perhaps on another file system: without `facts` the store finds it out.
    return store.open(path, options);
  }

  Status remove(const std::string& path) override { return posix_.remove(path); }

  Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key, bool create) override {
    std::optional<FileSystemFacts> facts;
    if (create && !key.one_node) facts = facts_of_directory(key.file_path);
    return (facts ? store_of(*facts) : posix_).counter(key, create);
  }

  Result<std::int32_t> target_count(const std::string& path) override {
    const std::optional<FileSystemFacts> facts = facts_of_directory(path);
    return (facts ? store_of(*facts) : posix_).target_count(path);
  }

  bool has_flash_targets(const std::string& path) override {
    const std::optional<FileSystemFacts> facts = facts_of_directory(path);
    return facts && store_of(*facts).has_flash_targets(path);
  }

  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    const std::optional<FileSystemFacts> facts = facts_of_directory(path);
    return (facts ? store_of(*facts) : posix_).check_layout(path, layout);
  }

  void forget_counter(const CounterKey& key) override { posix_.forget_counter(key); }

 private:
  PosixStore posix_;
};

}  // namespace

std::shared_ptr<Store> default_store() {
  static const std::shared_ptr<Store> store = std::make_shared<MountedStore>();
  return store;
}

}  // namespace nacre::store
