// The options and the type of a mount in the mount list of the kernel.
#include "store/posix/mount_options.h"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "store/system/descriptor.h"
#include "store/system/text_file.h"
#include "temporary_directory.h"

namespace nacre::store {

using fixtures::TemporaryDirectory;

TEST_CASE("an option is searched in the file-system options of the right mount") {
  // Two mounts of one Lustre have the same device number.
  constexpr const char* mounts =
      "36 35 8:1 / / rw,localflock shared:1 - ext4 /dev/root rw\n"
      "40 36 0:45 / /scratch rw - lustre 10.0.0.1@o2ib:/scratch rw,localflock,lazystatfs\n"
      "41 36 0:45 / /with\\040blank rw master:2 - lustre 10.0.0.1@o2ib:/scratch rw,flock\n";
  CHECK(has_mount_option(mounts, "40", "localflock"));
  CHECK(has_mount_option(mounts, "40", "rw"));
  CHECK_FALSE(has_mount_option(mounts, "40", "flock"));
  CHECK_FALSE(has_mount_option(mounts, "41", "localflock"));
  CHECK(has_mount_option(mounts, "41", "flock"));
  CHECK_FALSE(has_mount_option(mounts, "36", "localflock"));
  CHECK_FALSE(has_mount_option(mounts, "4", "rw"));
  CHECK_FALSE(has_mount_option(mounts, "", "rw"));
  CHECK_FALSE(has_mount_option("", "40", "rw"));
}

TEST_CASE("what limits locks to one node is named") {
  constexpr const char* mounts =
      "40 36 0:45 / /a rw - lustre 10.0.0.1@o2ib:/a rw,localflock\n"
      "41 36 0:46 / /b rw - afs none rw,flock=strict\n";
  const FileSystem lustre{.name = "lustre", .local_locks_options = "nolock\nlocalflock"};
  CHECK(local_locks_cause_in(lustre, mounts, "40") == "mounted with localflock");
  CHECK(local_locks_cause_in(lustre, mounts, "41").empty());
  const FileSystem afs{.name = "afs", .global_locks_options = "flock=strict\nflock=write"};
  CHECK(local_locks_cause_in(afs, mounts, "40") == "mounted without flock=strict");
  CHECK(local_locks_cause_in(afs, mounts, "41").empty());
  const TemporaryDirectory directory;
  const std::string settings = directory.file("*") + "\nglobalLocks = 0";
  const FileSystem beegfs{.name = "beegfs", .local_locks_settings = settings};
  CHECK(local_locks_cause_in(beegfs, mounts, "40").empty());
  REQUIRE(append_text(directory.file("config"), "a = 1\nglobalLocks = 0\n"));
  CHECK(local_locks_cause_in(beegfs, mounts, "40") == "set up with globalLocks = 0");
}

TEST_CASE("the mount of an open file is in the mount list") {
  CHECK(mount_number_in("pos:\t0\nflags:\t0100000\nmnt_id:\t40\nino:\t7\n") == "40");
  CHECK(mount_number_in("pos:\t0\nmnt_id:\n").empty());
  CHECK(mount_number_in("").empty());
  const Descriptor root(::open("/proc", O_RDONLY | O_DIRECTORY));
  const auto file = read_text_file("/proc/self/fdinfo/" + std::to_string(root.number()));
  const auto mounts = read_text_file("/proc/self/mountinfo");
  REQUIRE(file.ok());
  REQUIRE(mounts.ok());
  CHECK(has_mount_option(mounts->value(), mount_number_in(file->value()), "rw"));
}

TEST_CASE("the type of a mount follows the separator, behind any number of optional fields") {
  constexpr const char* mounts =
      "36 35 8:1 / / rw shared:1 master:2 - ext4 /dev/root rw\n"
      "40 36 0:45 / /a\\040-\\040b rw - fuse.ceph-fuse ceph-fuse rw,user_id=0\n"
      "4 36 0:46 / /cut";
  CHECK(mount_type_in(mounts, "36") == "ext4");
  CHECK(mount_type_in(mounts, "40") == "fuse.ceph-fuse");
  CHECK(mount_type_in(mounts, "4").empty());
  CHECK(mount_type_in(mounts, "").empty());
  const Descriptor root(::open("/proc", O_RDONLY | O_DIRECTORY));
  CHECK(mount_type_of(root.number()) == "proc");
  CHECK(mount_type_of(-1).empty());
}

}  // namespace nacre::store
