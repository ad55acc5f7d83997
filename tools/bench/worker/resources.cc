#include "resources.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

#include <sys/resource.h>
#include <time.h>

#include "common/field_bytes.h"

namespace nacre::bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double now_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Memory memory() {
  Memory result;
  result.resident = field_bytes("/proc/self/status", "VmRSS");
  result.peak = field_bytes("/proc/self/status", "VmHWM");
  result.file_pages = field_bytes("/proc/self/status", "RssFile");
  return result;
}

bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

std::int64_t shared_memory_of_others() {
  const std::int64_t mapped = field_bytes("/proc/self/status", "RssShmem");
  const std::int64_t own_share = field_bytes("/proc/self/smaps_rollup", "Pss_Shmem");
  return std::max<std::int64_t>(0, mapped - own_share);
}

std::vector<std::string> loaded_libraries() {
  constexpr std::array<std::string_view, 3> words = {"mpi", "nacre", "romio"};
  std::ifstream file("/proc/self/maps");
  std::set<std::string> names;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t slash = line.rfind('/');
    if (slash == std::string::npos || line.find(".so", slash) == std::string::npos) continue;
    const std::string name = line.substr(slash + 1);
    const bool wanted = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return name.find(word) != std::string::npos;
    });
    if (wanted) names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace nacre::bench
