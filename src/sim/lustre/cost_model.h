// CostModel: delays each access by the time that it takes on the modelled machine, and returns the
// errors of injected faults.
#ifndef NACRE_SIM_LUSTRE_COST_MODEL_H_
#define NACRE_SIM_LUSTRE_COST_MODEL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "sim/lustre/counters.h"
#include "sim/lustre/extent_locks.h"
#include "sim/lustre/faults.h"
#include "sim/lustre/node_locks.h"
#include "sim/lustre/object_store.h"
#include "sim/lustre/request_model.h"

namespace nacre::sim {

/// One open of a file on a node.
class OpenHandle {
 public:
  OpenHandle(std::int32_t node, bool direct) : node_(node), direct_(direct) {}

  [[nodiscard]] std::int32_t node() const { return node_; }

 private:
  friend class CostModel;
  /// The position of a request relative to the previous request.
  enum class Pattern : std::uint8_t {
    random,
    sequential,  ///< starts at the end of the previous request
    strided,     ///< same length and same positive stride as the previous request
  };
  /// Classifies a request for an extent of the file, and stores it as the previous request.
  [[nodiscard]] Pattern classify(const Extent& file);

  std::int32_t node_;
  bool direct_;  // bypasses the node's cache
  /// Whether extents of equal size follow each other at equal distances.
  struct Steps {
    Extent last;
    std::int64_t stride = 0;

    /// Whether this is true of `file` and the two extents before it.
    [[nodiscard]] bool add(const Extent& file);
  };

  Steps requests_;  // of the file
  /// The first requests of contiguous runs: FUSE divides a read into several buffers after 256 of
  /// them, where Lustre's client does not.
  Steps runs_;
  bool runs_in_steps_ = false;
  struct Pending {
    Ticket ticket;
    std::int64_t bytes;
  };
  std::deque<Pending> pending_ = {};  // requests that were in flight at the last look
  std::int64_t pending_bytes_ = 0;    // of all of them
  std::int64_t evictions_ = 0;        // evictions of the node that were reported to this handle
  bool has_written_ = false;
};

/// The open file that a call is for, and whether a signal has interrupted the call.
struct Caller {
  OpenHandle* handle;
  std::function<bool()> is_interrupted = [] { return false; };
};

/// An access to an extent of one object.
struct ObjectAccess {
  ObjectName object;
  Extent extent;       ///< in the object
  Extent file_extent;  ///< the same bytes, in the file
};

/// A request, of the testbed from the kernel, which splits long calls of a program into several
/// requests.
struct FileRequest {
  std::span<const ObjectAccess> accesses;
  bool may_continue = false;  ///< has the largest size: the next request may be of the same call
  LockWish locks = LockWish::wide;
};

/// Thread-safe. A node caches up to `dirty_bytes` of writes, sends them in requests of up to
/// `rpc_bytes`, and keeps its locks until another node needs them. Reads and direct writes wait for
/// the OST. Strided reads (read-ahead) and calls that the kernel splits keep up to `read_bytes` in
/// flight, like a Lustre client. Errors carry an errno: EIO, ENOSPC or EINTR.
class CostModel {
 public:
  /// Cached writes that are lost, because their node is evicted or their OST refuses them, are
  /// erased from `objects`. The arguments outlive this.
  CostModel(const Machine& machine, ObjectStore& objects, Timing& timing = real_timing());
  /// Waiting calls return EIO.
  ~CostModel();
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;

