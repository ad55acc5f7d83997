// Pointers, size and consistency.
#include <string>
#include <utility>

#include "base/bytes_of.h"
#include "base/checked_cast.h"
#include "collective/agreement/agreements.h"
#include "collective/node/first_on_node.h"
#include "file/open_file.h"
#include "store/file_system.h"

namespace nacre::file {

Status OpenFile::check_mode_for_pointers(const char* what) const {
  if (!mode_.sequential) return {};
  return Error{ErrorClass::unsupported_operation, 0,
               path_ + ": " + what + " on a file that was opened with MPI_MODE_SEQUENTIAL"};
}

std::int64_t OpenFile::displacement() const { return snapshot().view->map.origin; }

Result<std::int64_t> OpenFile::byte_offset(std::int64_t offset_etypes) const {
  return file::byte_offset(*snapshot().view, offset_etypes);
}

Result<std::int64_t> OpenFile::end_of_file() {
  const Result<std::int64_t> bytes = size();
  if (!bytes) return bytes.error();
  return etypes_in(*snapshot().view, *bytes);
}

/// Where a seek from etype `from` leads.
Result<std::int64_t> OpenFile::seek_target(std::int64_t offset_etypes,
                                           const Result<std::int64_t>& from) const {
  if (!from) return from.error();
  const auto target = checked_add(*from, offset_etypes);
  if (target && *target >= 0) return *target;
  return Error{ErrorClass::arg, 0,
               path_ + ": seek by " + std::to_string(offset_etypes) + " from etype " +
                   std::to_string(*from) + " ends outside the view"};
}

Status OpenFile::seek(std::int64_t offset_etypes, Whence whence) {
  if (Status allowed = check_mode_for_pointers("seek"); !allowed) return allowed;
  Result<std::int64_t> from = std::int64_t{0};
  if (whence == Whence::end) from = end_of_file();
  const std::lock_guard guard(mutex_);
  if (whence == Whence::current) from = position_;
  const Result<std::int64_t> target = seek_target(offset_etypes, from);
  if (!target) return target.error();
  position_ = *target;
  return {};
}

Result<std::int64_t> OpenFile::position() const {
  if (Status allowed = check_mode_for_pointers("get_position"); !allowed) {
    return std::move(allowed).error();
  }
  const std::lock_guard guard(mutex_);
  return position_;
}

/// Rank 0's argument to all. ErrorClass::not_same where another has a different one.
collective::Task<Status> OpenFile::agree_on_same(Argument argument, Status local,
                                                 const char* what) {
  Argument first = argument;
  auto spreading = collective::broadcast(*transport_, bytes_of(first), 0);
  co_await spreading;
  if (local && (first.value != argument.value || first.kind != argument.kind)) {
    local = Error{
        ErrorClass::not_same, 0,
        path_ + ": " + what + " with " + std::to_string(argument.value) +
            (first.value == argument.value ? ", but rank 0 passed a different whence"
                                           : ", but rank 0 passed " + std::to_string(first.value)) +
            "; all ranks must pass the same"};
  }
  auto agreement = collective::agree(*transport_, std::move(local));
  Status agreed = co_await agreement;
  co_return agreed;
}

collective::Task<Status> OpenFile::seek_shared(std::int64_t offset_etypes, Whence whence,
                                               std::optional<Error> refusal) {
  Status allowed = check_mode_for_pointers("seek_shared");
  if (refusal) allowed = *std::move(refusal);
  const Argument argument{offset_etypes, static_cast<std::int64_t>(whence)};
  auto agreement = agree_on_same(argument, std::move(allowed), "seek_shared");
  Status agreed = co_await agreement;
  if (!agreed) co_return agreed;

  // Rank 0 knows where the pointer is and sets it; the others learn its new base.
  std::int64_t target = 0;
  Status status;
  if (transport_->rank() == 0) {
    Result<std::int64_t> from = std::int64_t{0};
    if (whence == Whence::current) from = shared_pointer_.get();
    if (whence == Whence::end) from = end_of_file();
    const Result<std::int64_t> found = seek_target(offset_etypes, from);
    if (found) {
      target = *found;
      status = shared_pointer_.reset();
    } else {
      status = found.error();
    }
  }
  auto spreading = collective::broadcast(*transport_, bytes_of(target), 0);
  co_await spreading;
  auto ending = collective::agree(*transport_, std::move(status));
  Status outcome = co_await ending;
  if (outcome) shared_pointer_.set_base(target);
  co_return outcome;
}

Result<std::int64_t> OpenFile::position_shared() {
  if (Status allowed = check_mode_for_pointers("get_position_shared"); !allowed) {
    return std::move(allowed).error();
  }
  return shared_pointer_.get();
}

Result<std::int64_t> OpenFile::shared_byte_offset() {
  const Result<std::int64_t> position = shared_pointer_.get();
  if (!position) return position.error();
  const Snapshot now = snapshot();
  if (now.view->map.type.size() == 0) return now.view->map.origin;
  return file::byte_offset(*now.view, *position);
}

Result<std::int64_t> OpenFile::size() {
  const Result<store::StoreFile*> file = file_.file();
  if (!file) return file.error();
  return (*file)->size();
}

collective::Task<Status> OpenFile::resize(std::int64_t size_bytes) {
  return change_size(size_bytes, "set_size", &store::StoreFile::resize);
}

collective::Task<Status> OpenFile::preallocate(std::int64_t size_bytes) {
  return change_size(size_bytes, "preallocate", &store::StoreFile::allocate);
}

collective::Task<Status> OpenFile::change_size(std::int64_t size_bytes, const char* what,
                                               Status (store::StoreFile::*change)(std::int64_t)) {
  Status allowed;
  if (!mode_.write) {
    allowed = Error{ErrorClass::read_only, 0,
                    path_ + ": " + what + " on a file that was opened with MPI_MODE_RDONLY"};
  } else if (mode_.sequential) {
    allowed = check_mode_for_pointers(what);
  } else if (size_bytes < 0) {
    allowed = Error{
        ErrorClass::arg, 0,
        path_ + ": " + what + " with " + std::to_string(size_bytes) + " bytes; it takes 0 or more"};
  }
  const Argument argument{size_bytes};
  auto agreement = agree_on_same(argument, std::move(allowed), what);
  Status agreed = co_await agreement;
  if (!agreed) co_return agreed;
  choices_.forget_writes();
  auto growing = layout_.grow_before_write({size_bytes, size_bytes});
  co_await growing;
  Status status;
  if (transport_->rank() == 0) {
    const Result<store::StoreFile*> file = file_.file();
    if (file) {
      status = ((*file)->*change)(size_bytes);
    } else {
      status = file.error();
    }
  }
  auto ending = collective::agree(*transport_, std::move(status));
  Status outcome = co_await ending;
  co_return outcome;
}

collective::Task<Status> OpenFile::sync() {
  // A rank whose data others wrote has nothing to sync, and may never have opened the file. fsync
  // writes back what all processes of the node have written, and on Lustre asks every OST. Some
  // daemons write back only what was written through the same open file.
  store::StoreFile* file = file_.if_open();
  const bool has_written = file != nullptr && wrote_.load(std::memory_order_relaxed);
  bool syncs = has_written;
  if (!store::syncs_each_open(file_system_)) {
    auto choosing = collective::is_first_on_node(*transport_, has_written);
    syncs = co_await choosing;
  }
  Status status;
  if (syncs) status = file->sync();
  auto agreement = collective::agree(*transport_, std::move(status));
  Status agreed = co_await agreement;
  choices_.forget_size();
  co_return agreed;
}

collective::Task<Status> OpenFile::set_atomicity(bool atomic) {
  // Accesses in atomic mode acquire locks. Rank 0 has the file open; the others may.
  Status possible;
  store::StoreFile* const file = atomic ? file_.if_open() : nullptr;
  if (file != nullptr) possible = file->check_locks();
  const Argument argument{atomic ? 1 : 0};
  auto agreement = agree_on_same(argument, std::move(possible), "set_atomicity");
  Status agreed = co_await agreement;
  if (agreed) atomic_.store(atomic);
  choices_.forget_size();  // in atomic mode other file handles may have made the file shorter
  co_return agreed;
}

}  // namespace nacre::file
