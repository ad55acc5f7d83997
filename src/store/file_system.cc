#include "store/file_system.h"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/hexadecimal.h"
#include "store/posix/mount_options.h"
#include "store/posix/posix_store.h"
#include "store/system/descriptor.h"

namespace nacre::store {
namespace {

// On tmpfs a read of 1 KiB takes 0.4 us and a read of 4 KiB 0.9 us.
constexpr std::int64_t local_call_worth_bytes = 2 << 10;
// On tmpfs calls of more than 256 KiB write no faster.
constexpr std::int64_t local_saturation_bytes = 256 << 10;

/// `has_attribute`: whether the file has an extended attribute. `mount_type`: returns the type of
/// its mount; called only if the magic is not enough.
template <class HasAttribute, class MountType>
FileSystemFacts facts_of(std::uint32_t magic, HasAttribute has_attribute, MountType mount_type) {
  std::optional<std::string> found_type;
  const auto matches = [&](const FileSystem& row) {
    if (row.magic != magic) return false;
    if (!row.mount_type.empty()) {
      if (!found_type) found_type = mount_type();
      return row.mount_type == *found_type;
    }
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
  facts.keeps_written = found->keeps_written;
  facts.serial_writes = found->serial_writes;
  if (found->sharing == Sharing::local) {
    facts.call_cost_bytes = local_call_worth_bytes;
    facts.saturation_bytes = local_saturation_bytes;
  }
  return facts;
}

/// A flag of the row of `facts`; false if the file system is unknown.
bool has(const FileSystemFacts& facts, bool FileSystem::*flag) {
  const FileSystem* const row = file_system_of(facts);
  return row != nullptr && row->*flag;
}

}  // namespace

const FileSystem* file_system_of(const FileSystemFacts& facts) {
  const auto row = static_cast<std::size_t>(facts.row);
  return row < known_file_systems().size() ? &known_file_systems()[row] : nullptr;
}

std::string name_of(const FileSystemFacts& facts) {
  const FileSystem* const row = file_system_of(facts);
  if (row != nullptr) return std::string(row->name);
  return facts.magic == 0 ? "unknown" : "0x" + short_hexadecimal(facts.magic);
}

bool has_stale_pages(const FileSystemFacts& facts) { return has(facts, &FileSystem::stale_pages); }

bool syncs_each_open(const FileSystemFacts& facts) {
  return has(facts, &FileSystem::syncs_each_open);
}

bool has_local_inodes(const FileSystemFacts& facts) {
  return has(facts, &FileSystem::local_inodes);
}

Store& store_of(const FileSystemFacts& facts) {
  const FileSystem* const row = file_system_of(facts);
  static PosixStore posix;
  return row == nullptr || row->store == nullptr ? posix : *row->store();
}

// f_type is signed and as wide as a long; the numbers are 32 bits.

FileSystemFacts facts_of_magic(std::uint32_t magic) {
  return facts_of(
      magic, [](const char* /*attribute*/) { return false; }, [] { return std::string(); });
}

FileSystemFacts facts_of_file(int descriptor) {
  struct statfs system {};
  if (retry_interrupted([&] { return ::fstatfs(descriptor, &system); }) != 0) return {};
  return facts_of(
      static_cast<std::uint32_t>(system.f_type),
      [&](const char* attribute) { return ::fgetxattr(descriptor, attribute, nullptr, 0) > 0; },
      [&] { return mount_type_of(descriptor); });
}

std::optional<FileSystemFacts> facts_of_path(const std::string& path) {
  struct statfs system {};
  if (retry_interrupted([&] { return ::statfs(path.c_str(), &system); }) != 0) return std::nullopt;
  return facts_of(
      static_cast<std::uint32_t>(system.f_type),
      [&](const char* attribute) { return ::getxattr(path.c_str(), attribute, nullptr, 0) > 0; },
      [&] {
        const Descriptor named(
            retry_interrupted([&] { return ::open(path.c_str(), O_PATH | O_CLOEXEC); }));
        return mount_type_of(named.number());
      });
}

}  // namespace nacre::store
