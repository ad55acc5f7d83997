#include "store/file_system.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/hexadecimal.h"
#include "store/lustre/lustre_store.h"
#include "store/posix/descriptor.h"
#include "store/posix/posix_store.h"
#include "store/testbed/testbed_store.h"

namespace nacre::store {
namespace {

// On tmpfs a read of 1 KiB takes 0.4 us and one of 4 KiB 0.9.
constexpr std::int64_t local_call_worth_bytes = 2 << 10;
// On tmpfs a call of 256 KiB writes as fast as any larger one, within what can be measured.
constexpr std::int64_t local_saturation_bytes = 256 << 10;

/// The store of that kind: it has no state.
template <class Kind>
Store* only() {
  static Kind store;
  return &store;
}

// From statfs(2), linux/magic.h and, for those outside the kernel, their own sources. Not coherent
// are those whose clients cache data or sizes and agree only at open and close or after a time.
// FUSE is the daemon's affair and taken to be coherent and far away: parallel file systems are
// mounted by it. ext2, ext3 and ext4 have one number.
constexpr std::array rows{
    FileSystem{.name = "lustre",
               .magic = 0x0BD00BD0,
               .store = &only<LustreStore>,
               .has_layouts = true,
               .local_locks_option = "localflock",
               .locks_advice = "mount it with -o flock"},
    FileSystem{.name = "gpfs", .magic = 0x47504653},
    FileSystem{.name = "beegfs", .magic = 0x19830326},
    FileSystem{.name = "ceph", .magic = 0x00C36400},
    FileSystem{.name = "panfs", .magic = 0xAAD7AAEA},
    FileSystem{.name = "orangefs", .magic = 0x20030528},
    FileSystem{.name = "wekafs", .magic = 0x18031977},
    FileSystem{.name = "daos", .magic = 0xDA05AD10},
    FileSystem{.name = "gfs2", .magic = 0x01161970},
    FileSystem{.name = "ocfs2", .magic = 0x7461636F},
    FileSystem{.name = "testbed",
               .magic = 0x65735546,
               .store = &only<TestbedStore>,
               .has_layouts = true,
               .marker_attribute = "testbed.node",
               .marker_setting = "NACRE_TESTBED"},
    FileSystem{.name = "fuse", .magic = 0x65735546},
    FileSystem{.name = "ext4", .magic = 0x0000EF53, .sharing = Sharing::local},
    FileSystem{.name = "xfs", .magic = 0x58465342, .sharing = Sharing::local},
    FileSystem{.name = "btrfs", .magic = 0x9123683E, .sharing = Sharing::local},
    FileSystem{.name = "zfs", .magic = 0x2FC12FC1, .sharing = Sharing::local},
    FileSystem{.name = "f2fs", .magic = 0xF2F52010, .sharing = Sharing::local},
    FileSystem{.name = "bcachefs", .magic = 0xCA451A4E, .sharing = Sharing::local},
    FileSystem{.name = "reiserfs", .magic = 0x52654973, .sharing = Sharing::local},
    FileSystem{.name = "jfs", .magic = 0x3153464A, .sharing = Sharing::local},
    FileSystem{.name = "nilfs2", .magic = 0x00003434, .sharing = Sharing::local},
    FileSystem{.name = "overlay", .magic = 0x794C7630, .sharing = Sharing::local},
    FileSystem{.name = "ecryptfs", .magic = 0x0000F15F, .sharing = Sharing::local},
    FileSystem{.name = "tmpfs", .magic = 0x01021994, .sharing = Sharing::local},
    FileSystem{.name = "ramfs", .magic = 0x858458F6, .sharing = Sharing::local},
    FileSystem{.name = "hugetlbfs", .magic = 0x958458F6, .sharing = Sharing::local},
    FileSystem{.name = "squashfs", .magic = 0x73717368, .sharing = Sharing::local},
    FileSystem{.name = "vfat", .magic = 0x00004D44, .sharing = Sharing::local},
    FileSystem{.name = "exfat", .magic = 0x2011BAB0, .sharing = Sharing::local},
    FileSystem{.name = "ntfs", .magic = 0x5346544E, .sharing = Sharing::local},
    FileSystem{.name = "ntfs3", .magic = 0x7366746E, .sharing = Sharing::local},
    FileSystem{.name = "nfs",
               .magic = 0x00006969,
               .sharing = Sharing::cached,
               .locks_advice = "see that the server's lock service runs and no nolock is set"},
    FileSystem{.name = "smb", .magic = 0x0000517B, .sharing = Sharing::cached},
    FileSystem{.name = "smb2", .magic = 0xFE534D42, .sharing = Sharing::cached},
    FileSystem{.name = "cifs", .magic = 0xFF534D42, .sharing = Sharing::cached},
    FileSystem{.name = "9p", .magic = 0x01021997, .sharing = Sharing::cached},
    FileSystem{.name = "afs", .magic = 0x5346414F, .sharing = Sharing::cached},
    FileSystem{.name = "afs", .magic = 0x6B414653, .sharing = Sharing::cached},
    FileSystem{.name = "coda", .magic = 0x73757245, .sharing = Sharing::cached},
    FileSystem{.name = "ncp", .magic = 0x0000564C, .sharing = Sharing::cached},
    FileSystem{.name = "vboxsf", .magic = 0x786F4256, .sharing = Sharing::cached},
    FileSystem{.name = "vmhgfs", .magic = 0xBACBACBC, .sharing = Sharing::cached},
};

/// `has_attribute`: whether the file has an extended attribute.
template <class HasAttribute>
FileSystemFacts facts_of(std::uint32_t magic, HasAttribute has_attribute) {
  const auto matches = [&](const FileSystem& row) {
    if (row.magic != magic) return false;
    if (row.marker_attribute == nullptr) return true;
    return std::getenv(row.marker_setting) != nullptr && has_attribute(row.marker_attribute);
  };
  const auto found = std::ranges::find_if(known_file_systems(), matches);
  FileSystemFacts facts{.magic = magic};
  if (found == known_file_systems().end()) return facts;
  facts.row = static_cast<std::int32_t>(found - known_file_systems().begin());
  facts.coherent = found->sharing != Sharing::cached;
  facts.one_writer_per_node = found->sharing == Sharing::local;
  facts.has_layouts = found->has_layouts;
  if (found->sharing == Sharing::local) {
    facts.call_cost_bytes = local_call_worth_bytes;
    facts.saturation_bytes = local_saturation_bytes;
  }
  return facts;
}

}  // namespace

std::span<const FileSystem> known_file_systems() { return rows; }

const FileSystem* file_system_of(const FileSystemFacts& facts) {
  const auto row = static_cast<std::size_t>(facts.row);
  return row < known_file_systems().size() ? &known_file_systems()[row] : nullptr;
}

std::string name_of(const FileSystemFacts& facts) {
  const FileSystem* const row = file_system_of(facts);
  if (row != nullptr) return std::string(row->name);
  return facts.magic == 0 ? "unknown" : "0x" + short_hexadecimal(facts.magic);
}

Store& store_of(const FileSystemFacts& facts) {
  const FileSystem* const row = file_system_of(facts);
  return row == nullptr || row->store == nullptr ? *only<PosixStore>() : *row->store();
}

// f_type is signed and as wide as a long; the numbers are 32 bits.

FileSystemFacts facts_of_magic(std::uint32_t magic) {
  return facts_of(magic, [](const char* /*attribute*/) { return false; });
}

FileSystemFacts facts_of_file(int descriptor) {
  struct statfs system {};
  if (retry_interrupted([&] { return ::fstatfs(descriptor, &system); }) != 0) return {};
  return facts_of(static_cast<std::uint32_t>(system.f_type), [&](const char* attribute) {
    return ::fgetxattr(descriptor, attribute, nullptr, 0) > 0;
  });
}

std::optional<FileSystemFacts> facts_of_path(const std::string& path) {
  struct statfs system {};
  if (retry_interrupted([&] { return ::statfs(path.c_str(), &system); }) != 0) return std::nullopt;
  return facts_of(static_cast<std::uint32_t>(system.f_type), [&](const char* attribute) {
    return ::getxattr(path.c_str(), attribute, nullptr, 0) > 0;
  });
}

}  // namespace nacre::store
