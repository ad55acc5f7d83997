// File-name prefixes: removed, refused, and not recognised.
#include "store/path.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::store {
namespace {

std::string stripped(const std::string& path) {
  const Result<std::string> result = strip_prefix(path);
  return result ? *result : "error: " + result.error().message;
}

}  // namespace

TEST_CASE("the prefix of a kernel file system is removed") {
  for (const std::string prefix : {"ufs", "nfs", "xfs", "lustre", "gpfs", "panfs", "pfs", "piofs",
                                   "hfs", "sfs", "bg", "bgl", "bglockless"}) {
    CAPTURE(prefix);
    CHECK(stripped(prefix + ":/scratch/x") == "/scratch/x");
    CHECK(stripped(prefix + ":x") == "x");
  }
  CHECK(stripped("UFS:x") == "x");
  CHECK(stripped("LUSTRE:/scratch/x") == "/scratch/x");
}

TEST_CASE("only one prefix is removed") {
  CHECK(stripped("ufs:nfs:x") == "nfs:x");
  CHECK(stripped("ufs:a:b") == "a:b");
}

TEST_CASE("an unknown prefix is part of the file name") {
  for (const std::string path :
       {"", "x", "/scratch/x", "C:foo", "a:b", ":x", ":", "Nfs:x", "uFS:x", "nfs2:x", "uf:x",
        "./nfs:x", "/nfs:x", "dir/ufs:x", "2026-11-20T12:00:00", " ufs:x"}) {
    CAPTURE(path);
    CHECK(stripped(path) == path);
  }
}

TEST_CASE("the prefix of a file system that needs its own library is refused with advice") {
  for (const std::string prefix : {"pvfs", "pvfs2", "daos", "ime", "zoidfs", "unifyfs", "quobyte",
                                   "testfs", "ftp", "gsiftp", "DAOS"}) {
    CAPTURE(prefix);
    const Result<std::string> result = strip_prefix(prefix + ":/pool/x");
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().error_class == ErrorClass::unsupported_operation);
    CHECK(result.error().message.find(prefix + ":/pool/x") != std::string::npos);
    CHECK(result.error().message.find("mount") != std::string::npos);
  }
}

TEST_CASE("a prefix without a file name is refused") {
  for (const std::string path : {"ufs:", "daos:"}) {
    const Result<std::string> result = strip_prefix(path);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().error_class == ErrorClass::bad_file);
  }
}

TEST_CASE("an absolute path does not change; a relative path starts in the working directory") {
  CHECK(absolute_path("/scratch//x") == "/scratch//x");
  CHECK(absolute_path("a:b/x") == std::filesystem::current_path().string() + "/a:b/x");
}

}  // namespace nacre::store
