// The options of a mount in the mount list of the kernel.
#include "store/posix/mount_options.h"

#include <doctest/doctest.h>
#include <sys/sysmacros.h>

namespace nacre::store {

TEST_CASE("an option is searched in the file-system options of the right mount") {
  constexpr const char* mounts =
      "36 35 8:1 / / rw,localflock shared:1 - ext4 /dev/root rw\n"
      "40 36 0:45 / /scratch rw - lustre 10.0.0.1@o2ib:/scratch rw,localflock,lazystatfs\n"
      "41 36 0:46 / /with\\040blank rw master:2 - lustre 10.0.0.1@o2ib:/home rw,flock\n";
  CHECK(has_mount_option(mounts, makedev(0, 45), "localflock"));
  CHECK(has_mount_option(mounts, makedev(0, 45), "rw"));
  CHECK_FALSE(has_mount_option(mounts, makedev(0, 45), "flock"));
  CHECK_FALSE(has_mount_option(mounts, makedev(0, 46), "localflock"));
  CHECK(has_mount_option(mounts, makedev(0, 46), "flock"));
  CHECK_FALSE(has_mount_option(mounts, makedev(8, 1), "localflock"));
  CHECK_FALSE(has_mount_option(mounts, makedev(4, 5), "rw"));
  CHECK_FALSE(has_mount_option("", makedev(0, 45), "rw"));
}

}  // namespace nacre::store
