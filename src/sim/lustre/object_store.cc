#include "sim/lustre/object_store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <system_error>
#include <utility>

#include "base/checked_cast.h"
#include "store/posix/posix_store.h"
#include "store/system/errno.h"
#include "testing/memory_store.h"

namespace nacre::sim {
namespace {

constexpr unsigned owner_only = 0600;

std::string directory_name(std::int32_t ost) {
  return ost == metadata_target ? "mdt" : std::to_string(ost);
}

/// Success if the object does not exist because it was never written, else `error`.
Status unless_absent(const Error& error) { return error.system_errno == ENOENT ? Status() : error; }

/// Writes to the file and closes it.
store::Transfer write_to(store::StoreFile& file, std::span<const std::byte> from,
                         std::int64_t offset) {
  const store::WritePiece piece{from.data(), std::ssize(from)};
  store::Transfer done = file.write({&piece, 1}, offset);
  const Status closed = file.close();
  if (!done.error && !closed) done.error = closed.error();
  // FUSE reports only the errno, and 0 means success.
  if (done.error && done.error->system_errno == 0) done.error->system_errno = EIO;
  return done;
}

}  // namespace

ObjectStore::ObjectStore() : ObjectStore(std::make_shared<testing::MemoryStore>(), "") {}

ObjectStore::ObjectStore(std::shared_ptr<store::Store> files, std::string directory)
    : files_(std::move(files)), directory_(std::move(directory)) {}

Result<ObjectStore> ObjectStore::on_disk(const std::string& directory, std::int64_t ost_count) {
  ObjectStore made(std::make_shared<store::PosixStore>(), directory);
  if (Status root = made.make_directory(directory); !root) return root.error();
  std::error_code failure;
  const bool is_empty = std::filesystem::is_empty(directory, failure);
  if (failure)
    return store::error_from_errno(failure.value(), "read the directory for objects", directory);
  if (!is_empty) {
    return Error{
        ErrorClass::arg, ENOTEMPTY,
        "the directory for objects is not empty: " + directory +
            "; name another directory, or delete the objects that a killed testbed left in it"};
  }
  for (std::int32_t ost = metadata_target; ost < ost_count; ++ost) {
    Status one = made.make_directory(directory + "/" + directory_name(ost));
    if (!one) return one.error();
  }
  return made;
}

Status ObjectStore::make_directory(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::create_directory(path, failure)) created_.push_back(path);
  if (!failure) return {};
  return store::error_from_errno(failure.value(), "make the directory for objects", path);
}

ObjectStore::~ObjectStore() {
  std::error_code ignored;
  for (const std::string& path : created_ | std::views::reverse) {
    std::filesystem::remove(path, ignored);
  }
}

std::string ObjectStore::path_of(const ObjectName& name) const {
  return directory_ + "/" + directory_name(name.ost) + "/" + std::to_string(name.number);
}

/// ENOENT if the object does not exist.
Result<std::unique_ptr<store::StoreFile>> ObjectStore::open(const ObjectName& name) const {
  return files_->open(path_of(name), {.read = true, .write = true});
}

Status ObjectStore::read(const ObjectName& name, std::span<std::byte> to, std::int64_t offset) {
  store::Transfer done;
  if (const auto file = open(name)) {
    const store::ReadPiece piece{to.data(), std::ssize(to)};
    done = (*file)->read({&piece, 1}, offset);
  } else if (Status absent = unless_absent(file.error()); !absent) {
    return absent;
  }
  if (done.error) return *std::move(done.error);
  std::ranges::fill(to.subspan(checked_cast<std::size_t>(done.bytes)), std::byte{0});
  return {};
}

store::Transfer ObjectStore::write(const ObjectName& name, std::span<const std::byte> from,
                                   std::int64_t offset) {
  const auto file =
      files_->open(path_of(name), {.write = true, .create = true, .permissions = owner_only});
  return file ? write_to(**file, from, offset) : store::Transfer{0, file.error()};
}

Status ObjectStore::truncate(const ObjectName& name, std::int64_t size) {
  const auto file = open(name);
  if (!file) return unless_absent(file.error());
  const Result<std::int64_t> there = (*file)->size();
  if (!there) return there.error();
  return size < *there ? (*file)->resize(size) : Status();
}

Status ObjectStore::erase(const ObjectName& name, const Extent& extent) {
  const auto file = open(name);
  if (!file) return unless_absent(file.error());
  const Result<std::int64_t> size = (*file)->size();
  if (!size) return size.error();
  const Extent there = intersection(extent, {0, *size});
  const std::vector<std::byte> zeros(checked_cast<std::size_t>(there.length));
  const store::Transfer done = write_to(**file, zeros, there.offset);
  return done.error ? *done.error : Status();
}

Status ObjectStore::sync(const ObjectName& name) {
  const auto file = open(name);
  return file ? (*file)->sync() : unless_absent(file.error());
}

void ObjectStore::remove(const ObjectName& name) {
  static_cast<void>(files_->remove(path_of(name)));
}

}  // namespace nacre::sim
