// Data access: from what a program asks for to the store or the engine.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "collective/group.h"
#include "collective/independent.h"
#include "file/open_file.h"

namespace nacre::file {
namespace {

using plan::Direction;

/// The packed form in the file of a converted access.
class Staging {
 public:
  Staging(const Access& access, std::int64_t file_bytes)
      : access_(access),
        bytes_(access.converter != nullptr ? static_cast<std::size_t>(file_bytes) : 0) {}

  [[nodiscard]] bool used() const { return access_.converter != nullptr; }
  /// What the store sees in place of the program's buffer.
  [[nodiscard]] plan::MemoryAccess memory() {
    if (!used()) return access_.memory;
    return {bytes_.data(), plan::TypeMap::bytes(1), std::ssize(bytes_)};
  }
  [[nodiscard]] Status fill() {
    if (!used() || access_.direction == Direction::read) return {};
    return access_.converter->to_file(access_.memory, bytes_);
  }
  /// Converts what was read.
  [[nodiscard]] Status empty(std::int64_t file_bytes) {
    if (!used() || access_.direction == Direction::write) return {};
    return access_.converter->from_file(
        access_.memory, std::span(bytes_).first(static_cast<std::size_t>(file_bytes)));
  }

 private:
  const Access& access_;
  std::vector<std::byte> bytes_;
};

/// File bytes as bytes of memory: whole elements convert alike.
std::int64_t memory_bytes(const Access& access, std::int64_t file_bytes,
                          std::int64_t file_bytes_asked) {
  if (access.converter == nullptr || file_bytes_asked == 0) return file_bytes;
  if (file_bytes == file_bytes_asked) return access.memory.byte_count;
  const double part = static_cast<double>(file_bytes) / static_cast<double>(file_bytes_asked);
  return static_cast<std::int64_t>(part * static_cast<double>(access.memory.byte_count));
}

/// Ends an access: converts what was read, counts in bytes of memory.
Outcome concluded(const Access& access, Staging& staging, store::Transfer moved,
                  std::int64_t file_bytes_asked) {
  Outcome outcome{memory_bytes(access, moved.bytes, file_bytes_asked), std::move(moved.error)};
  if (Status converted = staging.empty(moved.bytes); !converted && !outcome.error) {
    outcome.error = std::move(converted).error();
  }
  return outcome;
}

}  // namespace

Status OpenFile::check_access(const Access& access) const {
  const bool write = access.direction == Direction::write;
  if (write && !mode_.write) {
    return Error{ErrorClass::read_only, 0,
                 "write to " + path_ + ": the file was opened with MPI_MODE_RDONLY"};
  }
  if (!write && !mode_.read) {
    return Error{ErrorClass::access, 0,
                 "read from " + path_ + ": the file was opened with MPI_MODE_WRONLY"};
  }
  if (access.position == Position::explicit_offset || access.position == Position::individual) {
    return check_mode_for_pointers("an access that is not by the shared pointer");
  }
  return {};
}

/// How long the access is, before it is known where.
Result<OpenFile::PlacedAccess> OpenFile::measure(const Access& access) const {
  if (Status allowed = check_access(access); !allowed) return std::move(allowed).error();
  Snapshot now = snapshot();
  PlacedAccess placed{
      access, std::move(now.view), std::move(now.settings), {}, access.memory.byte_count};
  if (access.converter != nullptr) {
    const Result<std::int64_t> bytes = access.converter->file_bytes(access.memory.byte_count);
    if (!bytes) return bytes.error();
    placed.file_bytes = *bytes;
  }
  // Every offset tells alike whether the length suits the view.
  if (Status fits = place(placed, 0); !fits) return std::move(fits).error();
  return placed;
}

Status OpenFile::place(PlacedAccess& placed, std::int64_t offset_etypes) const {
  Result<plan::FileAccess> file = access_at(*placed.view, offset_etypes, placed.file_bytes);
  if (!file) {
    return Error{file.error().error_class, 0, path_ + ": " + file.error().message};
  }
  placed.file = *std::move(file);
  return {};
}

Result<std::int64_t> OpenFile::take_individual(std::int64_t etypes) {
  const std::lock_guard guard(mutex_);
  const std::int64_t position = position_;
  position_ += etypes;
  return position;
}

Result<std::int64_t> OpenFile::take_position(const PlacedAccess& placed) {
  const std::int64_t etypes = placed.file_bytes / placed.view->etype_size;
  switch (placed.access.position) {
    case Position::explicit_offset:
      return placed.access.offset;
    case Position::individual:
      return take_individual(etypes);
    case Position::shared:
      return shared_pointer_.fetch_add(etypes);
    case Position::ordered:
      return 0;  // known once the ranks before have said how much they have
  }
  return 0;
}

Result<OpenFile::PlacedAccess> OpenFile::place_now(const Access& access) {
  Result<PlacedAccess> placed = measure(access);
  if (!placed) return placed;
  const Result<std::int64_t> position = take_position(*placed);
  if (!position) return position.error();
  if (Status fits = place(*placed, *position); !fits) return std::move(fits).error();
  return placed;
}

/// A read that met the end of the file leaves the pointer there, unless somebody moved it
/// meanwhile.
void OpenFile::give_back_unread(const PlacedAccess& placed, std::int64_t file_bytes_read) {
  const std::int64_t etype_size = placed.view->etype_size;
  const std::int64_t begin = placed.file.first_byte / etype_size;
  const std::lock_guard guard(mutex_);
  if (position_ != begin + placed.file_bytes / etype_size || view_ != placed.view) return;
  position_ = begin + (file_bytes_read + etype_size - 1) / etype_size;
}

bool OpenFile::locks_accesses(const AccessSettings& settings) const {
  return atomic_.load(std::memory_order_relaxed) || settings.coherence == Coherence::locked ||
         (settings.coherence == Coherence::automatic && !coherent_);
}

store::Transfer OpenFile::move_independent(const PlacedAccess& placed,
                                           const plan::MemoryAccess& memory) {
  if (placed.file_bytes == 0) return {};
  const Result<store::StoreFile*> file = file_.file();
  if (!file) return {0, file.error()};
  const Direction direction = placed.access.direction;
  if (direction == Direction::write) wrote_.store(true, std::memory_order_relaxed);
  collective::IndependentSettings settings = placed.settings->independent;
  settings.write_sieving = settings.write_sieving && mode_.read;
  collective::Counters counters;
  const collective::IndependentAccess access{direction, placed.file, memory};

  const bool sieves = settings.write_sieving && direction == Direction::write;
  if (!locks_accesses(*placed.settings)) {
    std::unique_lock<std::mutex> alone;
    if (sieves) alone = std::unique_lock(locked_access_mutex_);
    return collective::access_runs(**file, access, settings, counters);
  }
  const std::lock_guard alone(locked_access_mutex_);
  settings.write_sieving = false;  // the lock is held already
  const Result<std::unique_ptr<store::RangeLock>> lock = (*file)->lock(
      plan::bounds(placed.file),
      direction == Direction::write ? store::LockKind::exclusive : store::LockKind::shared);
  if (!lock) return {0, lock.error()};
  return collective::access_runs(**file, access, settings, counters);
}

Outcome OpenFile::transfer(const Access& access) {
  Result<PlacedAccess> placed = place_now(access);
  if (!placed) return {0, std::move(placed).error()};
  Staging staging(placed->access, placed->file_bytes);
  if (Status filled = staging.fill(); !filled) return {0, std::move(filled).error()};
  store::Transfer moved = move_independent(*placed, staging.memory());
  const bool short_read = access.direction == Direction::read && moved.bytes < placed->file_bytes;
  if (short_read && access.position == Position::individual) {
    give_back_unread(*placed, moved.bytes);
  }
  Outcome outcome = concluded(access, staging, std::move(moved), placed->file_bytes);
  count(access.direction, outcome.bytes);
  return outcome;
}

collective::Task<Outcome> OpenFile::transfer_all(Access access, std::optional<Error> refusal) {
  const Routine routine{access.direction, access.position};
  if (refusal) return run_all(routine, *std::move(refusal));
  return run_all(routine, place_now(access));
}

/// Ranks come one after the other at the shared pointer, in rank order; one that refuses has
/// nothing there.
collective::Task<Result<OpenFile::PlacedAccess>> OpenFile::place_ordered(
    Result<PlacedAccess> placed) {
  const std::int64_t own = placed ? placed->file_bytes / placed->view->etype_size : 0;
  auto summing = collective::prefix_sum(*transport_, own);
  const collective::PrefixSum etypes = co_await summing;
  std::int64_t base = 0;
  if (transport_->rank() == 0) {
    const Result<std::int64_t> taken = shared_pointer_.fetch_add(etypes.total);
    if (taken) {
      base = *taken;
    } else {
      placed = taken.error();
    }
  }
  auto spreading =
      collective::broadcast(*transport_, std::as_writable_bytes(std::span(&base, 1)), 0);
  co_await spreading;
  if (!placed) co_return placed;
  if (Status fits = place(*placed, base + etypes.before); !fits) placed = std::move(fits).error();
  co_return placed;
}

/// Every rank by itself under its lock, then all agree: atomic mode, and file systems whose clients
/// do not.
collective::Task<store::Transfer> OpenFile::move_all_locked(const Result<PlacedAccess>& placed,
                                                            plan::MemoryAccess memory) {
  store::Transfer moved;
  if (placed) {
    moved = move_independent(*placed, memory);
  } else {
    moved.error = placed.error();
  }
  Status status;
  if (moved.error) status = *moved.error;
  auto agreement = collective::agree(*transport_, std::move(status));
  Status agreed = co_await agreement;
  if (!agreed) moved.error = std::move(agreed).error();
  co_return moved;
}

collective::Task<store::Transfer> OpenFile::move_all_by_engine(Direction direction,
                                                               const Result<PlacedAccess>& placed,
                                                               plan::MemoryAccess memory) {
  const std::shared_ptr<const AccessSettings> settings = snapshot().settings;
  collective::CollectiveCall call;
  call.direction = direction;
  call.independent = settings->independent;
  call.independent.write_sieving = false;
  if (placed) {
    call.file = placed->file;
    call.memory = std::move(memory);
  } else {
    call.refusal = placed.error();
  }
  if (direction == Direction::write) wrote_.store(true, std::memory_order_relaxed);
  plan::CollectiveSettings collective_settings =
      direction == Direction::read ? settings->collective_read : settings->collective_write;
  collective_settings.alignment_bytes = block_size_bytes_;
  auto running =
      collective::run_collective(*transport_, file_, std::move(call), collective_settings);
  collective::Outcome outcome = co_await running;
  co_return store::Transfer{outcome.bytes, std::move(outcome.error)};
}

collective::Task<Outcome> OpenFile::run_all(Routine routine, Result<PlacedAccess> placed) {
  if (routine.position == Position::ordered) {
    auto placing = place_ordered(std::move(placed));
    placed = co_await placing;
  }
  const Access access = placed ? placed->access : Access{};
  const std::int64_t file_bytes = placed ? placed->file_bytes : 0;
  Staging staging(access, file_bytes);
  if (Status filled = staging.fill(); !filled) placed = std::move(filled).error();

  store::Transfer moved;
  if (locks_accesses(*snapshot().settings)) {
    auto moving = move_all_locked(placed, staging.memory());
    moved = co_await moving;
  } else {
    auto moving = move_all_by_engine(routine.direction, placed, staging.memory());
    moved = co_await moving;
  }
  Outcome outcome = concluded(access, staging, std::move(moved), file_bytes);
  count(routine.direction, outcome.bytes);
  co_return outcome;
}

}  // namespace nacre::file
