// ExtentLocks: the locks of an object that nodes cache its bytes under, as a Lustre's lock server
// grants them.
#ifndef NACRE_TESTBED_EXTENT_LOCKS_H_
#define NACRE_TESTBED_EXTENT_LOCKS_H_

#include <cstdint>
#include <vector>

#include "base/extent.h"

namespace nacre::testbed {

/// A lock is kept until another node wants some of it. Not thread-safe.
class ExtentLocks {
 public:
  /// `wide`: granted as wide as no other node's stands in its way, be it granted or waited for;
  /// else as it was wanted.
  explicit ExtentLocks(bool wide) : wide_(wide) {}
  /// What a node wants, or has.
  struct Lock {
    std::int32_t node = 0;
    Extent extent;  ///< of the object; length INT64_MAX - offset: to its end
    bool exclusive = false;
    bool narrow = false;  ///< is not to be granted any wider

    friend bool operator==(const Lock&, const Lock&) = default;
  };
  /// Whether the node has what it wants already.
  [[nodiscard]] bool covers(const Lock& wanted) const;
  /// The node begins to wait for it, until it is granted or the node gives up.
  void wait_for(const Lock& wanted) { wanted_.push_back(wanted); }
  void give_up(const Lock& wanted);
  /// Takes away what stands in the way; the nodes that had it, each once.
  [[nodiscard]] std::vector<std::int32_t> call_back(const Lock& wanted);
  /// Grants it; nothing that was granted stands in its way.
  void grant(const Lock& wanted);
  /// Takes away all that a node has.
  void drop(std::int32_t node);

 private:
  [[nodiscard]] Extent widened(const Lock& wanted) const;

  bool wide_;
  std::vector<Lock> granted_;
  std::vector<Lock> wanted_;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_EXTENT_LOCKS_H_
