// Layouts that programs request, in options of `lfs setstripe`.
#ifndef NACRE_TESTS_UNIT_ASKED_LAYOUT_H_
#define NACRE_TESTS_UNIT_ASKED_LAYOUT_H_

#include <cerrno>
#include <string>

#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"

namespace nacre::sim {

inline plan::Layout asked_layout(const std::string& words) {
  return plan::parse_stripe_options(words).value();
}

/// The layout as the blob that a program sets.
inline std::vector<std::byte> asked_blob(const std::string& words) {
  return plan::encode_lov(asked_layout(words)).value();
}

/// The errno of a failed result; 0 for success.
template <class Outcome>
int errno_in(const Outcome& outcome) {
  return outcome ? 0 : outcome.error().system_errno;
}

}  // namespace nacre::sim

#endif  // NACRE_TESTS_UNIT_ASKED_LAYOUT_H_
