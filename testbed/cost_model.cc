#include "testbed/cost_model.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "base/checked_cast.h"
#include "base/clock.h"
#include "testbed/errno_result.h"

namespace nacre::testbed {
namespace {

constexpr SimulatedTime never = std::numeric_limits<SimulatedTime>::max();

}  // namespace

CostModel::CostModel(const Machine& machine, ObjectStore& objects)
    : machine_(machine),
      objects_(objects),
      simulation_(machine),
      counters_(machine),
      queued_before_(checked_cast<std::size_t>(machine.osts)),
      evictions_(checked_cast<std::size_t>(machine.nodes)),
      clock_thread_([this] { run_clock(); }) {}

CostModel::~CostModel() {
  stop();
  clock_thread_.join();
}

void CostModel::stop() {
  const std::lock_guard guard(mutex_);
  stopped_ = true;
  clock_.notify_all();
  delay_ended_.notify_all();
  for (const auto& [key, box] : outboxes_) box->changed.notify_all();
  for (const auto& [object, locks] : locks_) locks->changed.notify_all();
}

/// Sees to it that what ends is told even if nobody asks.
void CostModel::run_clock() {
  Guard guard(mutex_);
  while (!stopped_) {
    clock_waits_for_ = simulation_.next().value_or(never);
    if (clock_waits_for_ == never) {
      clock_.wait(guard);
    } else {
      const std::chrono::nanoseconds since_start(clock_waits_for_);
      clock_.wait_until(guard, std::chrono::steady_clock::time_point(since_start));
    }
    settle();
  }
}

/// Brings everything up to now.
void CostModel::settle() {
  for (const Ticket ticket : simulation_.advance(monotonic_nanoseconds())) {
    const auto found = under_way_.find(ticket);
    if (found != under_way_.end()) {
      end(found->second);
      under_way_.erase(found);
    } else if (const auto delay = delays_.find(ticket); delay != delays_.end()) {
      delay->second = true;
      delay_ended_.notify_all();
    }
  }
  wake_clock();
}

/// Where something ends before it would look again.
void CostModel::wake_clock() {
  if (simulation_.next().value_or(clock_waits_for_) < clock_waits_for_) clock_.notify_one();
}

void CostModel::end(const UnderWay& ended) {
  Outbox& box = outbox(ended.rpc.node, ended.rpc.ost);
  if (ended.dirty) box.dirty -= ended.rpc.bytes;
  const auto mine = box.under_way.find(ended.object);
  if (--mine->second == 0) box.under_way.erase(mine);
  box.changed.notify_all();
}

CostModel::Outbox& CostModel::outbox(std::int32_t node, std::int32_t ost) {
  std::unique_ptr<Outbox>& found = outboxes_[{node, ost}];
  if (found == nullptr) found = std::make_unique<Outbox>();
  return *found;
}

std::shared_ptr<CostModel::ObjectLocks> CostModel::locks_of(const ObjectName& object) {
  std::shared_ptr<ObjectLocks>& found = locks_[object];
  if (found == nullptr) found = std::make_shared<ObjectLocks>(machine_.wide_locks != 0);
  return found;
}

Status CostModel::wait(Guard& guard, std::condition_variable& changed, const Caller& caller,
                       const std::function<bool()>& ready) {
  // The kernel's word of a signal does not come by the condition.
  constexpr std::chrono::milliseconds look_interval{50};
  while (true) {
    settle();
    if (ready()) return {};
    if (stopped_ || was_evicted(*caller.handle)) return refused(EIO);
    if (caller.is_interrupted()) return refused(EINTR);
    changed.wait_for(guard, look_interval);
  }
}

/// Since it was asked last.
bool CostModel::was_evicted(OpenHandle& handle) const {
  const std::int64_t evictions = evictions_[static_cast<std::size_t>(handle.node_)];
  return std::exchange(handle.evictions_, evictions) != evictions;
}

std::unique_ptr<OpenHandle> CostModel::open(std::int32_t node, bool direct) {
  const std::lock_guard guard(mutex_);
  auto handle = std::make_unique<OpenHandle>(node, direct);
  static_cast<void>(was_evicted(*handle));
  return handle;
}

// ---- requests ----

Ticket CostModel::send(std::int32_t node, const ObjectName& object, const Extent& extent,
                       plan::Direction direction) {
  const Rpc rpc{node, object.ost, extent.length};
  const Ticket ticket = simulation_.submit(rpc, monotonic_nanoseconds());
  under_way_[ticket] = {rpc, object, extent, false};
  ++outbox(node, object.ost).under_way[object];
  counters_.count_request(rpc, direction);
  wake_clock();
  return ticket;
}

/// What is gathered goes out, however little it is.
void CostModel::send_gathered(Outbox& box, std::int32_t node) {
  if (box.gathered.empty()) return;
  const Extent extent = std::exchange(box.gathered, {});
  const Ticket ticket = send(node, box.object, extent, plan::Direction::write);
  under_way_.at(ticket).dirty = true;
}

/// Puts bytes to those before them, and sends requests that are full.
void CostModel::gather(Outbox& box, std::int32_t node, const ObjectAccess& access) {
  Extent left = access.extent;
  while (!left.empty()) {
    const bool goes_on = box.object == access.object && box.gathered.end() == left.offset;
    if (!goes_on) send_gathered(box, node);
    if (box.gathered.empty()) {
      box.object = access.object;
      box.gathered = {left.offset, 0};
    }
    const std::int64_t taken =
        std::min(left.length, machine_.rpc_bytes - box.gathered.offset % machine_.rpc_bytes -
                                  box.gathered.length);
    box.gathered.length += taken;
    left = {left.offset + taken, left.length - taken};
    if (box.gathered.end() % machine_.rpc_bytes == 0) send_gathered(box, node);
  }
}

/// Into the node's cache, when it has room.
Status CostModel::buffer(Guard& guard, const Caller& caller, const ObjectAccess& access) {
  const std::int32_t node = caller.handle->node_;
  Outbox& box = outbox(node, access.object.ost);
  // Others of the node gather while this one waits, and may wait too.
  const auto fits = [&] {
    const bool has_room =
        box.dirty == 0 || box.dirty + access.extent.length <= machine_.dirty_bytes;
    if (!has_room) send_gathered(box, node);
    return has_room;
  };
  if (Status waited = wait(guard, box.changed, caller, fits); !waited) return waited;
  box.dirty += access.extent.length;
  gather(box, node, access);
  return {};
}

Status CostModel::wait_for_ticket(Guard& guard, const Caller& caller, Ticket ticket) {
  const auto found = under_way_.find(ticket);
  if (found == under_way_.end()) return {};
  Outbox& box = outbox(found->second.rpc.node, found->second.rpc.ost);
  return wait(guard, box.changed, caller, [&] { return !under_way_.contains(ticket); });
}

/// Until no more than `bytes_left` of the handle's own requests are under way.
Status CostModel::wait_for_pending(Guard& guard, const Caller& caller, std::int64_t bytes_left) {
  std::deque<Ticket>& pending = caller.handle->pending_;
  const auto bytes = [&] {
    std::int64_t sum = 0;
    for (const Ticket one : pending) {
      const auto found = under_way_.find(one);
      if (found != under_way_.end()) sum += found->second.rpc.bytes;
    }
    return sum;
  };
  while (!pending.empty() && bytes() > bytes_left) {
    const Ticket oldest = pending.front();
    pending.pop_front();
    if (Status waited = wait_for_ticket(guard, caller, oldest); !waited) return waited;
  }
  std::erase_if(pending, [&](Ticket one) { return !under_way_.contains(one); });
  return {};
}

OpenHandle::Course OpenHandle::follow(const Extent& file) {
  const Extent before = std::exchange(last_, file);
  const std::int64_t stride = file.offset - before.offset;
  const bool is_same = std::exchange(stride_, stride) == stride && file.length == before.length;
  if (is_same && stride > 0) return Course::in_strides;
  return file.offset == before.end() ? Course::behind : Course::elsewhere;
}

/// To the OSTs and back.
Status CostModel::access_directly(Guard& guard, const Caller& caller, const FileRequest& request,
                                  plan::Direction direction) {
  using Course = OpenHandle::Course;
  OpenHandle& handle = *caller.handle;
  if (request.accesses.empty()) return {};
  const Course course = handle.follow(
      hull(request.accesses.front().file_extent, request.accesses.back().file_extent));
  const bool is_ahead = course == Course::in_strides && direction == plan::Direction::read;
  if (course != Course::behind && !is_ahead) {
    if (Status waited = wait_for_pending(guard, caller, 0); !waited) return waited;
  }
  for (const ObjectAccess& access : request.accesses) {
    for (Extent left = access.extent; !left.empty();) {
      const Extent part{left.offset, std::min(left.length, machine_.rpc_bytes)};
      handle.pending_.push_back(send(handle.node_, access.object, part, direction));
      left = {part.end(), left.length - part.length};
    }
  }
  settle();  // what takes no time has ended
  const bool may_wait = is_ahead || request.may_go_on;
  return wait_for_pending(guard, caller, may_wait ? machine_.read_bytes : 0);
}

// ---- locks ----

/// Has nodes write back what they have of objects, all at once, and waits until it is there.
Status CostModel::write_back(Guard& guard, const Caller& caller, std::span<const Share> shares) {
  for (const auto& [node, object] : shares) {
    Outbox& box = outbox(node, object.ost);
    if (box.object == object) send_gathered(box, node);
  }
  for (const Share& share : shares) {
    Outbox& box = outbox(share.node, share.object.ost);
    const auto is_written = [&] { return !box.under_way.contains(share.object); };
    if (Status waited = wait(guard, box.changed, caller, is_written); !waited) return waited;
  }
  return {};
}

/// Takes locks away that exclude what is wanted, from those who are to write back.
std::vector<CostModel::Share> CostModel::call_back(const ObjectName& name, ObjectLocks& object,
                                                   const ExtentLocks::Lock& wanted) {
  std::vector<Share> holders;
  for (const std::int32_t node : object.locks.call_back(wanted)) {
    counters_.count_callback(node, name.ost);
    holders.push_back({node, name});
  }
  return holders;
}

/// One after the other, of those about locks.
Status CostModel::wait_for_messages(Guard& guard, const Caller& caller, std::int64_t count) {
  if (machine_.lock_latency_us == 0) return {};
  const std::int64_t length = count * machine_.lock_latency_us * microsecond;
  const Ticket ticket = simulation_.delay(length, monotonic_nanoseconds());
  delays_[ticket] = false;
  Status waited = wait(guard, delay_ended_, caller, [&] { return delays_.at(ticket); });
  delays_.erase(ticket);
  return waited;
}

Status CostModel::lock(Guard& guard, const Caller& caller, const ObjectName& name,
                       const ExtentLocks::Lock& wanted) {
  const std::shared_ptr<ObjectLocks> object = locks_of(name);
  if (object->locks.covers(wanted)) return {};
  object->locks.wait_for(wanted);
  Status waited = wait(guard, object->changed, caller, [&] { return !object->busy; });
  if (!waited || object->locks.covers(wanted)) {
    object->locks.give_up(wanted);
    return waited;
  }
  object->busy = true;
  const std::vector<Share> holders = call_back(name, *object, wanted);
  waited = write_back(guard, caller, holders);
  // To the lock's server and back; it to the nodes, all at once, and back.
  if (waited) waited = wait_for_messages(guard, caller, holders.empty() ? 2 : 4);
  if (waited) {
    object->locks.grant(wanted);
    counters_.count_grant(wanted.node, name.ost);
  } else {
    object->locks.give_up(wanted);
  }
  object->busy = false;
  object->changed.notify_all();
  return waited;
}

/// Faults, and the lock that an access needs.
Status CostModel::admit(Guard& guard, const Caller& caller, const FileRequest& request,
                        const ObjectAccess& access, plan::Direction direction) {
  const bool writes = direction == plan::Direction::write;
  Status checked = faults_.check(access.object.ost, access.file_extent, writes);
  if (!checked || request.locks == LockWish::none) return checked;
  const bool is_narrow = request.locks == LockWish::narrow;
  return lock(guard, caller, access.object,
              {caller.handle->node_, access.extent, writes, is_narrow});
}

// ---- what files ask for ----

Status CostModel::write(const Caller& caller, const FileRequest& request) {
  Guard guard(mutex_);
  settle();
  OpenHandle& handle = *caller.handle;
  if (was_evicted(handle)) return refused(EIO);
  handle.has_written_ = true;
  for (const ObjectAccess& access : request.accesses) {
    if (Status let = admit(guard, caller, request, access, plan::Direction::write); !let)
      return let;
    if (handle.direct_) continue;
    if (Status kept = buffer(guard, caller, access); !kept) return kept;
  }
  if (handle.direct_) return access_directly(guard, caller, request, plan::Direction::write);
  settle();
  return {};
}

Status CostModel::read(const Caller& caller, const FileRequest& request) {
  Guard guard(mutex_);
  settle();
  for (const ObjectAccess& access : request.accesses) {
    if (Status let = admit(guard, caller, request, access, plan::Direction::read); !let) return let;
  }
  return access_directly(guard, caller, request, plan::Direction::read);
}

Status CostModel::call_in_locks(const Caller& caller, std::span<const ObjectName> objects) {
  constexpr std::int32_t nobody = -1;  // whom all nodes' locks exclude
  const ExtentLocks::Lock all{nobody, {0, std::numeric_limits<std::int64_t>::max()}, true};
  Guard guard(mutex_);
  settle();
  std::vector<Share> holders;
  for (const ObjectName& name : objects) {
    const std::vector<Share> found = call_back(name, *locks_of(name), all);
    holders.insert(holders.end(), found.begin(), found.end());
  }
  if (Status written = write_back(guard, caller, holders); !written) return written;
  return wait_for_messages(guard, caller, holders.empty() ? 2 : 4);
}

Status CostModel::flush(const Caller& caller, std::span<const ObjectName> objects) {
  Guard guard(mutex_);
  settle();
  std::vector<Share> shares;
  for (const ObjectName& object : objects) shares.push_back({caller.handle->node_, object});
  if (Status written = write_back(guard, caller, shares); !written) return written;
  if (was_evicted(*caller.handle)) return refused(EIO);
  return wait_for_pending(guard, caller, 0);
}

Status CostModel::finish(const Caller& caller) {
  Guard guard(mutex_);
  if (caller.handle->has_written_ && was_evicted(*caller.handle)) return refused(EIO);
  return wait_for_pending(guard, caller, 0);
}

Status CostModel::reserve(std::span<const ObjectName> objects) {
  const std::lock_guard guard(mutex_);
  const auto is_full = [&](const ObjectName& object) { return faults_.is_full(object.ost); };
  return std::ranges::any_of(objects, is_full) ? refused(ENOSPC) : Status();
}

void CostModel::forget(const ObjectName& object) {
  const std::lock_guard guard(mutex_);
  locks_.erase(object);
  for (const auto& [key, box] : outboxes_) {
    if (key.second == object.ost && box->object == object) drop_gathered(*box);
  }
}

/// What was not sent yet need not be.
void CostModel::drop_gathered(Outbox& box) {
  box.dirty -= std::exchange(box.gathered, {}).length;
  box.changed.notify_all();
}

// ---- faults and counters ----

Status CostModel::order(const FaultOrder& order) {
  const std::lock_guard guard(mutex_);
  settle();
  if (order.evicted_node) return evict(*order.evicted_node);
  faults_.set(order.ost, order.fault);
  simulation_.set_slowness(order.ost, order.fault.slowness, monotonic_nanoseconds());
  settle();
  return {};
}

/// Its locks are gone, and what it had not brought to the OSTs.
Status CostModel::evict(std::int32_t node) {
  Status lost;
  const auto lose = [&](const ObjectName& object, const Extent& extent) {
    Status erased = objects_.erase(object, extent);
    if (lost) lost = std::move(erased);
  };
  ++evictions_[static_cast<std::size_t>(node)];
  for (const auto& [object, locks] : locks_) locks->locks.drop(node);
  for (const auto& [ticket, one] : under_way_) {
    if (one.rpc.node == node && one.dirty) lose(one.object, one.extent);
  }
  for (const auto& [key, box] : outboxes_) {
    if (key.first != node) continue;
    lose(box->object, box->gathered);
    drop_gathered(*box);
  }
  return lost;
}

std::string CostModel::counters_json() {
  const std::lock_guard guard(mutex_);
  settle();
  for (std::int32_t ost = 0; ost < machine_.osts; ++ost) {
    const SimulatedTime before = queued_before_[static_cast<std::size_t>(ost)];
    counters_.set_queue_time(ost, simulation_.queue_time(ost) - before);
  }
  return counters_.json();
}

void CostModel::reset_counters() {
  const std::lock_guard guard(mutex_);
  settle();
  counters_ = Counters(machine_);
  for (std::int32_t ost = 0; ost < machine_.osts; ++ost) {
    queued_before_[static_cast<std::size_t>(ost)] = simulation_.queue_time(ost);
  }
}

}  // namespace nacre::testbed
