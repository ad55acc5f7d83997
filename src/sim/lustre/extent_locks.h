// ExtentLocks: the locks of the nodes on one object, granted like a Lustre lock server does. A node
// needs them to cache bytes of the object.
#ifndef NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_
#define NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_

#include <cstdint>
#include <vector>

#include "base/extent.h"

namespace nacre::sim {

/// A node uses a lock until the server calls it back for a conflicting request. Not thread-safe.
class ExtentLocks {
 public:
  /// `wide`: a lock is extended up to conflicting locks that other nodes hold, wait for or are
  /// giving up. Otherwise a lock has the requested extent.
  explicit ExtentLocks(bool wide) : wide_(wide) {}
  /// A lock that a node requests or holds.
  struct Lock {
    std::int32_t node = 0;
    Extent extent;  ///< in the object; length INT64_MAX - offset: to its end
    bool exclusive = false;
    bool narrow = false;  ///< must not be extended

    friend bool operator==(const Lock&, const Lock&) = default;
  };
  /// Whether the node already holds a sufficient lock, which is not called back.
  [[nodiscard]] bool covers(const Lock& wanted) const;
  /// Whether a lock excludes `wanted`, as in is_free(), or another node waits for one that
  /// conflicts.
  [[nodiscard]] bool conflicts(const Lock& wanted) const;
  /// A new number. Equal requests have different numbers.
  [[nodiscard]] std::uint64_t number_request() { return ++last_request_; }
  /// Adds a waiting request, which limits the locks of other nodes until give_up().
  void wait_for(std::uint64_t request, const Lock& wanted) {
    waiting_.push_back({request, wanted});
  }
  /// Whether no conflicting request has waited longer than this one.
  [[nodiscard]] bool is_next(std::uint64_t request) const;
  void give_up(std::uint64_t request);
  /// Calls back the locks that conflict with `wanted`, except those that are called back already.
  /// Returns the nodes that hold them, without duplicates. A lock that is called back serves no
  /// further access.
  [[nodiscard]] std::vector<std::int32_t> call_back(std::uint64_t request, const Lock& wanted);
  /// The holders have given up the locks that were called back for this request.
  void end_call_back(std::uint64_t request);
  /// Whether no lock excludes `wanted`. As on Lustre's servers, a lock that is called back also
  /// excludes requests of its own node, unless both locks are for reading.
  [[nodiscard]] bool is_free(const Lock& wanted) const;
  /// Grants `wanted`, which is_free().
  void grant(const Lock& wanted);
  /// Drops all locks that a node holds.
  void drop(std::int32_t node);

 private:
  [[nodiscard]] Extent widened(const Lock& wanted) const;

  struct Request {
    std::uint64_t number;
    Lock lock;
  };

  bool wide_;
  std::uint64_t last_request_ = 0;
  std::vector<Lock> granted_;
  std::vector<Request> called_back_;  // the locks, and for which request
  std::vector<Request> waiting_;      // in the order in which they came
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_EXTENT_LOCKS_H_
