// Directories for the files of tests.
#ifndef NACRE_TESTS_UNIT_STORE_TEMPORARY_DIRECTORY_H_
#define NACRE_TESTS_UNIT_STORE_TEMPORARY_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace nacre::store::fixtures {

/// Shared memory, the system's directory for temporary files and, if it is set, NACRE_TEST_DIR.
[[nodiscard]] std::vector<std::string> test_roots();

/// The bytes of storage that the file system counts for the file.
[[nodiscard]] std::int64_t stored_bytes(const std::string& path);

/// A new directory. The destructor removes it with its contents.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& root = test_roots().front());
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// The number of entries, hidden files included.
  [[nodiscard]] int entry_count() const;

 private:
  std::string path_;
};

}  // namespace nacre::store::fixtures

#endif  // NACRE_TESTS_UNIT_STORE_TEMPORARY_DIRECTORY_H_
