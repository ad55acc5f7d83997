#include "testbed/object_store.h"

#include <algorithm>
#include <vector>

#include "base/checked_cast.h"

namespace nacre::testbed {

std::shared_ptr<ObjectStore::Object> ObjectStore::find(const ObjectName& name) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<Object>& found = objects_[name];
  if (found == nullptr) found = std::make_shared<Object>();
  return found;
}

void ObjectStore::read(const ObjectName& name, std::span<std::byte> to, std::int64_t offset) {
  const std::shared_ptr<Object> object = find(name);
  const std::lock_guard guard(object->mutex);
  const std::int64_t there = object->bytes.read(to, offset);
  std::ranges::fill(to.subspan(static_cast<std::size_t>(there)), std::byte{0});
}

void ObjectStore::write(const ObjectName& name, std::span<const std::byte> from,
                        std::int64_t offset) {
  const std::shared_ptr<Object> object = find(name);
  const std::lock_guard guard(object->mutex);
  object->bytes.write(from, offset);
}

void ObjectStore::truncate(const ObjectName& name, std::int64_t size) {
  const std::shared_ptr<Object> object = find(name);
  const std::lock_guard guard(object->mutex);
  if (size < object->bytes.size()) object->bytes.resize(size);
}

void ObjectStore::erase(const ObjectName& name, const Extent& extent) {
  const std::shared_ptr<Object> object = find(name);
  const std::lock_guard guard(object->mutex);
  const Extent there = intersection(extent, {0, object->bytes.size()});
  object->bytes.write(std::vector<std::byte>(checked_cast<std::size_t>(there.length)),
                      there.offset);
}

void ObjectStore::remove(const ObjectName& name) {
  const std::lock_guard guard(mutex_);
  objects_.erase(name);
}

}  // namespace nacre::testbed
