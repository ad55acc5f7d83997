// Placing accesses in the file, and independent accesses.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "collective/files/independent.h"
#include "collective/rounds/scratch.h"
#include "file/open_file.h"
#include "plan/layout/layout.h"
#include "plan/types/strided_copy.h"

namespace nacre::file {
namespace {

using plan::Direction;

/// Moves a converted access through a buffer of bounded size, whole elements at a time.
class ConvertedMover {
 public:
  ConvertedMover(store::StoreFile& file, const Access& access, const plan::FileAccess& in_file,
                 std::int64_t element_file_bytes)
      : file_(file), access_(access), in_file_(in_file), element_file_bytes_(element_file_bytes) {}

  /// The bytes in the file. A read counts whole basic elements only.
  store::Transfer run(const collective::IndependentSettings& settings,
                      collective::Profiler& profiler) {
    const bool reads = access_.direction == Direction::read;
    const std::int64_t wanted = reads ? settings.read_buffer_bytes : settings.write_buffer_bytes;
    const std::int64_t elements_max = std::max<std::int64_t>(wanted / element_file_bytes_, 1);
    const std::int64_t elements = in_file_.byte_count / element_file_bytes_;
    store::Transfer done;
    const std::int64_t buffer_bytes = std::min(elements, elements_max) * element_file_bytes_;
    const Result<std::span<std::byte>> taken =
        scratch_.try_take(buffer_bytes, "to convert data in");
    if (!taken) return {0, taken.error()};
    buffer_ = *taken;
    for (std::int64_t first = 0; first < elements && !done.error; first += elements_max) {
      const std::int64_t count = std::min(elements_max, elements - first);
      store::Transfer moved = move(first, count, settings, profiler);
      done.bytes += moved.bytes;
      done.error = std::move(moved.error);
      if (moved.bytes < count * element_file_bytes_) break;
    }
    return done;
  }

 private:
  store::Transfer move(std::int64_t first, std::int64_t count,
                       const collective::IndependentSettings& settings,
                       collective::Profiler& profiler) {
    const plan::TypeMap& type = access_.memory.type;
    const plan::MemoryAccess user{plan::at(access_.memory.base, first * type.extent()), type,
                                  count * type.size()};
    const std::int64_t bytes = count * element_file_bytes_;
    const plan::FileAccess in_file{in_file_.view, in_file_.first_byte + first * element_file_bytes_,
                                   bytes};
    const std::span<std::byte> stream = buffer_.first(checked_cast<std::size_t>(bytes));
    const plan::MemoryAccess packed{stream.data(), plan::TypeMap::bytes(1), bytes};
    const bool reads = access_.direction == Direction::read;
    if (!reads) {
      const collective::PhaseScope scope(profiler, collective::Phase::copy);
      if (Status filled = access_.converter->to_file(user, stream); !filled) {
        return {0, std::move(filled).error()};
      }
    }
    store::Transfer moved =
        collective::access_runs(file_, {access_.direction, in_file, packed}, settings, profiler);
    if (!reads) return moved;
    const collective::PhaseScope scope(profiler, collective::Phase::copy);
    moved.bytes = access_.converter->whole_part(moved.bytes).file_bytes;
    Status emptied =
        access_.converter->from_file(user, stream.first(checked_cast<std::size_t>(moved.bytes)));
    if (!emptied && !moved.error) return {0, std::move(emptied).error()};
    return moved;
  }

