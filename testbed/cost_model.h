// CostModel: makes accesses take as long as they would on the machine, and fail where a fault says
// so.
#ifndef NACRE_TESTBED_COST_MODEL_H_
#define NACRE_TESTBED_COST_MODEL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "testbed/counters.h"
#include "testbed/extent_locks.h"
#include "testbed/faults.h"
#include "testbed/node_locks.h"
#include "testbed/object_store.h"
#include "testbed/simulation.h"

namespace nacre::testbed {

/// An open of a file on a node.
class OpenHandle {
 public:
  OpenHandle(std::int32_t node, bool direct) : node_(node), direct_(direct) {}

  [[nodiscard]] std::int32_t node() const { return node_; }

 private:
  friend class CostModel;
  /// How a request lies to the one before it.
  enum class Course : std::uint8_t {
    elsewhere,
    behind,      ///< goes on where that ended
    in_strides,  ///< as far from it as that from its own, and as long
  };
  [[nodiscard]] Course follow(const Extent& file);

  std::int32_t node_;
  bool direct_;                      // past the node's cache
  Extent last_;                      // what was asked for last, of the file
  std::int64_t stride_ = 0;          // from the request before it to that one
  std::deque<Ticket> pending_ = {};  // of it and those it goes on with
  std::int64_t evictions_ = 0;       // of its node, that it has heard of
  bool has_written_ = false;
};

/// Who waits, and whether to give up: a signal.
struct Caller {
  OpenHandle* handle;
  std::function<bool()> is_interrupted = [] { return false; };
};

/// A part of one object.
struct ObjectAccess {
  ObjectName object;
  Extent extent;       ///< of the object
  Extent file_extent;  ///< the same bytes
};

/// A request of a program; the kernel cuts long ones.
struct FileRequest {
  std::span<const ObjectAccess> accesses;
  bool may_go_on = false;  ///< as long as the kernel lets them be: what follows may belong to it
  LockWish locks = LockWish::wide;
};

/// Thread-safe. A node caches what it writes, up to a limit, sends it on in requests as long as
/// they may be, and keeps locks until others want them. Reads and direct writes wait for the OST,
/// those that the kernel cut once for all pieces; reads that go on in equal strides are asked for
/// ahead, as a Lustre's client does. Errors carry the errno: EIO, ENOSPC, EINTR.
class CostModel {
 public:
  /// `objects` loses what an evicted node had not sent.
  CostModel(const Machine& machine, ObjectStore& objects);
  /// Whoever waits is told EIO.
  ~CostModel();
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;

  /// `direct`: past the node's cache.
  [[nodiscard]] std::unique_ptr<OpenHandle> open(std::int32_t node, bool direct);
  [[nodiscard]] Status write(const Caller& caller, const FileRequest& request);
  [[nodiscard]] Status read(const Caller& caller, const FileRequest& request);
  /// Until no node has a lock on the objects any more.
  [[nodiscard]] Status call_in_locks(const Caller& caller, std::span<const ObjectName> objects);
  /// Until what the node wrote of the objects is on the OSTs.
  [[nodiscard]] Status flush(const Caller& caller, std::span<const ObjectName> objects);
  /// At close(2): until reads and direct writes have ended. What was written may be lost: EIO.
  [[nodiscard]] Status finish(const Caller& caller);
  /// ENOSPC where one of the objects' OSTs has no space for more.
  [[nodiscard]] Status reserve(std::span<const ObjectName> objects);
  /// The object is gone.
  void forget(const ObjectName& object);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] Status order(const FaultOrder& order);
  [[nodiscard]] std::string counters_json();
  void reset_counters();
  /// Ends all waits, for good.
  void stop();
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  using Guard = std::unique_lock<std::mutex>;
  /// What a node has for an OST.
  struct Outbox {
    std::int64_t dirty = 0;  // bytes written and not yet there
    ObjectName object;       // of what goes out with the next request
    Extent gathered;
    std::map<ObjectName, std::int64_t> under_way;  // requests
    std::condition_variable changed;
  };
  /// What a node has of an object.
  struct Share {
    std::int32_t node;
    ObjectName object;
  };
  struct UnderWay {
    Rpc rpc;
    ObjectName object;
    Extent extent;
    bool dirty;
  };
  struct ObjectLocks {
    explicit ObjectLocks(bool wide) : locks(wide) {}

    ExtentLocks locks;
    bool busy = false;  // somebody waits for the nodes that are to give theirs back
    std::condition_variable changed;
  };

  void run_clock();
  void settle();
  void wake_clock();
  void end(const UnderWay& ended);
  [[nodiscard]] Outbox& outbox(std::int32_t node, std::int32_t ost);
  [[nodiscard]] std::shared_ptr<ObjectLocks> locks_of(const ObjectName& object);
  [[nodiscard]] Status wait(Guard& guard, std::condition_variable& changed, const Caller& caller,
                            const std::function<bool()>& ready);
  [[nodiscard]] Status wait_for_ticket(Guard& guard, const Caller& caller, Ticket ticket);
  [[nodiscard]] Status admit(Guard& guard, const Caller& caller, const FileRequest& request,
                             const ObjectAccess& access, plan::Direction direction);
  [[nodiscard]] std::vector<Share> call_back(const ObjectName& name, ObjectLocks& object,
                                             const ExtentLocks::Lock& wanted);
  [[nodiscard]] Status wait_for_messages(Guard& guard, const Caller& caller, std::int64_t count);
  [[nodiscard]] Status lock(Guard& guard, const Caller& caller, const ObjectName& name,
                            const ExtentLocks::Lock& wanted);
  [[nodiscard]] Status write_back(Guard& guard, const Caller& caller,
                                  std::span<const Share> shares);
  [[nodiscard]] Status buffer(Guard& guard, const Caller& caller, const ObjectAccess& access);
  void gather(Outbox& box, std::int32_t node, const ObjectAccess& access);
  void send_gathered(Outbox& box, std::int32_t node);
  [[nodiscard]] Ticket send(std::int32_t node, const ObjectName& object, const Extent& extent,
                            plan::Direction direction);
  [[nodiscard]] Status access_directly(Guard& guard, const Caller& caller,
                                       const FileRequest& request, plan::Direction direction);
  [[nodiscard]] Status wait_for_pending(Guard& guard, const Caller& caller,
                                        std::int64_t bytes_left);
  [[nodiscard]] bool was_evicted(OpenHandle& handle) const;
  [[nodiscard]] Status evict(std::int32_t node);
  void drop_gathered(Outbox& box);

  const Machine machine_;
  ObjectStore& objects_;
  std::mutex mutex_;  // of all that follows
  Simulation simulation_;
  Faults faults_;
  Counters counters_;
  std::vector<SimulatedTime> queued_before_;  // the counters' last reset, by OST
  std::map<std::pair<std::int32_t, std::int32_t>, std::unique_ptr<Outbox>> outboxes_;
  std::map<Ticket, UnderWay> under_way_;
  std::map<ObjectName, std::shared_ptr<ObjectLocks>> locks_;
  std::map<Ticket, bool> delays_;        // whether they have ended
  std::vector<std::int64_t> evictions_;  // by node
  std::condition_variable delay_ended_;
  std::condition_variable clock_;
  std::atomic<bool> stopped_ = false;
  SimulatedTime clock_waits_for_ = 0;
  std::thread clock_thread_;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_COST_MODEL_H_
