// Layouts as programs ask for them, in the words of `lfs setstripe`.
#ifndef NACRE_TESTS_UNIT_TESTBED_ASKED_LAYOUT_H_
#define NACRE_TESTS_UNIT_TESTBED_ASKED_LAYOUT_H_

#include <cerrno>
#include <string>

#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"

namespace nacre::testbed {

inline plan::Layout asked_layout(const std::string& words) {
  return plan::parse_stripe_options(words).value();
}

/// The same as a blob that a program sets.
inline std::vector<std::byte> asked_blob(const std::string& words) {
  return plan::encode_lov(asked_layout(words)).value();
}

/// The errno of what failed; 0 where it did not.
template <class Outcome>
int errno_in(const Outcome& outcome) {
  return outcome ? 0 : outcome.error().system_errno;
}

}  // namespace nacre::testbed

#endif  // NACRE_TESTS_UNIT_TESTBED_ASKED_LAYOUT_H_
