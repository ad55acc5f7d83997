// What statfs's magic numbers stand for.
#include "store/posix/file_system.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include "store/posix/descriptor.h"

namespace nacre::store {

TEST_CASE("file systems are known by their magic number") {
  CHECK(file_system_of_magic(0x0BD00BD0).name == "lustre");
  CHECK(file_system_of_magic(0xEF53).name == "ext4");
  CHECK(file_system_of_magic(0x58465342).name == "xfs");
  CHECK(file_system_of_magic(0x47504653).name == "gpfs");
  CHECK(file_system_of_magic(0x65735546).name == "fuse");
  CHECK(file_system_of_magic(0x1badface).name == "0x1badface");
}

TEST_CASE("those whose clients do not agree on what is cached are told apart") {
  for (const std::uint32_t magic : {0x6969u, 0x517Bu, 0xFF534D42u, 0xFE534D42u, 0x01021997u}) {
    CAPTURE(magic);
    CHECK_FALSE(file_system_of_magic(magic).coherent);
  }
  for (const std::uint32_t magic : {0x0BD00BD0u, 0xEF53u, 0x01021994u, 0x65735546u, 0x1u}) {
    CAPTURE(magic);
    CHECK(file_system_of_magic(magic).coherent);
  }
}

TEST_CASE("shared memory is a tmpfs with blocks of a page at least") {
  const Descriptor directory(open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(directory.valid());
  const FileSystemFacts facts = file_system_of(directory.number());
  CHECK(facts.name == "tmpfs");
  CHECK(facts.coherent);
  CHECK(facts.block_size_bytes >= sysconf(_SC_PAGESIZE));
}

TEST_CASE("a descriptor that is none has unknown facts") {
  CHECK(file_system_of(-1).name == "unknown");
}

TEST_CASE(
    "a call on a local file system is worth less than one over a network, and one writes at a "
    "time") {
  constexpr std::uint32_t tmpfs = 0x01021994;
  constexpr std::uint32_t lustre = 0x0BD00BD0;
  CHECK(file_system_of_magic(tmpfs).call_cost_bytes < file_system_of_magic(lustre).call_cost_bytes);
  CHECK(file_system_of_magic(tmpfs).one_writer_per_node);
  CHECK_FALSE(file_system_of_magic(lustre).one_writer_per_node);
}

}  // namespace nacre::store
