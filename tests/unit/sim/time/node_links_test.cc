// Transfers that meet on the link of a node.
#include "sim/time/node_links.h"

#include <doctest/doctest.h>

namespace nacre::sim {

TEST_CASE("each direction of a link has one transfer at a time") {
  NodeLinks links(2);
  CHECK(links.occupy(0, LinkSide::out, 10, 100) == 10);
  CHECK(links.occupy(0, LinkSide::out, 20, 5) == 110);
  CHECK(links.occupy(0, LinkSide::in, 20, 5) == 20);
  CHECK(links.occupy(1, LinkSide::out, 20, 5) == 20);
  CHECK(links.occupy(0, LinkSide::out, 200, 5) == 200);
  CHECK(links.busy_times(0).total() == 110);
  CHECK(links.busy_times(1).total() == 5);
}

}  // namespace nacre::sim
