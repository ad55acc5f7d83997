#include "store/ceph/ceph_store.h"

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/file_system.h"

namespace nacre::store {
namespace {

/// Whether this client may read a file before it has written its own bytes of it (see CephStore).
bool must_be_direct(const std::string& path, const OpenOptions& options) {
  if (!options.read || !options.write || options.one_node) return false;
  const std::optional<FileSystemFacts> facts = options.facts ? options.facts : facts_of_path(path);
  return facts && has_stale_pages(*facts);
}

}  // namespace

Result<Descriptor> CephStore::open_descriptor(const std::string& path, int flags,
                                              const OpenOptions& options) {
  if (must_be_direct(path, options)) flags |= O_DIRECT;
  if (!options.create || !options.layout) {
    return PosixStore::open_descriptor(path, flags, options);
  }
  Result<Descriptor> created = PosixStore::open_descriptor(path, flags | O_EXCL, options);
  if (!created) {
    const bool is_there = created.error().system_errno == EEXIST && !options.exclusive;
    return is_there ? PosixStore::open_descriptor(path, flags, options) : std::move(created);
  }
  CephLayouts layouts(created->number(), path);
  Status set = layouts.set(*options.layout);
  if (set || layouts.means_not_owner(set.error())) return created;
  static_cast<void>(::unlink(path.c_str()));
  return std::move(set).error();
}

std::unique_ptr<StoreFile> CephStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return PosixStore::make_file(std::move(opened));
  return std::make_unique<LaidOutFile<CephLayouts>>(std::move(opened));
}

}  // namespace nacre::store
