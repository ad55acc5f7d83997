// Names that a client may remember as missing.
#include "store/posix/stale_names.h"

#include <string>

#include <doctest/doctest.h>

#include "store/file_system.h"
#include "temporary_directory.h"

namespace nacre::store {

TEST_CASE("a missing name may exist only where caches are not coherent") {
  for (const std::string& root : fixtures::test_roots()) {
    CAPTURE(root);
    const fixtures::TemporaryDirectory directory(root);
    const bool may_be_late = !facts_of_path(root)->coherent;
    CHECK(may_exist_now(directory.file("f")) == may_be_late);
    CHECK_FALSE(may_exist_now(directory.path() + "/no/such/directory/f"));
  }
  CHECK(may_exist_now("f") == !facts_of_path(".")->coherent);
  CHECK_FALSE(may_exist_now("no/such/directory/f"));
  CHECK_FALSE(may_exist_now("/no-such-directory//f"));
}

}  // namespace nacre::store
