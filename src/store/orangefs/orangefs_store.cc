#include "store/orangefs/orangefs_store.h"

#include <cerrno>
#include <utility>

namespace nacre::store {

Status OrangefsStore::check_layout(const std::string& path, const plan::Layout& /*layout*/) {
  return Error{ErrorClass::unsupported_operation, EOPNOTSUPP,
               "striping hints for " + path +
                   ": a new file on OrangeFS gets the layout of its directory (docs/orangefs.md)"};
}

std::unique_ptr<StoreFile> OrangefsStore::make_file(OpenedFile opened) {
  if (!opened.facts.has_layouts) return PosixStore::make_file(std::move(opened));
  return std::make_unique<LaidOutFile<OrangefsLayouts>>(std::move(opened));
}

}  // namespace nacre::store
