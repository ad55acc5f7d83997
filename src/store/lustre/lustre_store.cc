#include "store/lustre/lustre_store.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/lustre/lustre_store_file.h"

namespace nacre::store {
namespace {

/// Whether a file that this open makes is not to have its directory's layout at once.
bool sets_layout(const std::string& path, const OpenOptions& options) {
  if (!options.create) return false;
  if (options.layout) return true;
  // What its owner may not write gets none later.
  const bool is_later =
      options.layout_time != LayoutTime::at_once && (options.permissions & S_IWUSR) != 0;
  return is_later && !has_default_layout(path, options.layout_time == LayoutTime::later);
}

}  // namespace

int LustreStore::counter_flags() const { return O_APPEND; }

Result<Descriptor> LustreStore::open_descriptor(const std::string& path, int flags,
                                                const OpenOptions& options) {
  if (options.leaves_layout_open) flags |= delays_layout_flag();
  const bool sets = sets_layout(path, options);
  if (sets) {
    Result<Descriptor> created = create_striped(path, flags, options.permissions, options.layout);
    if (created || options.exclusive || created.error().system_errno != EEXIST) return created;
    flags |= delays_layout_flag();  // it may be there without one
  }
  Result<Descriptor> file = PosixStore::open_descriptor(path, flags, options);
  // Does nothing to a file that has one; a file without, which nothing was written to, may refuse
  // what a new one refuses, and then has that of its directory when it is written.
  if (file && sets && options.layout) {
    static_cast<void>(LustreLayouts(file->number(), path).set(*options.layout));
  }
  return file;
}

std::unique_ptr<StoreFile> LustreStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return PosixStore::make_file(std::move(opened));
  return std::make_unique<LustreStoreFile>(std::move(opened));
}

}  // namespace nacre::store