  store::StoreFile& file_;
  const Access& access_;
  const plan::FileAccess& in_file_;
  std::int64_t element_file_bytes_;
  collective::Scratch scratch_;
  std::span<std::byte> buffer_;
};

}  // namespace

std::int64_t OpenFile::PlacedAccess::memory_bytes(std::int64_t bytes) const {
  if (access.converter == nullptr) return bytes;
  return access.converter->whole_part(bytes).native_bytes;
}

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

/// Computes the size of the access, before its position is known.
Status OpenFile::measure(PlacedAccess& placed) const {
  const Access& access = placed.access;
  if (Status allowed = check_access(access); !allowed) return allowed;
  Snapshot now = snapshot();
  placed.view = std::move(now.view);
  placed.settings = std::move(now.settings);
  placed.stripes = std::move(now.stripes);
  placed.file_bytes = access.memory.byte_count;
  if (access.converter == nullptr || access.memory.byte_count == 0) return {};
  const Result<std::int64_t> bytes = access.converter->file_bytes(access.memory.byte_count);
  if (!bytes) return bytes.error();
  const Result<std::int64_t> element = access.converter->file_bytes(access.memory.type.size());
  if (!element) return element.error();
  placed.file_bytes = *bytes;
  placed.element_file_bytes = *element;
  return {};
}

Status OpenFile::place(PlacedAccess& placed, std::int64_t offset_etypes) const {
  Result<plan::FileAccess> file = access_at(*placed.view, offset_etypes, placed.file_bytes);
  if (!file) {
    return Error{file.error().error_class, 0, path_ + ": " + file.error().message};
  }
  placed.file = *std::move(file);
  placed.offset_etypes = offset_etypes;
  return {};
}

Status OpenFile::place_individual(PlacedAccess& placed) {
  const std::lock_guard guard(mutex_);
  if (Status fits = place(placed, position_); !fits) return fits;
  position_ += placed.etypes();
  return {};
}

Status OpenFile::place_shared(PlacedAccess& placed) {
  // Whether the size fits the view is the same at every offset. If it does not, the pointer stays.
  if (Status fits = place(placed, 0); !fits || placed.file_bytes == 0) return fits;
  const Result<std::int64_t> position = shared_pointer_.fetch_add(placed.etypes());
  if (!position) return position.error();
  return place(placed, *position);
}

Status OpenFile::place_now(PlacedAccess& placed) {
  if (Status measured = measure(placed); !measured) return measured;
  switch (placed.access.position) {
    case Position::explicit_offset:
      return place(placed, placed.access.offset);
    case Position::individual:
      return place_individual(placed);
    case Position::shared:
      return place_shared(placed);
    case Position::ordered:
      // place_ordered() knows the position. Whether the size fits the view is the same at each.
      return place(placed, 0);
  }
  return {};
}

/// After a read that reached the end of the file, moves the pointer back to that end, unless
/// another thread has moved it.
void OpenFile::rewind_unread(const PlacedAccess& placed, std::int64_t file_bytes_read) {
  const std::int64_t etype_size = placed.view->etype_size;
  const std::int64_t begin = placed.offset_etypes;
  const std::lock_guard guard(mutex_);
  if (position_ != begin + placed.etypes() || view_ != placed.view) return;
  position_ = begin + divide_up(file_bytes_read, etype_size);
}

/// Two writers should not share a block of this size.
std::int64_t OpenFile::block_bytes(const plan::StripeMap* stripes) const {
  const std::int64_t block = file_system_.block_size_bytes;
  if (stripes == nullptr) return block;
  const std::int64_t unit = stripes->regions().back().unit_bytes();
  return stripes->names_osts() ? std::min(block, unit) : unit;
}

collective::FileTraits OpenFile::traits_of(const plan::StripeMap* stripes,
                                           std::int64_t block_bytes) const {
  return {stripes, block_bytes, stripes != nullptr || file_system_.has_layouts};
}

bool OpenFile::locks_accesses(const AccessSettings& settings) const {
  return atomic_.load(std::memory_order_relaxed) || settings.coherence == Coherence::locked ||
         (settings.coherence == Coherence::automatic && !file_system_.coherent && !one_node_);
}

Result<OpenFile::Exclusion> OpenFile::exclude_others(store::StoreFile& file,
                                                     const PlacedAccess& placed, bool locked,
                                                     collective::Profiler& profiler) {
  const bool writes = placed.access.direction == Direction::write;
  Exclusion exclusion;
  // A sieving write must not write back old bytes over those of another thread.
  if (!locked && !(writes && placed.settings->independent.write_sieving)) return exclusion;
  const collective::PhaseScope scope(profiler, collective::Phase::lock);
  exclusion.threads = std::unique_lock(locked_access_mutex_);
  if (!locked) return exclusion;
  Result<std::unique_ptr<store::FileLock>> lock = file.lock(
      plan::bounds(placed.file), writes ? store::LockKind::exclusive : store::LockKind::shared);
  if (!lock) return std::move(lock).error();
  profiler.profile().locks.add(1);
  exclusion.processes = *std::move(lock);
  return exclusion;
}

/// Returns bytes of the file. The profiler is in Phase::file.
store::Transfer OpenFile::move_independent(const PlacedAccess& placed, bool locked,
                                           collective::Profiler& profiler) {
  if (placed.file_bytes == 0) return {};
  const Result<store::StoreFile*> file = file_.file();
  if (!file) return {0, file.error()};
  const plan::StripeMap* const stripes = placed.stripes.get();
  const bool has_unknown_stripes = stripes == nullptr && file_system_.has_layouts;
  const std::int64_t block = has_unknown_stripes ? plan::stripe_size_unit : block_bytes(stripes);
  profiler.describe_file(traits_of(stripes, block));
  const bool writes = placed.access.direction == Direction::write;
  (writes ? wrote_ : read_alone_).store(true, std::memory_order_relaxed);
  collective::IndependentSettings settings = placed.settings->independent;
  settings.call_cost_bytes = file_system_.call_cost_bytes;
  // A sieving write reads the file and acquires a lock, which `locked` already holds.
  settings.write_sieving = settings.write_sieving && mode_.read && !locked;
  const Result<Exclusion> exclusion = exclude_others(**file, placed, locked, profiler);
  if (!exclusion) return {0, exclusion.error()};
  if (placed.access.converter != nullptr) {
    ConvertedMover mover(**file, placed.access, placed.file, placed.element_file_bytes);
    return mover.run(settings, profiler);
  }
  return collective::access_runs(
      **file, {placed.access.direction, placed.file, placed.access.memory}, settings, profiler);
}

Outcome OpenFile::transfer(Access access) {
  collective::Profile& profile = profile_.of(access.direction, false);
  const std::int64_t weight = profile.count_call(access.memory.byte_count);
  const bool is_shared = access.position == Position::shared;
  collective::Profiler profiler(
      profile, is_shared ? collective::Phase::lock : collective::Phase::file, weight);
  PlacedAccess placed(std::move(access));
  Status ready = place_now(placed);
  if (is_shared) profile.locks.add(1);
  profiler.enter(collective::Phase::file);
  if (!ready) {
    profile.errors.add(1);
    return {0, std::move(ready).error()};
  }
  profile.shape.note(placed.file);
  store::Transfer moved = move_independent(placed, locks_accesses(*placed.settings), profiler);
  const bool reads = placed.access.direction == Direction::read;
  const bool short_read = reads && moved.bytes < placed.file_bytes;
  if (short_read && placed.access.position == Position::individual) {
    rewind_unread(placed, moved.bytes);
  }
  Outcome outcome{placed.memory_bytes(moved.bytes), std::move(moved.error)};
  profile.bytes.add(outcome.bytes);
  if (outcome.error) profile.errors.add(1);
  return outcome;
}

}  // namespace nacre::file
