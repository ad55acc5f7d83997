// The table of file systems and the magic numbers of statfs.
#include "store/file_system.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include "store/system/descriptor.h"

namespace nacre::store {

TEST_CASE("file systems are found by their magic number") {
  CHECK(name_of(facts_of_magic(0x0BD00BD0)) == "lustre");
  CHECK(name_of(facts_of_magic(0xEF53)) == "ext4");
  CHECK(name_of(facts_of_magic(0x58465342)) == "xfs");
  CHECK(name_of(facts_of_magic(0x47504653)) == "gpfs");
  CHECK(name_of(facts_of_magic(0x00C36400)) == "ceph");
  CHECK(name_of(facts_of_magic(0x65735546)) == "fuse");
  CHECK(name_of(facts_of_magic(0x1badface)) == "0x1badface");
}

TEST_CASE("file systems with incoherent client caches are marked") {
  for (const std::uint32_t magic : {0x6969u, 0x517Bu, 0xFF534D42u, 0xFE534D42u, 0x01021997u}) {
    CAPTURE(magic);
    CHECK_FALSE(facts_of_magic(magic).coherent);
  }
  for (const std::uint32_t magic : {0x0BD00BD0u, 0xEF53u, 0x01021994u, 0x65735546u, 0x1u}) {
    CAPTURE(magic);
    CHECK(facts_of_magic(magic).coherent);
  }
}

TEST_CASE("a file system is found by a descriptor and by a path") {
  const Descriptor directory(open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(directory.valid());
  CHECK(name_of(facts_of_file(directory.number())) == "tmpfs");
  CHECK(name_of(facts_of_path("/dev/shm").value()) == "tmpfs");
  CHECK(name_of(facts_of_file(-1)) == "unknown");
  CHECK_FALSE(facts_of_path("/dev/shm/no-such-file").has_value());
}

TEST_CASE(
    "each row of the table is found by its magic number, or has a marker or a mount type before a "
    "row that is") {
  for (const FileSystem& row : known_file_systems()) {
    CAPTURE(row.name);
    const FileSystem* const found = file_system_of(facts_of_magic(row.magic));
    REQUIRE(found != nullptr);
    CHECK((found == &row || row.marker_attribute != nullptr || !row.mount_type.empty()));
    CHECK((row.marker_attribute == nullptr) == (row.marker_setting == nullptr));
    CHECK((row.local_locks_options.empty() || !row.locks_advice.empty()));
    CHECK(&row <= found);
    const FileSystemFacts facts = facts_of_magic(row.magic);
    CHECK(facts.coherent == (found->sharing != Sharing::cached));
    CHECK(facts.has_layouts == found->has_layouts);
    CHECK(facts.keeps_written == found->keeps_written);
    CHECK(facts.serial_writes == found->serial_writes);
  }
}

TEST_CASE("file systems that are not in the table use the posix store") {
  CHECK(&store_of(facts_of_magic(0x1badface)) == &store_of(facts_of_magic(0xEF53)));
  CHECK(&store_of(facts_of_magic(0x0BD00BD0)) != &store_of(facts_of_magic(0xEF53)));
}

TEST_CASE(
    "a call on a local file system is worth less than one over a network, and one writes at a "
    "time") {
  constexpr std::uint32_t tmpfs = 0x01021994;
  constexpr std::uint32_t lustre = 0x0BD00BD0;
  CHECK(facts_of_magic(tmpfs).call_cost_bytes < facts_of_magic(lustre).call_cost_bytes);
  CHECK(facts_of_magic(tmpfs).one_writer_per_node);
  CHECK_FALSE(facts_of_magic(lustre).one_writer_per_node);
}

}  // namespace nacre::store
