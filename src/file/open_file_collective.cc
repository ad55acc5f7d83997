// Collective accesses.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/checked_cast.h"
#include "base/fnv_hash.h"
#include "collective/agreement/agreements.h"
#include "collective/rounds/scratch.h"
#include "file/open_file.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/decide.h"
#include "plan/decide/plan_words.h"

namespace nacre::file {
namespace {

using plan::Direction;

/// The memory that the engine moves in a collective access: the program's buffer, or for a
/// converted access a buffer with the bytes in the file's representation.
class Staging {
 public:
  Staging(const Access& access, std::int64_t file_bytes)
      : access_(access), file_bytes_(file_bytes) {}

  /// The memory, valid during the lifetime of this object; for a write it holds the converted data.
  [[nodiscard]] Result<plan::MemoryAccess> fill() {
    if (access_.converter == nullptr) return access_.memory;
    const Result<std::span<std::byte>> taken = scratch_.try_take(file_bytes_, "to convert data");
    if (!taken) return taken.error();
    bytes_ = *taken;
    if (access_.direction == Direction::write) {
      Status converted = access_.converter->to_file(access_.memory, bytes_);
      if (!converted) return std::move(converted).error();
    }
    return plan::MemoryAccess{bytes_.data(), plan::TypeMap::bytes(1), std::ssize(bytes_)};
  }
  /// Converts the data of a read to the program's buffer.
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

/// The number of a call's group lock. A hash makes it differ from the numbers of other calls and
/// opens, because a file system may take a while to cancel the lock of the previous call.
std::int32_t group_number(std::uint64_t open_id, std::int64_t call) {
  constexpr std::uint64_t numbers = std::numeric_limits<std::int32_t>::max();
  const std::string name = std::to_string(open_id) + ' ' + std::to_string(call);
  return static_cast<std::int32_t>(1 + fnv_hash(name) % numbers);
}

bool is_converting(const View& view) {
  return view.representation != "native" && view.representation != "internal";
}

Status status_of(const std::optional<Error>& error) { return error ? Status(*error) : Status(); }

OpenLayout::Reach reach_of(const plan::FileAccess& access) {
  return {plan::bounds(access).end(), plan::end_of_last_copy(access)};
}

}  // namespace

collective::Task<Outcome> OpenFile::transfer_all(Access access, std::optional<Error> refusal) {
  const Routine routine{access.direction, access.position, access.alone};
  if (refusal) return run_all(routine, *std::move(refusal));
  PlacedAccess placed(std::move(access));
  if (Status ready = place_now(placed); !ready) return run_all(routine, std::move(ready).error());
  return run_all(routine, std::move(placed));
}

/// Places the accesses of all ranks one behind the other at the shared pointer, in rank order. A
/// rank that refuses the call has no bytes there.
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
  // place() refuses -1, which stands for a position that exceeds 64 bits.
  const std::int64_t position = checked_add(*begin, etypes.before).value_or(-1);
  if (Status fits = place(*placed, position); !fits) placed = std::move(fits).error();
  co_return placed;
}

/// For atomic mode and file systems without coherent caches: each rank accesses the file under its
/// own lock, then all ranks agree on the outcome.
collective::Task<Outcome> OpenFile::move_all_locked(Direction direction,
                                                    const Result<PlacedAccess>& placed,
                                                    collective::Profiler& profiler) {
  if (direction == Direction::write && layout_.grows()) {
    auto growing = layout_.grow_before_write(placed ? reach_of(placed->file) : OpenLayout::Reach{});
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
                        .in_steps = false,
                        .groups = nullptr,
                        .summary = {},
                        .saturation_bytes = 0,
                        .bytes = moved.bytes,
                        .ticks = profiler.ticks()});
  } else {
    outcome.error = std::move(ended).error();
  }
  co_return outcome;
}

plan::CollectiveSettings OpenFile::collective_settings(Direction direction,
                                                       const AccessSettings& settings) const {
  plan::CollectiveSettings collective =
      direction == Direction::read ? settings.collective_read : settings.collective_write;
  collective.alignment_bytes = block_bytes(layout_.stripes().get());
  collective.one_writer_per_node = file_system_.one_writer_per_node;
  collective.keeps_written = file_system_.keeps_written && !file_system_.has_direct;
  if (settings.independent.read_sieving) collective.sieving_bytes = file_system_.call_cost_bytes;
  if (collective.saturation_bytes == 0 && machine_ != nullptr) {
    collective.saturation_bytes =
        direction == Direction::read ? machine_->read_saturation : machine_->write_saturation;
  }
  if (collective.saturation_bytes == 0) {
    collective.saturation_bytes = file_system_.saturation_bytes;
  }
  if (collective.initial_groups == nullptr) collective.initial_groups = grid_;
  collective.stripes = layout_.stripes();
  collective.machine = machine_;
  if (left_write_locks_) collective.write_locks = *left_write_locks_;
  return collective;
}

int OpenFile::io_thread_count(Direction direction, const AccessSettings& settings) const {
  if (settings.io_thread_count) return *settings.io_thread_count;
  // A local file system uses the processor instead of waiting: another thread gains nothing.
  if (file_system_.one_writer_per_node) return 0;
  // Threads that wait for each other's writes in the kernel only hand over the processor.
  const bool in_turn = file_system_.serial_writes && !file_system_.has_direct;
  constexpr int usual_count = 16;
  return direction == Direction::write && in_turn ? 1 : usual_count;
}

