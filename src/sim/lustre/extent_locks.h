// ExtentLocks: the locks of the nodes on one object, granted like a Lustre lock server does. A node
// needs them to cache bytes of the object.
#ifndef NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_
#define NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/extent.h"

namespace nacre::sim {

/// A node keeps a lock until another node requests a conflicting lock. Not thread-safe.
class ExtentLocks {
 public:
  /// `wide`: a lock is extended up to the conflicting locks that are granted to other nodes or
  /// that they wait for. Otherwise a lock has the requested extent.
  explicit ExtentLocks(bool wide) : wide_(wide) {}
  /// A lock that a node requests or holds.
  struct Lock {
    std::int32_t node = 0;
    Extent extent;  ///< in the object; length INT64_MAX - offset: to its end
    bool exclusive = false;
    bool narrow = false;  ///< must not be extended

    friend bool operator==(const Lock&, const Lock&) = default;
  };
  /// Whether the node already holds a sufficient lock that no other node waits for: Lustre's server
  /// tells a client with the lock itself that others wait, and the client uses it for one access.
  [[nodiscard]] bool covers(const Lock& wanted) const;
  /// Whether no request that conflicts waited before `wanted`, which waits.
  [[nodiscard]] bool is_next(const Lock& wanted) const;
  /// Whether another node holds or waits for a lock that conflicts.
  [[nodiscard]] bool conflicts(const Lock& wanted) const;
  /// Adds a waiting request, which limits the locks of other nodes until grant() or give_up().
  void wait_for(const Lock& wanted) { waiting_.push_back(wanted); }
  /// Removes a waiting request.
  void give_up(const Lock& wanted);
  /// Revokes the locks that conflict with `wanted`. Returns the nodes that held them, without
  /// duplicates.
  [[nodiscard]] std::vector<std::int32_t> call_back(const Lock& wanted);
  /// Grants `wanted`, with which no granted lock may conflict: see call_back().
  void grant(const Lock& wanted);
  /// Drops all locks that a node holds.
  void drop(std::int32_t node);

 private:
  [[nodiscard]] std::span<const Lock> waiting_before(const Lock& wanted) const;
  [[nodiscard]] Extent widened(const Lock& wanted) const;

  bool wide_;
  std::vector<Lock> granted_;
  std::vector<Lock> waiting_;  // in the order in which they came
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_
