// RepeatedAccess: when a rank may move its bytes before the ranks of a collective call agree.
#ifndef NACRE_COLLECTIVE_REPEATED_ACCESS_H_
#define NACRE_COLLECTIVE_REPEATED_ACCESS_H_

#include <cstdint>

#include "plan/direction.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// The last access of one rank to one file whose plan was direct for good. If the next one is
/// equal, the rank need not wait for a decision that it expects: it moves its bytes first, and one
/// agreement serves the decision and the errors.
class RepeatedAccess {
 public:
  /// Whether the access has the direction, view and size of the kept one; its place may differ.
  [[nodiscard]] bool is(plan::Direction direction, const plan::FileAccess& access) const;
  void keep(plan::Direction direction, const plan::FileAccess& access);
  void forget() { byte_count_ = 0; }

 private:
  plan::Direction direction_ = plan::Direction::read;
  plan::TypeMap type_;
  std::int64_t byte_count_ = 0;  // 0: nothing is kept
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_REPEATED_ACCESS_H_
