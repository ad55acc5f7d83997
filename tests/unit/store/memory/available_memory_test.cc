// Available memory, from files in the formats of kernels.
#include "store/memory/available_memory.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "temporary_directory.h"

namespace nacre::store {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

/// A root directory with files of a kernel.
class Kernel {
 public:
  void shows(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = directory_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::int64_t available() const { return available_memory(directory_.path()); }

 private:
  fixtures::TemporaryDirectory directory_;
};

const std::string meminfo =
    "MemTotal:       24684084 kB\nMemFree:   3 kB\nMemAvailable:     1000 kB\n";

}  // namespace

TEST_CASE("without information the available memory is unknown") {
  CHECK(Kernel().available() == unknown);
}

TEST_CASE("this machine reports available memory") {
  CHECK(available_memory() > 0);
  CHECK(available_memory() < unknown);
}

TEST_CASE("without a limit it is the available memory of the machine") {
  const Kernel kernel;
  kernel.shows("/proc/meminfo", meminfo);
  CHECK(kernel.available() == 1'024'000);
  kernel.shows("/proc/self/cgroup", "0::/job\n");
  kernel.shows("/sys/fs/cgroup/job/memory.max", "max\n");
  kernel.shows("/sys/fs/cgroup/job/memory.current", "77\n");
  CHECK(kernel.available() == 1'024'000);
}

TEST_CASE("the tightest limit of all parent cgroups counts, and page cache counts as available") {
  const Kernel kernel;
  kernel.shows("/proc/meminfo", meminfo);
  kernel.shows("/proc/self/cgroup", "1:name=systemd:/x\n0::/jobs/7/step\n");
  kernel.shows("/sys/fs/cgroup/jobs/7/step/memory.max", "max\n");
  kernel.shows("/sys/fs/cgroup/jobs/7/memory.max", "10000\n");
  kernel.shows("/sys/fs/cgroup/jobs/7/memory.current", "9000\n");
  kernel.shows("/sys/fs/cgroup/jobs/7/memory.stat",
               "anon 1\nfile 5000\ninactive_anon 9\ninactive_file 2000\nactive_file 500\n");
  CHECK(kernel.available() == 3'500);
  kernel.shows("/sys/fs/cgroup/jobs/memory.max", "3000\n");
  kernel.shows("/sys/fs/cgroup/jobs/memory.current", "2900\n");
  CHECK(kernel.available() == 100);
}

TEST_CASE("cgroup version 1, in a container that mounts its own cgroup") {
  const Kernel kernel;
  kernel.shows("/proc/meminfo", meminfo);
  kernel.shows("/proc/self/cgroup", "4:memory:/outer/inner\n3:cpuset:/\n0::/\n");
  kernel.shows("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
  kernel.shows("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  kernel.shows("/sys/fs/cgroup/memory/memory.stat",
               "inactive_file 1\ntotal_inactive_file 30\ntotal_active_file 4\n");
  CHECK(kernel.available() == 1'034);
}

TEST_CASE("over the limit no memory is available") {
  const Kernel kernel;
  kernel.shows("/proc/self/cgroup", "0::/\n");
  kernel.shows("/sys/fs/cgroup/memory.max", "5000\n");
  kernel.shows("/sys/fs/cgroup/memory.current", "6000\n");
  CHECK(kernel.available() == 0);
}

}  // namespace nacre::store
