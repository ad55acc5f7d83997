// The parts of the store of CephFS that need no CephFS: files on another file system, refused and
// forbidden layouts, and calls that layouts of CephFS do not have. tests/system/test_ceph.py tests
// the rest on a CephFS.
#include "store/ceph/ceph_store.h"

#include <cerrno>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "bytes.h"
#include "store/file_system.h"
#include "store/system/errno.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::TemporaryDirectory;
using fixtures::to_create;

OpenOptions to_create_striped() {
  OpenOptions options = to_create;
  options.layout = plan::plain_layout({.stripe_size = 1 << 20, .stripe_count = 2});
  return options;
}

}  // namespace

TEST_CASE("a file on another file system than CephFS has no layout") {
  const TemporaryDirectory directory;
  const auto file = *CephStore().open(directory.file("x"), to_create);
  CHECK(file->layouts() == nullptr);
  CHECK_FALSE(file->facts().has_layouts);
  CHECK_FALSE(fixtures::write_text(*file, "text", 0).error.has_value());
}

TEST_CASE("no file is created if its layout cannot be set") {
  const TemporaryDirectory directory;
  const auto refused = CephStore().open(directory.file("x"), to_create_striped());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("the layout of") != std::string::npos);
  CHECK(directory.entry_count() == 0);
}

TEST_CASE("an existing file keeps its layout, and an exclusive creation of it fails") {
  const TemporaryDirectory directory;
  REQUIRE(CephStore().open(directory.file("x"), to_create).ok());
  OpenOptions striped = to_create_striped();
  CHECK(CephStore().open(directory.file("x"), striped).ok());
  striped.exclusive = true;
  CHECK(CephStore().open(directory.file("x"), striped).error().error_class ==
        ErrorClass::file_exists);
}

TEST_CASE("layouts of CephFS are complete, and their default is that of CephFS") {
  const TemporaryDirectory directory;
  CephLayouts layouts(-1, directory.file("x"));
  CHECK(layouts.set_default().ok());
  for (const Status& refused : {layouts.add({}), layouts.remove_unwritten()}) {
    CHECK(refused.error().error_class == ErrorClass::unsupported_operation);
  }
  CHECK(layouts.target_count().error().error_class == ErrorClass::unsupported_operation);
  CHECK_FALSE(layouts.read().ok());
  CHECK(layouts.default_layout()->components.front().striping.object_size == 4 << 20);
}

TEST_CASE("an error says whether the client's key may set layouts") {
  const CephLayouts layouts(-1, "x");
  const auto error = [](int reason) { return error_from_errno(reason, "set", "x"); };
  CHECK(layouts.means_not_owner(error(EPERM)));
  CHECK(layouts.means_not_owner(error(EACCES)));
  CHECK_FALSE(layouts.means_not_owner(error(EINVAL)));
  CHECK_FALSE(layouts.means_no_layout(error(ENODATA)));
}

}  // namespace nacre::store
