#include "file/lazy_file.h"

#include "base/clock.h"
#include "file/layout/growing_layout.h"

namespace nacre::file {

Result<store::StoreFile*> LazyFile::create(const store::OpenOptions& options) {
  const std::lock_guard guard(mutex_);
  Result<std::unique_ptr<store::StoreFile>> opened = store_.open(path_, options);
  if (!opened) return std::move(opened).error();
  file_ = *std::move(opened);
  return file_.get();
}

Result<store::StoreFile*> LazyFile::file() {
  if (store::StoreFile* const ready = ready_.load(std::memory_order_acquire)) return ready;
  const std::lock_guard guard(mutex_);
  if (file_ == nullptr) {
    if (Status opened = open(); !opened) return std::move(opened).error();
  }
  ready_.store(file_.get(), std::memory_order_release);
  return file_.get();
}

/// With the lock held.
Status LazyFile::open() {
  const std::int64_t begin = monotonic_nanoseconds();
  Result<std::unique_ptr<store::StoreFile>> opened = store_.open(path_, options_);
  open_nanoseconds_ += monotonic_nanoseconds() - begin;
  if (!opened) return std::move(opened).error();
  if ((*opened)->identity() != identity_) {
    return Error{ErrorClass::file, 0,
                 "open " + path_ + ": the file was replaced by another since it was opened"};
  }
  file_ = *std::move(opened);
  if (grows_) file_ = std::make_unique<GrowingFile>(std::move(file_), expected_);
  return {};
}

void LazyFile::expect_growth(const std::optional<plan::ExpectedFile>& expected) {
  const std::lock_guard guard(mutex_);
  ready_.store(nullptr, std::memory_order_relaxed);
  grows_ = true;
  expected_ = expected;
  options_.leaves_layout_open = true;
  if (file_ != nullptr) file_ = std::make_unique<GrowingFile>(std::move(file_), expected_);
}

store::StoreFile* LazyFile::if_open() {
  const std::lock_guard guard(mutex_);
  return file_.get();
}

Status LazyFile::close() {
  const std::lock_guard guard(mutex_);
  if (file_ == nullptr) return {};
  ready_.store(nullptr, std::memory_order_relaxed);
  const std::unique_ptr<store::StoreFile> file = std::move(file_);
  return file->close();
}

}  // namespace nacre::file
