// Data access: from what a program asks for to the store or the engine.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/checked_cast.h"
#include "base/fnv_hash.h"
#include "base/rounding.h"
#include "collective/agreement/agreements.h"
#include "collective/files/independent.h"
#include "collective/rounds/scratch.h"
#include "file/open_file.h"
#include "plan/algorithms/algorithm_table.h"

namespace nacre::file {
namespace {

using plan::Direction;

constexpr const char* to_convert = "to convert data in";

/// A collective access as the engine sees it: the program's buffer itself, or for a converted
/// access its packed form in the file.
class Staging {
 public:
  Staging(const Access& access, std::int64_t file_bytes)
      : access_(access), file_bytes_(file_bytes) {}

  /// The memory, for as long as this lives; of a write with what is to be written.
  [[nodiscard]] Result<plan::MemoryAccess> fill() {
    if (access_.converter == nullptr) return access_.memory;
    const Result<std::span<std::byte>> taken = scratch_.try_take(file_bytes_, to_convert);
    if (!taken) return taken.error();
    bytes_ = *taken;
    if (access_.direction == Direction::write) {
      Status converted = access_.converter->to_file(access_.memory, bytes_);
      if (!converted) return std::move(converted).error();
    }
    return plan::MemoryAccess{bytes_.data(), plan::TypeMap::bytes(1), std::ssize(bytes_)};
  }
  /// Converts what was read.
  [[nodiscard]] Status empty(std::int64_t file_bytes) {
    if (access_.converter == nullptr || access_.direction == Direction::write) return {};
    return access_.converter->from_file(access_.memory,
                                        bytes_.first(checked_cast<std::size_t>(file_bytes)));
  }

 private:
  const Access& access_;
  std::int64_t file_bytes_;
  collective::Scratch scratch_;
  std::span<std::byte> bytes_;
};

/// Of a call's group lock, unlike that of any other call of any open, as far as a hash goes: a file
/// system may take its time to take back what the call before has given back.
std::int32_t group_number(std::uint64_t open_id, std::int64_t call) {
  constexpr std::uint64_t numbers = std::numeric_limits<std::int32_t>::max();
  const std::string name = std::to_string(open_id) + ' ' + std::to_string(call);
  return static_cast<std::int32_t>(1 + fnv_hash(name) % numbers);
}

/// Moves a converted access through a buffer of bounded size, whole elements at a time.
class ConvertedMover {
 public:
  ConvertedMover(store::StoreFile& file, const Access& access, const plan::FileAccess& in_file,
                 std::int64_t element_file_bytes)
      : file_(file), access_(access), in_file_(in_file), element_file_bytes_(element_file_bytes) {}