/// Records the plan of a call that the engine ran with these settings.
void OpenFile::note_plan(const PlannedCall& call, const plan::CollectiveSettings& settings) {
  PlanUse* const noted = profile_.note_plan(call);
  if (noted == nullptr || transport_->rank() != 0 || !noted->represents_calls()) return;
  noted->predicted = PredictedCall{call.plan, call.summary, settings};
  if (noted->calls > 1) return;  // the OSTs are those of the first call
  const bool is_by_domains = plan::row_of(call.plan).domains == plan::DomainsOf::file;
  const plan::StripeMap* const stripes = layout_.stripes().get();
  if (!is_by_domains || stripes == nullptr || !stripes->names_osts()) return;
  noted->osts = plan::osts_touched(plan::domains_of(call.plan, settings), *stripes);
}

collective::CollectiveCall OpenFile::call_of(Routine routine, const Result<PlacedAccess>& placed,
                                             Result<plan::MemoryAccess> memory,
                                             const AccessSettings& settings) const {
  collective::CollectiveCall call;
  call.direction = routine.direction;
  call.learns = routine.alone && settings.learns;
  call.independent = settings.independent;
  call.independent.call_cost_bytes = file_system_.call_cost_bytes;
  // The lock of sieving writes does not exclude threads that use the same open file.
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

/// After a refusal later calls do not request the locks again; an obstacle may be one of this call.
void OpenFile::note_refused_locks(const collective::Outcome& moved) {
  if (!moved.locks_obstacle.empty()) {
    const std::lock_guard guard(mutex_);
    hints_.note("hint nacre_write_locks: " + std::string(moved.locks_obstacle) +
                "; Nacre writes with the usual locks");
  }
  if (moved.locks_refusal.empty()) return;
  left_write_locks_ = moved.plan.write_locks;
  const std::lock_guard guard(mutex_);
  hints_.note("hint nacre_write_locks: " + moved.locks_refusal +
              "; Nacre writes the file with the " +
              std::string(plan::name_of(moved.plan.write_locks)) + " locks");
}

/// Forgets what was decided with other settings, and steps that a read of this rank broke.
void OpenFile::forget_outdated_choices(Direction direction,
                                       const std::shared_ptr<const AccessSettings>& settings) {
  if (settings != decided_with_) {
    choices_.forget();
    repeated_.forget();
    decided_with_ = settings;
  }
  if (direction == Direction::read && read_alone_.exchange(false)) choices_.break_steps();
}

collective::CollectiveFile OpenFile::file_for_engine(Direction direction,
                                                     const AccessSettings& settings,
                                                     collective::Profiler& profiler) {
  return {.source = file_,
          .views = views_,
          .rounds = rounds_,
          .groups = groups_,
          .repeated = repeated_,
          .profiler = profiler,
          .io_thread_count = io_thread_count(direction, settings),
          .reads_in_order = !settings.io_thread_count && !settings.reads_past_cache,
          .choices = &choices_,
          .copies = copies_};
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
      auto growing = layout_.grow_before_write(reach_of(call.file));
      co_await growing;
    }
  }
  const collective::CollectiveFile file = file_for_engine(direction, *settings, profiler);
  forget_outdated_choices(direction, settings);
  const plan::CollectiveSettings for_all = collective_settings(direction, *settings);
  profiler.describe_file(traits_of(for_all.stripes.get(), for_all.alignment_bytes));
  auto running = collective::run_collective(*transport_, file, std::move(call), for_all);
  collective::Outcome moved = co_await running;
  note_refused_locks(moved);
  if (!moved.error) {
    note_plan({.direction = direction,
               .plan = moved.plan,
               .in_steps = moved.in_steps,
               .groups = moved.groups,
               .summary = moved.summary,
               .saturation_bytes = for_all.saturation(),
               .bytes = moved.bytes,
               .ticks = profiler.ticks()},
              for_all);
    const bool by_domains = plan::row_of(moved.plan).domains == plan::DomainsOf::file;
    if (direction == Direction::write && by_domains) {
      auto refreshing =
          layout_.refresh_after_write({moved.plan.origin, moved.plan.end - moved.plan.origin});
      co_await refreshing;
    }
  }
  Outcome outcome{placed ? placed->memory_bytes(moved.bytes) : 0, std::move(moved.error)};
  // Without an error all ranks have placed their accesses, in views with one representation.
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
  const std::int64_t weight = profile.count_call(asked);
  collective::Profiler profiler(profile, collective::Phase::plan, weight);
  std::optional<collective::ProfilerObserver> observer;
  if (weight != 0) {
    observer.emplace(profiler);
    co_await collective::ObservedBy{&*observer};
  }
  if (routine.position == Position::ordered) {
    auto placing = place_ordered(std::move(placed));
    placed = co_await placing;
    if (transport_->rank() == 0) profile.locks.add(1);
  }
  if (placed) profile.shape.note(placed->file);
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
  if (observer) co_await collective::ObservedBy{nullptr};
  co_return outcome;
}

}  // namespace nacre::file
