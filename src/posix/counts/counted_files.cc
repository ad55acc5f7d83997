#include "posix/counts/counted_files.h"

#include <algorithm>
#include <cstring>

#include <fcntl.h>

namespace nacre::posix {
namespace {

// The directories that Darshan leaves out too: programs, libraries, devices and logs of the system.
constexpr std::array<std::string_view, 13> system_directories{
    "/proc/", "/sys/",  "/dev/", "/etc/", "/usr/",  "/lib/", "/lib64/",
    "/bin/",  "/sbin/", "/run/", "/opt/", "/boot/", "/var/"};

}  // namespace

bool is_of_system(std::string_view path) {
  return std::any_of(system_directories.begin(), system_directories.end(),
                     [&](std::string_view directory) { return path.starts_with(directory); });
}

bool CountedFiles::allocate() {
  if (slots_ != nullptr) return true;
  auto* const files = map_memory(file_count_max * sizeof(CountedFile));
  auto* const slots = map_memory(slot_count * sizeof(std::uint32_t));
  if (files == nullptr || slots == nullptr) {
    unmap_memory(files, file_count_max * sizeof(CountedFile));
    unmap_memory(slots, slot_count * sizeof(std::uint32_t));
    return false;
  }
  files_ = reinterpret_cast<CountedFile*>(files);  // zeroed pages are counts of zero
  slots_ = reinterpret_cast<Slot*>(slots);
  return true;
}

CountedFiles::Slot* CountedFiles::slot_of(const FileIdentity& identity) {
  constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;
  auto at = static_cast<std::uint32_t>(
      ((identity.inode * multiplier) ^ (identity.device * (multiplier >> 1))) >> 32);
  while (true) {
    Slot* const slot = &slots_[at % slot_count];
    const std::uint32_t number = slot->load(std::memory_order_acquire);
    if (number == 0 || files_[number - 1].identity == identity) return slot;
    ++at;
  }
}

std::uint32_t CountedFiles::find(const FileIdentity& identity) {
  if (count_ == 0) return 0;
  return slot_of(identity)->load();
}

std::uint32_t CountedFiles::find_or_add(int descriptor, const char* path, int flags) {
  if (is_of_system(path)) return 0;
  const auto identity = regular_file(descriptor);
  if (!identity) return 0;
  const Locked locked(lock_);
  if (!allocate()) return 0;
  Slot* const slot = slot_of(*identity);
  const std::uint32_t found = *slot;
  if (found != 0 && ((flags & O_CREAT) == 0 || !is_empty(descriptor))) return found;
  std::array<char, CountedFile::path_bytes_max> room;  // NOLINT: filled next
  const std::string_view name = path_of(descriptor, room);
  if (is_of_system(name)) return 0;
  if (found != 0 && (name.empty() || file(found).name() == name)) return found;
  if (is_full()) return count_;
  const std::uint32_t number = count_ + 1;
  CountedFile& file = files_[number - 1];
  file.identity = *identity;
  std::memcpy(file.path.data(), name.data(), name.size());
  file.path_bytes = static_cast<std::uint16_t>(name.size());
  count_ = number;
  slot->store(number, std::memory_order_release);
  return number;
}

void CountedFiles::count_rests() {
  for (std::uint32_t number = 1; number <= count_; ++number) counts(number).count_rests();
}

void CountedFiles::clear_counts() {
  for (std::uint32_t number = 1; number <= count_; ++number) {
    FileCounts& cleared = counts(number);
    for (CallCounts& one : cleared.calls) {
      one.calls.clear();
      one.nanoseconds.clear();
    }
    for (AccessCounts& one : cleared.accesses) {
      for (Counter* sum :
           {&one.calls, &one.bytes, &one.nanoseconds, &one.file_calls, &one.file_bytes})
        sum->clear();
      for (Counter& size : one.sizes) size.clear();
    }
  }
  for (CallCounts* one : {&elsewhere.failed_opens, &elsewhere.failed_stats, &elsewhere.stats}) {
    one->calls.clear();
    one->nanoseconds.clear();
  }
}

}  // namespace nacre::posix
