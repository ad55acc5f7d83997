#include "temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nacre::store::fixtures {

std::vector<std::string> test_roots() {
  std::vector<std::string> roots{"/dev/shm", std::filesystem::temp_directory_path().string()};
  const char* given = std::getenv("NACRE_TEST_DIR");
  if (given != nullptr && *given != '\0') roots.emplace_back(given);
  return roots;
}

std::int64_t stored_bytes(const std::string& path) {
  struct stat found {};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return std::int64_t{found.st_blocks} * 512;
}

TemporaryDirectory::TemporaryDirectory(const std::string& root)
    : path_(root + "/nacre-test-XXXXXX") {
  REQUIRE(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int TemporaryDirectory::entry_count() const {
  const std::filesystem::directory_iterator entries(path_);
  return static_cast<int>(std::distance(begin(entries), end(entries)));
}

}  // namespace nacre::store::fixtures
