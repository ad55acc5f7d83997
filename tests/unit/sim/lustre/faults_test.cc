// Faults are parsed from words, affect the named OST or node, and can be cleared.
#include "sim/lustre/faults.h"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

#include "sim/lustre/errno_result.h"

namespace nacre::sim {
namespace {

const machine::Machine machine_of_four_osts{.nodes = 2, .osts = 4};

Faults with(const std::string& text) {
  const Result<FaultOrder> order = parse_fault(text, machine_of_four_osts);
  REQUIRE(order.ok());
  Faults faults;
  faults.set(order->ost, order->fault);
  return faults;
}

std::string error_of(const std::string& text) {
  const Result<FaultOrder> order = parse_fault(text, machine_of_four_osts);
  return order ? "" : order.error().message;
}

}  // namespace

TEST_CASE("a fault affects one OST") {
  Faults faults = with("ost 2 no_space");
  CHECK(errno_of(faults.check(2, {0, 10}, true)) == ENOSPC);
  CHECK(faults.check(2, {0, 10}, false).ok());
  CHECK(faults.check(1, {0, 10}, true).ok());
  faults.set(2, {});
  CHECK(faults.check(2, {0, 10}, true).ok());
}

TEST_CASE("errors occur at a byte or at a rate") {
  Faults at_byte = with("ost 0 error_at 1k");
  CHECK(at_byte.check(0, {0, 1024}, true).ok());
  CHECK(errno_of(at_byte.check(0, {1024, 1}, false)) == EIO);
  Faults always = with("ost 0 error 1");
  CHECK(errno_of(always.check(0, {0, 1}, false)) == EIO);
  Faults sometimes = with("ost 0 error 0.5");
  int failed = 0;
  for (int i = 0; i < 1000; ++i) failed += sometimes.check(0, {0, 1}, true) ? 0 : 1;
  CHECK(failed > 400);
  CHECK(failed < 600);
}

TEST_CASE("an OST refuses cached writes only, at a rate") {
  Faults faults = with("ost 1 late_error 1");
  CHECK(faults.refuses_cached(1));
  CHECK(!faults.refuses_cached(0));
  CHECK(faults.check(1, {0, 1}, true).ok());
  faults.set(1, {});
  CHECK(!faults.refuses_cached(1));
}

TEST_CASE("an OST can be slow or hang, a node be evicted") {
  CHECK(parse_fault("ost 1 slow 2.5", machine_of_four_osts)->fault.slowness == 2.5);
  CHECK(parse_fault("ost 1 hung", machine_of_four_osts)->fault.slowness == 0);
  CHECK(parse_fault("ost 1 well", machine_of_four_osts)->fault.slowness == 1);
  CHECK(parse_fault("ost 1 no_objects", machine_of_four_osts)->fault.no_objects);
  CHECK(parse_fault("node 1 evicted", machine_of_four_osts)->evicted_node == 1);
}

TEST_CASE("invalid faults are refused") {
  CHECK(error_of("disk 1 hung").find("begins with ost or node") != std::string::npos);
  CHECK(error_of("ost 4 hung").find("osts 0 to 3") != std::string::npos);
  CHECK(error_of("node 2 evicted").find("nodes 0 to 1") != std::string::npos);
  for (const char* text :
       {"ost 1", "ost 1 slow", "ost 1 slow 0", "ost 1 error 2", "ost 1 late_error 2",
        "ost 1 hung 3", "ost 1 error_at here", "ost 1 slow 2 3"}) {
    CAPTURE(text);
    CHECK(error_of(text).find("an OST can be") != std::string::npos);
  }
}

}  // namespace nacre::sim
