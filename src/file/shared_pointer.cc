#include "file/shared_pointer.h"

#include <utility>

#include "base/checked_cast.h"

namespace nacre::file {

Result<store::SharedCounter*> SharedPointer::attached() {
  if (counter_ != nullptr) return counter_.get();
  Result<std::unique_ptr<store::SharedCounter>> found = store_.counter(key_, false);
  if (!found) {
    if (found.error().error_class == ErrorClass::no_such_file) {
      return static_cast<store::SharedCounter*>(nullptr);
    }
    return std::move(found).error();
  }
  counter_ = *std::move(found);
  return counter_.get();
}

/// Several ranks may try to create the counter at once: one creates it, the others attach to it.
Result<store::SharedCounter*> SharedPointer::created() {
  Result<store::SharedCounter*> existing = attached();
  if (!existing || *existing != nullptr) return existing;
  Result<std::unique_ptr<store::SharedCounter>> fresh = store_.counter(key_, true);
  if (!fresh && fresh.error().error_class == ErrorClass::file_exists) {
    fresh = store_.counter(key_, false);
  }
  if (!fresh) return std::move(fresh).error();
  counter_ = *std::move(fresh);
  return counter_.get();
}

Result<std::int64_t> SharedPointer::fetch_add(std::int64_t etypes) {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = created();
  if (!shared) return shared.error();
  const Result<std::int64_t> before = (*shared)->fetch_add(etypes);
  if (!before) return before.error();
  return position_at(*before);
}

/// The counter wraps on overflow.
Result<std::int64_t> SharedPointer::position_at(std::int64_t count) const {
  const auto position = checked_add(base_, count);
  if (count >= 0 && position) return *position;
  return Error{ErrorClass::arg, 0, key_.file_path + ": the shared file pointer exceeds 64 bits"};
}

Result<std::int64_t> SharedPointer::get() {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = attached();
  if (!shared) return shared.error();
  if (*shared == nullptr) return base_;
  const Result<std::int64_t> value = (*shared)->get();
  if (!value) return value.error();
  return position_at(*value);
}

void SharedPointer::set_base(std::int64_t etypes) {
  const std::lock_guard guard(mutex_);
  base_ = etypes;
}

Status SharedPointer::reset() {
  const std::lock_guard guard(mutex_);
  const Result<store::SharedCounter*> shared = attached();
  if (!shared) return shared.error();
  return *shared == nullptr ? Status() : (*shared)->set(0);
}

bool SharedPointer::used() {
  const std::lock_guard guard(mutex_);
  return counter_ != nullptr;
}

}  // namespace nacre::file
