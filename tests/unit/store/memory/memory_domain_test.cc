// Memory domains: the processes that share memory.
#include "store/memory/memory_domain.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "child.h"

namespace nacre::store {

TEST_CASE("processes of one machine have one domain") {
  const std::uint64_t own = shared_memory_domain();
  CHECK(own != 0);
  CHECK(fixtures::run_in_child([] { return std::to_string(shared_memory_domain()); }) ==
        std::to_string(own));
}

TEST_CASE("NACRE_NODE_ID divides a machine into nodes") {
  const auto domain_as = [](const char* node) {
    return fixtures::run_in_child([=] {
      setenv("NACRE_NODE_ID", node, 1);
      return std::to_string(shared_memory_domain());
    });
  };
  CHECK(domain_as("1") == domain_as("1"));
  CHECK(domain_as("1") != domain_as("2"));
}

TEST_CASE("another file system of shared memory is another domain") {
  const std::string own = std::to_string(shared_memory_domain());
  const fixtures::Report other = fixtures::run_in_child([] {
    if (const auto reason = fixtures::own_mounts()) return fixtures::skip(*reason);
    if (const auto reason = fixtures::mount_on("/dev/shm", "tmpfs", "size=1m")) {
      return fixtures::skip(*reason);
    }
    return std::to_string(shared_memory_domain());
  });
  if (!fixtures::is_skipped(other)) CHECK(other != own);
}

}  // namespace nacre::store
