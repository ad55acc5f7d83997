#include "file/shared_pointer.h"

#include <utility>

namespace nacre::file {

/// Several ranks may be the first at once: one makes it, the others find that it is there.
Result<store::SharedCounter*> SharedPointer::counter() {
  if (counter_ != nullptr) return counter_.get();
  Result<std::unique_ptr<store::SharedCounter>> attached = store_.counter(key_, false);
  if (!attached && attached.error().error_class == ErrorClass::no_such_file) {
    attached = store_.counter(key_, true);
    if (!attached && attached.error().error_class == ErrorClass::file_exists) {
      attached = store_.counter(key_, false);
    }
  }
  if (!attached) return std::move(attached).error();
  counter_ = *std::move(attached);
  return counter_.get();
}

Result<std::int64_t> SharedPointer::fetch_add(std::int64_t etypes) {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = counter();
  if (!shared) return shared.error();
  const Result<std::int64_t> before = (*shared)->fetch_add(etypes);
  if (!before) return before.error();
  return base_ + *before;
}

Result<std::int64_t> SharedPointer::get() {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = counter();
  if (!shared) return shared.error();
  const Result<std::int64_t> value = (*shared)->get();
  if (!value) return value.error();
  return base_ + *value;
}

void SharedPointer::set_base(std::int64_t etypes) {
  const std::lock_guard guard(mutex_);
  base_ = etypes;
}

Status SharedPointer::reset() {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = counter();
  if (!shared) return shared.error();
  return (*shared)->set(0);
}

bool SharedPointer::used() {
  const std::lock_guard guard(mutex_);
  return counter_ != nullptr;
}

}  // namespace nacre::file