  /// As RequestModel::share_links().
  void share_links(NodeLinks& links);
  /// `direct`: accesses bypass the node's cache (O_DIRECT).
  [[nodiscard]] std::unique_ptr<OpenHandle> open(std::int32_t node, bool direct);
  [[nodiscard]] Status write(const Caller& caller, const FileRequest& request);
  [[nodiscard]] Status read(const Caller& caller, const FileRequest& request);
  /// Revokes all locks on the objects, and waits until their holders have written back their data.
  [[nodiscard]] Status revoke_locks(const Caller& caller, std::span<const ObjectName> objects);
  /// Grants the node locks for writes of these extents, and of no more, where no other node has a
  /// lock that conflicts. Nobody waits for them.
  void lock_ahead(std::int32_t node, std::span<const ObjectAccess> accesses);
  /// All nodes give up their locks, as some time after their job. Takes no time. For files whose
  /// writes are all on the OSTs.
  void drop_locks();
  /// Waits until the node's cached writes to the objects are on the OSTs, and until the handle's
  /// reads and direct writes have completed.
  [[nodiscard]] Status flush(const Caller& caller, std::span<const ObjectName> objects);
  /// For giving up a lock: waits until the node's cached writes to the objects are on the OSTs.
  /// Lost writes are left for the next flush() to report.
  [[nodiscard]] Status write_back(const Caller& caller, std::span<const ObjectName> objects);
  /// For close(2): waits until the handle's reads and direct writes have completed, but not until
  /// cached writes are on the OSTs. EIO if the handle has written, and its node was evicted or has
  /// lost writes to the objects, which this is the first call to report.
  [[nodiscard]] Status finish(const Caller& caller, std::span<const ObjectName> objects);
  /// Waits for `length`, as for a request.
  [[nodiscard]] Status delay(const Caller& caller, SimulatedTime length);
  /// `cost`: what a call that waits takes beside the model, such as the way through FUSE. The
  /// latencies of OSTs and locks become as much shorter, so that the call takes the time that it
  /// takes on the machine.
  void deduct(SimulatedTime cost);
  /// ENOSPC if the OST of one of the objects is full.
  [[nodiscard]] Status reserve(std::span<const ObjectName> objects);
  /// Nodes that have lost writes to the objects `from` are told of it by `to`: a file that gets
  /// other objects keeps its errors.
  void pass_on_losses(std::span<const ObjectName> from, const ObjectName& to);
  /// Drops the locks and the unsent writes of a removed object.
  void forget(const ObjectName& object);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  /// Sets the fault of an OST, or evicts a node.
  [[nodiscard]] Status order(const FaultOrder& order);
  [[nodiscard]] std::string counters_json();
  /// The bytes of all requests so far.
  [[nodiscard]] std::int64_t bytes_requested();
  /// As RequestModel::busy_times().
  [[nodiscard]] std::vector<BusyTimeline> busy_times(StationKind kind);
  void reset_counters();
  /// Waiting calls and later calls that have to wait return EIO.
  void stop();
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  using Guard = std::unique_lock<std::mutex>;
  struct Unsent {
    std::vector<Extent> extents;
    std::int64_t bytes = 0;
  };
  /// The state of a node for one OST.
  struct Outbox {
    explicit Outbox(Timing& timing) : changed(timing.make_signal()) {}

    std::int64_t dirty_bytes = 0;                  // written by programs and not yet on the OST
    std::map<ObjectName, Unsent> unsent;           // cached, to be sent in the next write requests
    std::map<ObjectName, std::int64_t> in_flight;  // accesses and requests that delay callbacks
    std::unique_ptr<Signal> changed;
  };
  struct NodeObject {
    std::int32_t node;
    ObjectName object;
  };
  struct InFlight {
    Rpc rpc;
    ObjectName object;
    std::vector<Extent> extents;  // of a write from the cache
    bool delays_callbacks;
  };
  struct ObjectLocks {
    ObjectLocks(bool wide, Timing& timing) : locks(wide), changed(timing.make_signal()) {}

    ExtentLocks locks;
    std::unique_ptr<Signal> changed;
  };
  struct LockRequest {
    std::uint64_t number;  // ExtentLocks::number_request()
    ExtentLocks::Lock wanted;
  };
  struct Delay {
    explicit Delay(std::unique_ptr<Signal> signal) : ended(std::move(signal)) {}

    bool is_over = false;
    std::unique_ptr<Signal> ended;  // one for each delay: many calls may wait
  };