  /// Of a read, what was not a whole basic element counts as not read.
  store::Transfer run(const collective::IndependentSettings& settings,
                      collective::Profiler& profiler) {
    const bool reads = access_.direction == Direction::read;
    const std::int64_t wanted = reads ? settings.read_buffer_bytes : settings.write_buffer_bytes;
    const std::int64_t elements_max = std::max<std::int64_t>(wanted / element_file_bytes_, 1);
    const std::int64_t elements = in_file_.byte_count / element_file_bytes_;
    store::Transfer done;
    const std::int64_t buffer_bytes = std::min(elements, elements_max) * element_file_bytes_;
    const Result<std::span<std::byte>> taken = scratch_.try_take(buffer_bytes, to_convert);
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
    const plan::MemoryAccess user{access_.memory.base + first * type.extent(), type,
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

bool is_converting(const View& view) {
  return view.representation != "native" && view.representation != "internal";
}

Status status_of(const std::optional<Error>& error) { return error ? Status(*error) : Status(); }

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

/// How long the access is, before it is known where.
Result<OpenFile::PlacedAccess> OpenFile::measure(const Access& access) const {
  if (Status allowed = check_access(access); !allowed) return std::move(allowed).error();
  Snapshot now = snapshot();
  PlacedAccess placed;
  placed.access = access;
  placed.view = std::move(now.view);
  placed.settings = std::move(now.settings);
  placed.file_bytes = access.memory.byte_count;
  if (access.converter != nullptr && access.memory.byte_count > 0) {
    const Result<std::int64_t> bytes = access.converter->file_bytes(access.memory.byte_count);
    if (!bytes) return bytes.error();
    const Result<std::int64_t> element = access.converter->file_bytes(access.memory.type.size());
    if (!element) return element.error();
    placed.file_bytes = *bytes;
    placed.element_file_bytes = *element;
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
  if (placed.file_bytes == 0) return {};
  const Result<std::int64_t> position = shared_pointer_.fetch_add(placed.etypes());
  if (!position) return position.error();
  return place(placed, *position);
}

Result<OpenFile::PlacedAccess> OpenFile::place_now(const Access& access) {
  Result<PlacedAccess> placed = measure(access);
  if (!placed) return placed;
  Status fits;
  switch (access.position) {
    case Position::explicit_offset:
      fits = place(*placed, access.offset);
      break;
    case Position::individual:
      fits = place_individual(*placed);
      break;
    case Position::shared:
      fits = place_shared(*placed);
      break;
    case Position::ordered:
      break;  // known once the ranks before have said how much they have
  }
  if (!fits) return std::move(fits).error();
  return placed;
}

/// A read that met the end of the file leaves the pointer there, unless somebody moved it
/// meanwhile.
void OpenFile::rewind_unread(const PlacedAccess& placed, std::int64_t file_bytes_read) {
  const std::int64_t etype_size = placed.view->etype_size;
  const std::int64_t begin = placed.offset_etypes;
  const std::lock_guard guard(mutex_);
  if (position_ != begin + placed.etypes() || view_ != placed.view) return;
  position_ = begin + divide_up(file_bytes_read, etype_size);
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
  // A sieving write of another thread must not write back what this one has just changed.
  if (!locked && !(writes && placed.settings->independent.write_sieving)) return exclusion;
  const collective::PhaseScope scope(profiler, collective::Phase::wait);
  exclusion.threads = std::unique_lock(locked_access_mutex_);
  if (!locked) return exclusion;
  Result<std::unique_ptr<store::FileLock>> lock = file.lock(
      plan::bounds(placed.file), writes ? store::LockKind::exclusive : store::LockKind::shared);
  if (!lock) return std::move(lock).error();
  exclusion.processes = *std::move(lock);
  return exclusion;
}

/// Bytes of the file. In Phase::file.
store::Transfer OpenFile::move_independent(const PlacedAccess& placed, bool locked,
                                           collective::Profiler& profiler) {
  if (placed.file_bytes == 0) return {};
  const Result<store::StoreFile*> file = file_.file();
  if (!file) return {0, file.error()};
  if (placed.access.direction == Direction::write) wrote_.store(true, std::memory_order_relaxed);
  collective::IndependentSettings settings = placed.settings->independent;
  settings.call_cost_bytes = file_system_.call_cost_bytes;
  // Sieving writes read, and take the lock that is held already.
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

Outcome OpenFile::transfer(const Access& access) {
  collective::Profile& profile = profile_.of(access.direction, false);
  const std::int64_t weight = count_call(profile, access.memory.byte_count, independent_sampling);
  collective::Profiler profiler(profile, collective::Phase::file, weight);
  const Result<PlacedAccess> placed = place_now(access);
  if (!placed) {
    profile.errors.add(1);
    return {0, placed.error()};
  }
  store::Transfer moved = move_independent(*placed, locks_accesses(*placed->settings), profiler);
  const bool short_read = access.direction == Direction::read && moved.bytes < placed->file_bytes;
  if (short_read && access.position == Position::individual) {
    rewind_unread(*placed, moved.bytes);
  }
  Outcome outcome{placed->memory_bytes(moved.bytes), std::move(moved.error)};
  profile.bytes.add(outcome.bytes);
  if (outcome.error) profile.errors.add(1);
  return outcome;
}

collective::Task<Outcome> OpenFile::transfer_all(const Access& access,
                                                 std::optional<Error> refusal) {
  const Routine routine{access.direction, access.position, access.alone};
  if (refusal) return run_all(routine, *std::move(refusal));
  return run_all(routine, place_now(access));
}

/// Ranks come one after the other at the shared pointer, in rank order; one that refuses has
/// nothing there.
collective::Task<Result<OpenFile::PlacedAccess>> OpenFile::place_ordered(
    Result<PlacedAccess> placed) {
  const std::int64_t own = placed ? placed->etypes() : 0;
  auto summing = collective::prefix_sum(*transport_, own);
  const collective::PrefixSum etypes = co_await summing;
  Result<std::int64_t> base = 0;
  if (transport_->rank() == 0 && etypes.total != 0) base = shared_pointer_.fetch_add(etypes.total);
  auto spreading = broadcast_from_rank_zero(std::move(base));
  const Result<std::int64_t> begin = co_await spreading;
  if (!begin) co_return begin.error();
  if (!placed || placed->file_bytes == 0) co_return placed;
  // Beyond 64 bits: an offset that place() refuses.
  const std::int64_t position = checked_add(*begin, etypes.before).value_or(-1);
  if (Status fits = place(*placed, position); !fits) placed = std::move(fits).error();
  co_return placed;
}

/// Every rank by itself under its lock, then all agree: atomic mode, and file systems whose clients
/// do not.
collective::Task<Outcome> OpenFile::move_all_locked(Direction direction,
                                                    const Result<PlacedAccess>& placed,
                                                    collective::Profiler& profiler) {
  if (direction == Direction::write && layout_.grows()) {
    auto growing = layout_.grow_before_write(placed ? plan::bounds(placed->file).end() : 0);
    co_await growing;
  }
  Status ready;
  if (!placed) ready = placed.error();
  auto starting = collective::agree(*transport_, std::move(ready));
  Status started = co_await starting;
  if (!started) co_return Outcome{0, std::move(started).error()};

  profiler.enter(collective::Phase::file);
  store::Transfer moved = move_independent(*placed, true, profiler);
  profiler.enter(collective::Phase::agreement);
  Status local = status_of(moved.error);
  auto ending = collective::agree(*transport_, std::move(local));
  Status ended = co_await ending;
  Outcome outcome{placed->memory_bytes(moved.bytes), std::nullopt};
  if (ended) {
    const plan::CollectivePlan plan{.algorithm = plan::Algorithm::direct,
                                    .reason = plan::PlanReason::locked};
    profile_.note_plan({.direction = direction,
                        .plan = plan,
                        .summary = {},
                        .calls = 1,
                        .bytes = outcome.bytes,
                        .nanoseconds = profiler.nanoseconds()});
  } else {
    outcome.error = std::move(ended).error();
  }
  co_return outcome;
}

plan::CollectiveSettings OpenFile::collective_settings(Direction direction,
                                                       const AccessSettings& settings) const {
  plan::CollectiveSettings collective =
      direction == Direction::read ? settings.collective_read : settings.collective_write;
  collective.alignment_bytes = file_system_.block_size_bytes;
  if (layout_.stripes() != nullptr) {
    collective.alignment_bytes =
        std::min(collective.alignment_bytes, layout_.stripes()->regions().back().stripe_size);
  }
  collective.one_writer_per_node = file_system_.one_writer_per_node;
  if (collective.saturation_bytes == 0) {
    collective.saturation_bytes = file_system_.saturation_bytes;
  }
  if (collective.initial_groups == nullptr) collective.initial_groups = grid_;
  collective.stripes = layout_.stripes();
  if (refuses_write_locks_) collective.write_locks = plan::WriteLocks::usual;
  return collective;
}

int OpenFile::io_thread_count(const AccessSettings& settings) const {
  // A local file system takes a core's time rather than a wait: another thread gains nothing.
  constexpr int one_an_access = 16;  // of cycle buffers there are no more
  return settings.io_thread_count.value_or(file_system_.one_writer_per_node ? 0 : one_an_access);
}

/// Of a call that the engine has run with these settings.
void OpenFile::note_plan(const PlanUse& call, const plan::CollectiveSettings& settings) {
  PlanUse* const noted = profile_.note_plan(call);
  const bool is_by_domains = plan::row_of(call.plan).domains == plan::DomainsOf::file;
  if (noted == nullptr || !is_by_domains || layout_.stripes() == nullptr || transport_->rank() != 0)
    return;
  noted->osts = plan::osts_touched(plan::domains_of(call.plan, settings), *layout_.stripes());
}

collective::CollectiveCall OpenFile::call_of(Routine routine, const Result<PlacedAccess>& placed,
                                             Result<plan::MemoryAccess> memory,
                                             const AccessSettings& settings) const {
  collective::CollectiveCall call;
  call.direction = routine.direction;
  call.independent = settings.independent;
  call.independent.call_cost_bytes = file_system_.call_cost_bytes;
  // Its lock is no lock between the threads that use this file.
  call.independent.write_sieving = false;
  const bool may_lock = settings.collective_write.write_locks == plan::WriteLocks::group;
  if (routine.alone && may_lock) call.group_lock = group_number(id_, locked_calls_);
  if (!placed) {
    call.refusal = placed.error();
  } else if (!memory) {
    call.refusal = std::move(memory).error();
  } else {
    call.file = placed->file;
    call.memory = *std::move(memory);
  }
  return call;
}

/// Once refused they are not asked for again.
void OpenFile::note_refused_locks(const collective::Outcome& moved) {
  if (moved.locks_refusal.empty()) return;
  refuses_write_locks_ = true;
  const std::lock_guard guard(mutex_);
  hints_.note("hint nacre_write_locks: " + moved.locks_refusal +
              "; Nacre writes the file with the usual locks");
}

collective::Task<Outcome> OpenFile::move_all_by_engine(Routine routine,
                                                       const Result<PlacedAccess>& placed,
                                                       collective::Profiler& profiler) {
  const Direction direction = routine.direction;
  const Access access = placed ? placed->access : Access{};
  Staging staging(access, placed ? placed->file_bytes : 0);
  const std::shared_ptr<const AccessSettings> settings = snapshot().settings;
  profiler.enter(collective::Phase::copy);
  collective::CollectiveCall call = call_of(routine, placed, staging.fill(), *settings);
  if (direction == Direction::write) {
    wrote_.store(true, std::memory_order_relaxed);
    ++locked_calls_;
    if (layout_.grows()) {
      profiler.enter(collective::Phase::plan);
      auto growing = layout_.grow_before_write(plan::bounds(call.file).end());
      co_await growing;
    }
  }
  const collective::CollectiveFile file{file_,   views_,   rounds_,
                                        groups_, profiler, io_thread_count(*settings)};
  const plan::CollectiveSettings for_all = collective_settings(direction, *settings);
  auto running = collective::run_collective(*transport_, file, std::move(call), for_all);
  collective::Outcome moved = co_await running;
  note_refused_locks(moved);
  if (!moved.error) {
    note_plan({.direction = direction,
               .plan = moved.plan,
               .groups = std::move(moved.groups),
               .summary = moved.summary,
               .saturation_bytes = for_all.saturation(),
               .calls = 1,
               .bytes = moved.bytes,
               .nanoseconds = profiler.nanoseconds()},
              for_all);
    const bool by_domains = plan::row_of(moved.plan).domains == plan::DomainsOf::file;
    if (direction == Direction::write && by_domains) {
      auto refreshing =
          layout_.refresh_after_write({moved.plan.origin, moved.plan.end - moved.plan.origin});
      co_await refreshing;
    }
  }
  Outcome outcome{placed ? placed->memory_bytes(moved.bytes) : 0, std::move(moved.error)};
  // Without an error every rank has a place, and the views of all have one representation.
  const bool converts =
      !outcome.error && direction == Direction::read && is_converting(*placed->view);
  if (!converts) co_return outcome;
  auto ending = collective::agree(*transport_, staging.empty(moved.bytes));
  Status ended = co_await ending;
  if (!ended) outcome = {0, std::move(ended).error()};
  co_return outcome;
}

collective::Task<Outcome> OpenFile::run_all(Routine routine, Result<PlacedAccess> placed) {
  collective::Profile& profile = profile_.of(routine.direction, true);
  const std::int64_t asked = placed ? placed->file_bytes : 0;
  const std::int64_t weight = count_call(profile, asked, collective_sampling);
  collective::Profiler profiler(profile, collective::Phase::plan, weight);
  collective::ProfilerObserver observer(profiler);
  if (weight != 0) co_await collective::ObservedBy{&observer};
  if (routine.position == Position::ordered) {
    auto placing = place_ordered(std::move(placed));
    placed = co_await placing;
  }
  Outcome outcome;
  if (locks_accesses(*snapshot().settings)) {
    auto moving = move_all_locked(routine.direction, placed, profiler);
    outcome = co_await moving;
  } else {
    auto moving = move_all_by_engine(routine, placed, profiler);
    outcome = co_await moving;
  }
  profile.bytes.add(outcome.bytes);
  if (outcome.error) profile.errors.add(1);
  co_await collective::ObservedBy{nullptr};
  co_return outcome;
}

}  // namespace nacre::file
