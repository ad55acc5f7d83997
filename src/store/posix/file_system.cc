#include "store/posix/file_system.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/hexadecimal.h"
#include "store/lustre/lustre_mount.h"
#include "store/posix/descriptor.h"

namespace nacre::store {
namespace {

struct KnownFileSystem {
  std::uint32_t magic;
  std::string_view name;
  bool coherent = true;
  bool local = false;
};

// On tmpfs a read of 1 KiB takes 0.4 us and one of 4 KiB 0.9.
constexpr std::int64_t local_call_worth_bytes = 2 << 10;
// On tmpfs a call of 256 KiB writes as fast as any larger one, within what can be measured.
constexpr std::int64_t local_saturation_bytes = 256 << 10;

// From statfs(2), linux/magic.h and, for those outside the kernel, their own sources. Not coherent
// are those whose clients cache data or sizes and agree only at open and close or after a time.
// FUSE is the daemon's affair and taken to be coherent and far away: parallel file systems are
// mounted by it, and the testbed. ext2, ext3 and ext4 have one number.
constexpr std::array known_file_systems{
    KnownFileSystem{lustre_magic, "lustre"},
    KnownFileSystem{0x47504653, "gpfs"},
    KnownFileSystem{0x19830326, "beegfs"},
    KnownFileSystem{0x00C36400, "ceph"},
    KnownFileSystem{0xAAD7AAEA, "panfs"},
    KnownFileSystem{0x20030528, "orangefs"},
    KnownFileSystem{0x18031977, "wekafs"},
    KnownFileSystem{0xDA05AD10, "daos"},
    KnownFileSystem{0x01161970, "gfs2"},
    KnownFileSystem{0x7461636F, "ocfs2"},
    KnownFileSystem{0x65735546, "fuse"},
    KnownFileSystem{0x0000EF53, "ext4", true, true},
    KnownFileSystem{0x58465342, "xfs", true, true},
    KnownFileSystem{0x9123683E, "btrfs", true, true},
    KnownFileSystem{0x2FC12FC1, "zfs", true, true},
    KnownFileSystem{0xF2F52010, "f2fs", true, true},
    KnownFileSystem{0xCA451A4E, "bcachefs", true, true},
    KnownFileSystem{0x52654973, "reiserfs", true, true},
    KnownFileSystem{0x3153464A, "jfs", true, true},
    KnownFileSystem{0x00003434, "nilfs2", true, true},
    KnownFileSystem{0x794C7630, "overlay", true, true},
    KnownFileSystem{0x0000F15F, "ecryptfs", true, true},
    KnownFileSystem{0x01021994, "tmpfs", true, true},
    KnownFileSystem{0x858458F6, "ramfs", true, true},
    KnownFileSystem{0x958458F6, "hugetlbfs", true, true},
    KnownFileSystem{0x73717368, "squashfs", true, true},
    KnownFileSystem{0x00004D44, "vfat", true, true},
    KnownFileSystem{0x2011BAB0, "exfat", true, true},
    KnownFileSystem{0x5346544E, "ntfs", true, true},
    KnownFileSystem{0x7366746E, "ntfs3", true, true},
    KnownFileSystem{0x00006969, "nfs", false},
    KnownFileSystem{0x0000517B, "smb", false},
    KnownFileSystem{0xFE534D42, "smb2", false},
    KnownFileSystem{0xFF534D42, "cifs", false},
    KnownFileSystem{0x01021997, "9p", false},
    KnownFileSystem{0x5346414F, "afs", false},
    KnownFileSystem{0x6B414653, "afs", false},
    KnownFileSystem{0x73757245, "coda", false},
    KnownFileSystem{0x0000564C, "ncp", false},
    KnownFileSystem{0x786F4256, "vboxsf", false},
    KnownFileSystem{0xBACBACBC, "vmhgfs", false},
};

}  // namespace

FileSystemFacts file_system_of_magic(std::uint32_t magic) {
  const auto found =
      std::find_if(known_file_systems.begin(), known_file_systems.end(),
                   [&](const KnownFileSystem& known) { return known.magic == magic; });
  FileSystemFacts facts;
  if (found == known_file_systems.end()) {
    facts.name = "0x" + short_hexadecimal(magic);
  } else {
    facts.name = found->name;
    facts.has_layouts = magic == lustre_magic;
    facts.coherent = found->coherent;
    facts.one_writer_per_node = found->local;
    if (found->local) {
      facts.call_cost_bytes = local_call_worth_bytes;
      facts.saturation_bytes = local_saturation_bytes;
    }
  }
  return facts;
}

FileSystemFacts file_system_of(int descriptor) {
  FileSystemFacts facts;
  struct statfs system {};
  if (retry_interrupted([&] { return fstatfs(descriptor, &system); }) == 0) {
    // f_type is signed and as wide as a long; the numbers are 32 bits.
    const auto magic = static_cast<std::uint32_t>(system.f_type);
    const bool is_testbed = is_on_testbed(descriptor, magic);
    facts = file_system_of_magic(is_testbed ? lustre_magic : magic);
    if (is_testbed) facts.name = "testbed";
  } else {
    facts.name = "unknown";
  }
  struct stat file {};
  if (fstat(descriptor, &file) == 0) {
    // Clients cache by the page, so a block below it is none that two writers can tell apart.
    const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
    facts.block_size_bytes = std::max<std::int64_t>(file.st_blksize, page_bytes);
  }
  return facts;
}

}  // namespace nacre::store