  void settle();
  void set_alarm();
  void end(const InFlight& ended);
  [[nodiscard]] Outbox& outbox(std::int32_t node, std::int32_t ost);
  [[nodiscard]] std::shared_ptr<ObjectLocks> locks_of(const ObjectName& object);
  [[nodiscard]] Status wait(Guard& guard, Signal& changed, const Caller& caller,
                            const std::function<bool()>& ready);
  [[nodiscard]] Status wait_for_ticket(Guard& guard, const Caller& caller, Ticket ticket);
  [[nodiscard]] Status check_and_lock(Guard& guard, const Caller& caller,
                                      const FileRequest& request, const ObjectAccess& access,
                                      plan::Direction direction);
  [[nodiscard]] std::vector<NodeObject> call_back(const ObjectName& name, ObjectLocks& object,
                                                  const LockRequest& request);
  [[nodiscard]] Status wait_for_lock_messages(Guard& guard, const Caller& caller,
                                              std::int64_t count);
  [[nodiscard]] Status wait_for_delay(Guard& guard, const Caller& caller, SimulatedTime length);
  [[nodiscard]] Status wait_for_holders(Guard& guard, const Caller& caller, const ObjectName& name,
                                        ObjectLocks& object, const LockRequest& request);
  /// The time of messages that are sent one after the other.
  [[nodiscard]] SimulatedTime lock_messages(std::int64_t count) const {
    return count * machine_.lock_latency_us * microsecond;
  }
  [[nodiscard]] Result<std::int64_t> acquire(Guard& guard, const Caller& caller,
                                             const ObjectName& name,
                                             const ExtentLocks::Lock& wanted);
  void begin_access(std::int32_t node, const ObjectName& object);
  void end_access(std::int32_t node, const ObjectName& object);
  [[nodiscard]] Status lock(Guard& guard, const Caller& caller, const ObjectName& name,
                            const ExtentLocks::Lock& wanted);
  [[nodiscard]] Status write_back(Guard& guard, const Caller& caller,
                                  std::span<const NodeObject> node_objects);
  [[nodiscard]] Status write_back_until_now(Guard& guard, const Caller& caller,
                                            std::span<const ObjectName> objects);
  [[nodiscard]] Status write_to_cache(Guard& guard, const Caller& caller,
                                      const ObjectAccess& access);
  void append_unsent(Outbox& box, std::int32_t node, const ObjectAccess& access);
  void send_unsent(Outbox& box, std::int32_t node, ObjectName object);
  void send_all_unsent(Outbox& box, std::int32_t node);
  [[nodiscard]] Ticket send(std::int32_t node, const ObjectName& object, std::int64_t bytes,
                            plan::Direction direction);
  [[nodiscard]] Status access_osts(Guard& guard, const Caller& caller, const FileRequest& request,
                                   plan::Direction direction);
  [[nodiscard]] Status wait_for_pending(Guard& guard, const Caller& caller,
                                        std::int64_t bytes_left);
  /// Forgets the handle's requests that have ended.
  void drop_ended(OpenHandle& handle) const;
  [[nodiscard]] bool was_evicted(OpenHandle& handle) const;
  [[nodiscard]] bool take_losses(std::int32_t node, std::span<const ObjectName> objects);
  [[nodiscard]] Status lose(std::int32_t node, const ObjectName& object,
                            std::span<const Extent> extents);
  [[nodiscard]] Status evict(std::int32_t node);
  void discard_unsent(Outbox& box, ObjectName object);

  const Machine machine_;
  ObjectStore& objects_;
  Timing& timing_;
  std::mutex mutex_;  // guards all members below
  RequestModel requests_;
  Faults faults_;
  Counters counters_;
  std::vector<SimulatedTime> queue_time_at_reset_;  // by OST: when the counters were last reset
  // By OST and node.
  std::map<std::pair<std::int32_t, std::int32_t>, std::unique_ptr<Outbox>> outboxes_;
  std::map<Ticket, InFlight> in_flight_;
  std::map<ObjectName, std::shared_ptr<ObjectLocks>> locks_;
  SimulatedTime deducted_ = 0;  // see deduct()
  std::map<Ticket, Delay> delays_;
  std::vector<std::int64_t> evictions_;  // by node
  /// Nodes and objects of lost writes. As in Lustre's client, the first flush of the file on the
  /// node reports them, through whichever open file, or the first close.
  std::set<std::pair<std::int32_t, ObjectName>> losses_;
  std::atomic<bool> stopped_ = false;
  std::unique_ptr<Alarm> alarm_;  // completes requests on time even if no call does
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_COST_MODEL_H_
