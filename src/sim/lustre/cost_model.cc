#include "sim/lustre/cost_model.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <ranges>

#include "base/checked_cast.h"
#include "sim/lustre/errno_result.h"

namespace nacre::sim {

CostModel::CostModel(const Machine& machine, ObjectStore& objects, Timing& timing)
    : machine_(machine),
      objects_(objects),
      timing_(timing),
      requests_(machine),
      counters_(machine),
      queue_time_at_reset_(checked_cast<std::size_t>(machine.osts)),
      evictions_(checked_cast<std::size_t>(machine.nodes)),
      alarm_(timing.make_alarm([this] {
        const std::lock_guard guard(mutex_);
        settle();
      })) {}

CostModel::~CostModel() {
  stop();
  alarm_.reset();
}

void CostModel::stop() {
  const std::lock_guard guard(mutex_);
  stopped_ = true;
  for (const auto& [ticket, delay] : delays_) delay.ended->notify_all();
  for (const auto& [key, box] : outboxes_) box->changed->notify_all();
  for (const auto& [object, locks] : locks_) locks->changed->notify_all();
}

void CostModel::share_links(NodeLinks& links) {
  const std::lock_guard guard(mutex_);
  requests_.share_links(links);
}

/// Advances the model to the current time, and completes the requests that have ended.
void CostModel::settle() {
  for (const Ticket ticket : requests_.advance(timing_.now())) {
    const auto found = in_flight_.find(ticket);
    if (found != in_flight_.end()) {
      end(found->second);
      in_flight_.erase(found);
    } else if (const auto delay = delays_.find(ticket); delay != delays_.end()) {
      delay->second.is_over = true;
      delay->second.ended->notify_all();
    }
  }
  set_alarm();
}

void CostModel::set_alarm() {
  if (const std::optional<SimulatedTime> next = requests_.next()) alarm_->set(*next);
}

void CostModel::end(const InFlight& ended) {
  Outbox& box = outbox(ended.rpc.node, ended.rpc.ost);
  if (!ended.extents.empty()) {
    box.dirty_bytes -= ended.rpc.bytes;
    if (faults_.refuses_cached(ended.rpc.ost)) {
      static_cast<void>(lose(ended.rpc.node, ended.object, ended.extents));
    }
  }
  if (ended.delays_callbacks) {
    end_access(ended.rpc.node, ended.object);
  } else {
    box.changed->notify_all();
  }
}

CostModel::Outbox& CostModel::outbox(std::int32_t node, std::int32_t ost) {
  std::unique_ptr<Outbox>& found = outboxes_[{ost, node}];
  if (found == nullptr) found = std::make_unique<Outbox>(timing_);
  return *found;
}

std::shared_ptr<CostModel::ObjectLocks> CostModel::locks_of(const ObjectName& object) {
  std::shared_ptr<ObjectLocks>& found = locks_[object];
  if (found == nullptr) found = std::make_shared<ObjectLocks>(machine_.wide_locks != 0, timing_);
  return found;
}

Status CostModel::wait(Guard& guard, Signal& changed, const Caller& caller,
                       const std::function<bool()>& ready) {
  while (true) {
    settle();
    if (ready()) return {};
    if (stopped_ || was_evicted(*caller.handle)) return refused(EIO);
    if (caller.is_interrupted()) return refused(EINTR);
    changed.wait(guard);
  }
}

/// Whether the node was evicted since the last call for this handle.
bool CostModel::was_evicted(OpenHandle& handle) const {
  const std::int64_t evictions = evictions_[static_cast<std::size_t>(handle.node_)];
  return std::exchange(handle.evictions_, evictions) != evictions;
}

/// Whether an eviction of the node has lost writes to the objects, which no flush has reported yet.
bool CostModel::take_losses(std::int32_t node, std::span<const ObjectName> objects) {
  return std::erase_if(losses_, [&](const auto& loss) {
           return loss.first == node && std::ranges::count(objects, loss.second) > 0;
         }) > 0;
}

std::unique_ptr<OpenHandle> CostModel::open(std::int32_t node, bool direct) {
  const std::lock_guard guard(mutex_);
  auto handle = std::make_unique<OpenHandle>(node, direct);
  static_cast<void>(was_evicted(*handle));
  return handle;
}

// ---- requests ----

Ticket CostModel::send(std::int32_t node, const ObjectName& object, std::int64_t bytes,
                       plan::Direction direction) {
  const Rpc rpc{node, object.ost, bytes, direction == plan::Direction::read};
  const Ticket ticket = requests_.submit(rpc, timing_.now());
  // A node gives up a lock when the accesses under it have ended. Where locks are narrow, its reads
  // are under other locks than the one that another node takes.
  const bool delays_callbacks = direction == plan::Direction::write || machine_.wide_locks != 0;
  in_flight_[ticket] = {rpc, object, {}, delays_callbacks};
  if (delays_callbacks) begin_access(node, object);
  counters_.count_request(rpc, direction);
  set_alarm();
  return ticket;
}

/// Sends the unsent extents of an object, even if they are shorter than a full request.
void CostModel::send_unsent(Outbox& box, std::int32_t node, ObjectName object) {
  auto unsent = box.unsent.extract(object);
  if (unsent.empty()) return;
  const Ticket ticket = send(node, object, unsent.mapped().bytes, plan::Direction::write);
  in_flight_.at(ticket).extents = std::move(unsent.mapped().extents);
}

void CostModel::send_all_unsent(Outbox& box, std::int32_t node) {
  while (!box.unsent.empty()) send_unsent(box, node, box.unsent.begin()->first);
}

/// Adds an access to the unsent extents of its object. As Lustre's client, a node gathers extents
/// that do not follow each other, of all its processes, into one request; counted on a real Lustre,
/// where every fourth 64 KiB of an object left in requests of 4 MiB. Sends full requests; a single
/// extent ends at a multiple of `rpc_bytes`.
void CostModel::append_unsent(Outbox& box, std::int32_t node, const ObjectAccess& access) {
  constexpr std::size_t extents_max = 256;  // as Lustre's client
  Extent left = access.extent;
  while (!left.empty()) {
    Unsent& unsent = box.unsent[access.object];
    const auto continued = std::ranges::find(unsent.extents, left.offset, &Extent::end);
    const bool is_new = continued == unsent.extents.end();
    Extent& extent = is_new ? unsent.extents.emplace_back(Extent{left.offset, 0}) : *continued;
    const std::int64_t to_boundary = machine_.rpc_bytes - extent.end() % machine_.rpc_bytes;
    const std::int64_t taken =
        std::min({left.length, to_boundary, machine_.rpc_bytes - unsent.bytes});
    extent.length += taken;
    unsent.bytes += taken;
    left = {left.offset + taken, left.length - taken};
    const bool ends_alone = unsent.extents.size() == 1 && taken == to_boundary;
    const bool is_full = unsent.bytes == machine_.rpc_bytes || unsent.extents.size() == extents_max;
    if (ends_alone || is_full) send_unsent(box, node, access.object);
  }
}

/// Waits for room in the node's cache, and puts a write into it.
Status CostModel::write_to_cache(Guard& guard, const Caller& caller, const ObjectAccess& access) {
  const std::int32_t node = caller.handle->node_;
  Outbox& box = outbox(node, access.object.ost);
  // Other calls of the node may add to the unsent extents during this wait, and then wait too.
  const auto fits = [&] {
    const bool has_room =
        box.dirty_bytes == 0 || box.dirty_bytes + access.extent.length <= machine_.dirty_bytes;
    if (!has_room) send_all_unsent(box, node);
    return has_room;
  };
  if (Status waited = wait(guard, *box.changed, caller, fits); !waited) return waited;
  box.dirty_bytes += access.extent.length;
  append_unsent(box, node, access);
  return {};
}

Status CostModel::wait_for_ticket(Guard& guard, const Caller& caller, Ticket ticket) {
  const auto found = in_flight_.find(ticket);
  if (found == in_flight_.end()) return {};
  Outbox& box = outbox(found->second.rpc.node, found->second.rpc.ost);
  return wait(guard, *box.changed, caller, [&] { return !in_flight_.contains(ticket); });
}

/// Waits until at most `bytes_left` of the handle's reads and direct writes are in flight.
Status CostModel::wait_for_pending(Guard& guard, const Caller& caller, std::int64_t bytes_left) {
  OpenHandle& handle = *caller.handle;
  // Of short reads thousands may be pending: they are counted only if there may be too many.
  while (!handle.pending_.empty() && handle.pending_bytes_ > bytes_left) {
    drop_ended(handle);
    if (handle.pending_bytes_ <= bytes_left) break;
    const OpenHandle::Pending oldest = handle.pending_.front();
    handle.pending_.pop_front();
    handle.pending_bytes_ -= oldest.bytes;
    if (Status waited = wait_for_ticket(guard, caller, oldest.ticket); !waited) return waited;
  }
  return {};
}

void CostModel::drop_ended(OpenHandle& handle) const {
  std::erase_if(handle.pending_, [&](const OpenHandle::Pending& one) {
    const bool has_ended = !in_flight_.contains(one.ticket);
    if (has_ended) handle.pending_bytes_ -= one.bytes;
    return has_ended;
  });
}

bool OpenHandle::Steps::add(const Extent& file) {
  const Extent before = std::exchange(last, file);
  const std::int64_t from_last = file.offset - before.offset;
  const bool is_same = std::exchange(stride, from_last) == from_last;
  return is_same && from_last > 0 && file.length == before.length;
}

OpenHandle::Pattern OpenHandle::classify(const Extent& file) {
  const bool continues = file.offset == requests_.last.end();
  const bool is_next = requests_.add(file);
  if (!continues) runs_in_steps_ = runs_.add(file);
  if (is_next || runs_in_steps_) return Pattern::strided;
  return continues ? Pattern::sequential : Pattern::random;
}

/// A read, or a direct write: sends requests to the OSTs and waits for their replies.
Status CostModel::access_osts(Guard& guard, const Caller& caller, const FileRequest& request,
                              plan::Direction direction) {
  using Pattern = OpenHandle::Pattern;
  OpenHandle& handle = *caller.handle;
  if (request.accesses.empty()) return {};
  const Pattern pattern = handle.classify(
      hull(request.accesses.front().file_extent, request.accesses.back().file_extent));
  const bool reads_ahead = pattern == Pattern::strided && direction == plan::Direction::read;
  if (pattern != Pattern::sequential && !reads_ahead) {
    if (Status waited = wait_for_pending(guard, caller, 0); !waited) return waited;
  }
  for (const ObjectAccess& access : request.accesses) {
    for (Extent left = access.extent; !left.empty();) {
      const Extent part{left.offset, std::min(left.length, machine_.rpc_bytes)};
      const Ticket ticket = send(handle.node_, access.object, part.length, direction);
      handle.pending_.push_back({ticket, part.length});
      handle.pending_bytes_ += part.length;
      left = {part.end(), left.length - part.length};
    }
  }
  settle();  // completes the requests that take no time
  const bool may_stay_in_flight = reads_ahead || request.may_continue;
  return wait_for_pending(guard, caller, may_stay_in_flight ? machine_.read_bytes : 0);
}

// ---- locks ----

/// Makes nodes write back what they have cached of objects, concurrently, and waits for completion.
/// Their accesses that are under way are included.
Status CostModel::write_back(Guard& guard, const Caller& caller,
                             std::span<const NodeObject> node_objects) {
  const auto is_written = [&](const NodeObject& one) {
    Outbox& box = outbox(one.node, one.object.ost);
    send_unsent(box, one.node, one.object);
    return !box.in_flight.contains(one.object);
  };
  for (const NodeObject& one : node_objects) static_cast<void>(is_written(one));
  for (const NodeObject& one : node_objects) {
    Signal& changed = *outbox(one.node, one.object.ost).changed;
    if (Status waited = wait(guard, changed, caller, [&] { return is_written(one); }); !waited) {
      return waited;
    }
  }
  return {};
}

/// Writes back what the caller's node has cached of objects until now, and waits for completion.
Status CostModel::write_back_until_now(Guard& guard, const Caller& caller,
                                       std::span<const ObjectName> objects) {
  const std::int32_t node = caller.handle->node_;
  for (const ObjectName& object : objects) send_unsent(outbox(node, object.ost), node, object);
  std::vector<Ticket> tickets;
  for (const auto& [ticket, one] : in_flight_) {
    const bool is_write = one.rpc.node == node && !one.extents.empty();
    if (is_write && std::ranges::count(objects, one.object) > 0) tickets.push_back(ticket);
  }
  for (const Ticket ticket : tickets) {
    if (Status waited = wait_for_ticket(guard, caller, ticket); !waited) return waited;
  }
  return {};
}

/// Calls back the locks that conflict. Returns their holders, which must write back.
std::vector<CostModel::NodeObject> CostModel::call_back(const ObjectName& name, ObjectLocks& object,
                                                        const LockRequest& request) {
  std::vector<NodeObject> holders;
  for (const std::int32_t node : object.locks.call_back(request.number, request.wanted)) {
    counters_.count_callback(node, name.ost);
    holders.push_back({node, name});
  }
  return holders;
}

/// Waits for `count` lock messages that are sent one after the other.
Status CostModel::wait_for_lock_messages(Guard& guard, const Caller& caller, std::int64_t count) {
  return wait_for_delay(guard, caller, lock_messages(count) - deducted_);
}

Status CostModel::wait_for_delay(Guard& guard, const Caller& caller, SimulatedTime length) {
  if (length <= 0) return {};
  const Ticket ticket = requests_.delay(length, timing_.now());
  const auto delay = delays_.try_emplace(ticket, timing_.make_signal()).first;
  Status waited = wait(guard, *delay->second.ended, caller, [&] { return delay->second.is_over; });
  delays_.erase(delay);
  return waited;
}

/// Waits until the server grants `wanted`, unless the node has a lock that suffices. Returns the
/// number of messages that the caller still has to wait for.
Result<std::int64_t> CostModel::acquire(Guard& guard, const Caller& caller, const ObjectName& name,
                                        const ExtentLocks::Lock& wanted) {
  const std::shared_ptr<ObjectLocks> object = locks_of(name);
  ExtentLocks& locks = object->locks;
  if (locks.covers(wanted)) return 0;
  const std::uint64_t request = locks.number_request();
  locks.wait_for(request, wanted);
  Status waited = wait(guard, *object->changed, caller, [&] { return locks.is_next(request); });
  const bool is_covered = waited.ok() && locks.covers(wanted);
  // Without callbacks the server answers at once, and meanwhile serves other nodes.
  const bool is_free = locks.is_free(wanted);
  if (waited && !is_covered && !is_free) {
    waited = wait_for_holders(guard, caller, name, *object, {request, wanted});
  }
  locks.give_up(request);
  if (waited && !is_covered) {
    locks.grant(wanted);
    counters_.count_grant(wanted.node, name.ost);
  }
  object->changed->notify_all();
  if (!waited) return std::move(waited).error();
  return is_covered || !is_free ? 0 : 2;
}

/// Calls back the locks that conflict with the request, and waits until their holders have given
/// them up. Until the callbacks arrive, the holders use their locks.
Status CostModel::wait_for_holders(Guard& guard, const Caller& caller, const ObjectName& name,
                                   ObjectLocks& object, const LockRequest& request) {
  // The request, and callbacks to all holders at once.
  Status waited = wait_for_delay(guard, caller, lock_messages(2));
  if (!waited) return waited;
  waited = write_back(guard, caller, call_back(name, object, request));
  object.locks.end_call_back(request.number);
  object.changed->notify_all();
  if (!waited) return waited;
  // Others may have called back locks that conflict.
  waited =
      wait(guard, *object.changed, caller, [&] { return object.locks.is_free(request.wanted); });
  return waited ? wait_for_lock_messages(guard, caller, 2) : waited;
}

/// acquire() with its messages. From the grant on, a cached write delays callbacks until
/// end_access().
Status CostModel::lock(Guard& guard, const Caller& caller, const ObjectName& name,
                       const ExtentLocks::Lock& wanted) {
  const Result<std::int64_t> messages_left = acquire(guard, caller, name, wanted);
  if (!messages_left) return messages_left.error();
  const bool is_cached = wanted.exclusive && !caller.handle->direct_;
  if (is_cached) begin_access(wanted.node, name);
  Status waited;
  if (*messages_left > 0) waited = wait_for_lock_messages(guard, caller, *messages_left);
  if (!waited && is_cached) end_access(wanted.node, name);
  return waited;
}

void CostModel::begin_access(std::int32_t node, const ObjectName& object) {
  ++outbox(node, object.ost).in_flight[object];
}

void CostModel::end_access(std::int32_t node, const ObjectName& object) {
  Outbox& box = outbox(node, object.ost);
  const auto accesses = box.in_flight.find(object);
  if (--accesses->second == 0) box.in_flight.erase(accesses);
  box.changed->notify_all();
}

void CostModel::lock_ahead(std::int32_t node, std::span<const ObjectAccess> accesses) {
  Guard guard(mutex_);
  settle();
  for (const ObjectAccess& access : accesses) {
    const ExtentLocks::Lock wanted{node, access.extent, true, true};
    const std::shared_ptr<ObjectLocks> object = locks_of(access.object);
    if (object->locks.conflicts(wanted) || object->locks.covers(wanted)) continue;
    object->locks.grant(wanted);
    counters_.count_grant(node, access.object.ost);
  }
}

/// Returns the error of a fault, or acquires the lock that an access needs.
Status CostModel::check_and_lock(Guard& guard, const Caller& caller, const FileRequest& request,
                                 const ObjectAccess& access, plan::Direction direction) {
  const bool writes = direction == plan::Direction::write;
  Status checked = faults_.check(access.object.ost, access.file_extent, writes);
  if (!checked || request.locks == LockWish::none) return checked;
  const bool is_narrow = request.locks == LockWish::narrow;
  return lock(guard, caller, access.object,
              {caller.handle->node_, access.extent, writes, is_narrow});
}

// ---- calls of files ----

Status CostModel::write(const Caller& caller, const FileRequest& request) {
  Guard guard(mutex_);
  settle();
  OpenHandle& handle = *caller.handle;
  if (was_evicted(handle)) return refused(EIO);
  handle.has_written_ = true;
  for (const ObjectAccess& access : request.accesses) {
    if (Status locked = check_and_lock(guard, caller, request, access, plan::Direction::write);
        !locked) {
      return locked;
    }
    if (handle.direct_) continue;
    Status cached = write_to_cache(guard, caller, access);
    if (request.locks != LockWish::none) end_access(handle.node_, access.object);
    if (!cached) return cached;
  }
  if (handle.direct_) return access_osts(guard, caller, request, plan::Direction::write);
  settle();
  return {};
}

Status CostModel::read(const Caller& caller, const FileRequest& request) {
  Guard guard(mutex_);
  settle();
  for (const ObjectAccess& access : request.accesses) {
    if (Status locked = check_and_lock(guard, caller, request, access, plan::Direction::read);
        !locked) {
      return locked;
    }
  }
  return access_osts(guard, caller, request, plan::Direction::read);
}

Status CostModel::revoke_locks(const Caller& caller, std::span<const ObjectName> objects) {
  constexpr std::int32_t no_node = -1;  // conflicts with the locks of all nodes
  const ExtentLocks::Lock all{no_node, {0, std::numeric_limits<std::int64_t>::max()}, true};
  Guard guard(mutex_);
  settle();
  std::vector<NodeObject> holders;
  std::vector<std::pair<std::shared_ptr<ObjectLocks>, std::uint64_t>> requests;
  for (const ObjectName& name : objects) {
    const std::shared_ptr<ObjectLocks> object = locks_of(name);
    const std::uint64_t number = object->locks.number_request();
    const std::vector<NodeObject> found = call_back(name, *object, {number, all});
    holders.insert(holders.end(), found.begin(), found.end());
    requests.emplace_back(object, number);
  }
  Status written = write_back(guard, caller, holders);
  for (const auto& [object, number] : requests) {
    object->locks.end_call_back(number);
    object->changed->notify_all();
  }
  if (!written) return written;
  return wait_for_lock_messages(guard, caller, holders.empty() ? 2 : 4);
}

Status CostModel::write_back(const Caller& caller, std::span<const ObjectName> objects) {
  Guard guard(mutex_);
  settle();
  return write_back_until_now(guard, caller, objects);
}

Status CostModel::flush(const Caller& caller, std::span<const ObjectName> objects) {
  Guard guard(mutex_);
  settle();
  if (Status written = write_back_until_now(guard, caller, objects); !written) return written;
  const bool has_lost = take_losses(caller.handle->node_, objects);
  if (was_evicted(*caller.handle) || has_lost) return refused(EIO);
  return wait_for_pending(guard, caller, 0);
}

Status CostModel::finish(const Caller& caller, std::span<const ObjectName> objects) {
  Guard guard(mutex_);
  settle();
  if (caller.handle->has_written_) {
    const bool has_lost = take_losses(caller.handle->node_, objects);
    if (was_evicted(*caller.handle) || has_lost) return refused(EIO);
  }
  return wait_for_pending(guard, caller, 0);
}

Status CostModel::delay(const Caller& caller, SimulatedTime length) {
  Guard guard(mutex_);
  return wait_for_delay(guard, caller, length);
}

void CostModel::deduct(SimulatedTime cost) {
  const std::lock_guard guard(mutex_);
  deducted_ = cost;
  requests_.shorten_latency(cost);
}

Status CostModel::reserve(std::span<const ObjectName> objects) {
  const std::lock_guard guard(mutex_);
  const auto is_full = [&](const ObjectName& object) { return faults_.is_full(object.ost); };
  return std::ranges::any_of(objects, is_full) ? refused(ENOSPC) : Status();
}

void CostModel::pass_on_losses(std::span<const ObjectName> from, const ObjectName& to) {
  const std::lock_guard guard(mutex_);
  for (std::int32_t node = 0; node < machine_.nodes; ++node) {
    if (take_losses(node, from)) losses_.emplace(node, to);
  }
}

void CostModel::forget(const ObjectName& object) {
  const std::lock_guard guard(mutex_);
  locks_.erase(object);
  const auto first = outboxes_.lower_bound({object.ost, 0});
  const auto last = outboxes_.lower_bound({object.ost + 1, 0});
  for (const auto& [key, box] : std::ranges::subrange(first, last)) {
    discard_unsent(*box, object);
  }
}

void CostModel::discard_unsent(Outbox& box, ObjectName object) {
  const auto unsent = box.unsent.find(object);
  if (unsent == box.unsent.end()) return;
  box.dirty_bytes -= unsent->second.bytes;
  box.unsent.erase(unsent);
  box.changed->notify_all();
}

// ---- faults and counters ----

Status CostModel::order(const FaultOrder& order) {
  const std::lock_guard guard(mutex_);
  settle();
  if (order.evicted_node) return evict(*order.evicted_node);
  faults_.set(order.ost, order.fault);
  requests_.set_slowness(order.ost, order.fault.slowness, timing_.now());
  settle();
  return {};
}

void CostModel::drop_locks() {
  const std::lock_guard guard(mutex_);
  for (const auto& [object, locks] : locks_) {
    for (std::int32_t node = 0; node < machine_.nodes; ++node) locks->locks.drop(node);
  }
}

/// Erases cached writes of a node, and notes the loss for the next flush.
Status CostModel::lose(std::int32_t node, const ObjectName& object,
                       std::span<const Extent> extents) {
  Status lost;
  for (const Extent& extent : extents) {
    losses_.emplace(node, object);
    Status erased = objects_.erase(object, extent);
    if (lost) lost = std::move(erased);
  }
  return lost;
}

/// Drops the node's locks, and erases its writes that are not yet on the OSTs.
Status CostModel::evict(std::int32_t node) {
  Status lost;
  const auto lose_all = [&](const ObjectName& object, std::span<const Extent> extents) {
    Status erased = lose(node, object, extents);
    if (lost) lost = std::move(erased);
  };
  ++evictions_[static_cast<std::size_t>(node)];
  for (const auto& [object, locks] : locks_) {
    locks->locks.drop(node);
    locks->changed->notify_all();  // the node's waiting calls fail
  }
  for (const auto& [ticket, delay] : delays_) delay.ended->notify_all();
  for (const auto& [ticket, one] : in_flight_) {
    if (one.rpc.node != node) continue;
    lose_all(one.object, one.extents);
  }
  for (const auto& [key, box] : outboxes_) {
    while (key.second == node && !box->unsent.empty()) {
      const auto& [object, unsent] = *box->unsent.begin();
      lose_all(object, unsent.extents);
      discard_unsent(*box, object);
    }
    box->changed->notify_all();  // the node may wait for another one to write back
  }
  return lost;
}

std::int64_t CostModel::bytes_requested() {
  const std::lock_guard guard(mutex_);
  return counters_.bytes();
}

std::string CostModel::counters_json() {
  const std::lock_guard guard(mutex_);
  settle();
  for (std::int32_t ost = 0; ost < machine_.osts; ++ost) {
    const SimulatedTime before = queue_time_at_reset_[static_cast<std::size_t>(ost)];
    counters_.set_queue_time(ost, requests_.queue_time(ost) - before);
  }
  return counters_.json();
}

std::vector<BusyTimeline> CostModel::busy_times(StationKind kind) {
  const std::lock_guard guard(mutex_);
  settle();
  return requests_.busy_times(kind);
}

void CostModel::reset_counters() {
  const std::lock_guard guard(mutex_);
  settle();
  counters_ = Counters(machine_);
  for (std::int32_t ost = 0; ost < machine_.osts; ++ost) {
    queue_time_at_reset_[static_cast<std::size_t>(ost)] = requests_.queue_time(ost);
  }
}

}  // namespace nacre::sim
