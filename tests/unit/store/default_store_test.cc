// The store that opens a file is that of the file system on which the file lies.
#include "store/default_store.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "bytes.h"
#include "store/file_system.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::TemporaryDirectory;
using fixtures::to_create;
using fixtures::to_read;

std::string system_of(const std::string& path, const OpenOptions& options) {
  Result<std::unique_ptr<StoreFile>> file = default_store()->open(path, options);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().message));
  return name_of((*file)->facts());
}

}  // namespace

TEST_CASE(
    "a link is resolved to the file system of its target, before and after the target exists") {
  const TemporaryDirectory here("/dev/shm");
  const TemporaryDirectory there(std::filesystem::temp_directory_path().string());
  const std::string expected = name_of(facts_of_path(there.path()).value());
  std::filesystem::create_symlink(there.file("made-through-link"), here.file("link"));
  CHECK(system_of(here.file("link"), to_create) == expected);
  CHECK(system_of(here.file("link"), to_create) == expected);
  CHECK(system_of(here.file("link"), to_read) == expected);
  CHECK(system_of(here.file("beside"), to_create) == "tmpfs");
  CHECK(there.entry_count() == 1);
}

TEST_CASE("the file system is queried once") {
  const TemporaryDirectory directory("/dev/shm");
  OpenOptions known = to_create;
  known.facts = facts_of_magic(0x6969);
  CHECK(system_of(directory.file("x"), known) == "nfs");
}

TEST_CASE("a file system without storage targets reports that") {
  const auto count = default_store()->target_count("/dev/shm/x");
  REQUIRE_FALSE(count.ok());
  CHECK(count.error().message == "/dev/shm/x: the file system has no storage targets");
}

}  // namespace nacre::store
