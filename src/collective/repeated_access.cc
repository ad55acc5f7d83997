#include "collective/repeated_access.h"

namespace nacre::collective {

bool RepeatedAccess::is(plan::Direction direction, const plan::FileAccess& access) const {
  if (byte_count_ == 0 || byte_count_ != access.byte_count || direction_ != direction) return false;
  return access.view.type == type_;
}

void RepeatedAccess::keep(plan::Direction direction, const plan::FileAccess& access) {
  direction_ = direction;
  type_ = access.view.type;
  byte_count_ = access.byte_count;
}

}  // namespace nacre::collective
