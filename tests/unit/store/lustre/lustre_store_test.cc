// The parts of the Lustre store that need no Lustre: files on another file system, refused layouts,
// and errnos of Lustre. The tests of the testbed and of layout hints test the rest.
#include "store/lustre/lustre_store.h"

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "bytes.h"
#include "child.h"
#include "store/system/errno.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::TemporaryDirectory;
using fixtures::to_create;
using fixtures::to_read;

/// A file of a Lustre that grants every lock, after a first signal.
class GrantingFile final : public LustreStoreFile {
 public:
  GrantingFile(OpenedFile opened, std::vector<std::size_t>& requests)
      : LustreStoreFile(std::move(opened)), requests_(requests) {}

 protected:
  int request_locks(std::span<const Extent> ranges) override {
    const bool is_first = requests_.empty();
    requests_.push_back(ranges.size());
    errno = EINTR;
    return is_first ? -1 : 0;
  }

 private:
  std::vector<std::size_t>& requests_;
};

class GrantingStore final : public LustreStore {
 public:
  std::vector<std::size_t> requests;

 protected:
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override {
    return std::make_unique<GrantingFile>(std::move(opened), requests);
  }
};

}  // namespace

TEST_CASE("locks ahead of writes are requested for 1000 ranges at once, again after a signal") {
  const TemporaryDirectory directory;
  GrantingStore store;
  const auto file = *store.open(directory.file("x"), to_create);
  const std::vector<Extent> ranges(2500, Extent{0, 10});
  CHECK(file->lock_ahead(ranges).ok());
  CHECK(store.requests == std::vector<std::size_t>{1000, 1000, 1000, 500});
}

TEST_CASE("a file on another file system has no layout and no Lustre locks") {
  const TemporaryDirectory directory;
  LustreStore store;
  const auto file = *store.open(directory.file("x"), to_create);
  CHECK(file->layouts() == nullptr);
  CHECK_FALSE(file->facts().has_layouts);
  CHECK(file->lock_group(1).error().error_class == ErrorClass::unsupported_operation);
  CHECK_FALSE(fixtures::write_text(*file, "text", 0).error.has_value());
}

TEST_CASE("no file is created if the layout of a new file is refused") {
  const TemporaryDirectory directory;
  OpenOptions striped = to_create;
  striped.layout = plan::plain_layout({.stripe_size = 1 << 20, .stripe_count = 2});
  const auto refused = LustreStore().open(directory.file("x"), striped);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("set the layout of") != std::string::npos);
  CHECK(directory.entry_count() == 0);
  CHECK(LustreStore().open(directory.file("x"), to_read).error().error_class ==
        ErrorClass::no_such_file);
}

TEST_CASE("a layout with an OST that is absent or down is an error of the hint's value") {
  for (const int system_errno : {EINVAL, EREMOTEIO, ENOSPC}) {
    const fixtures::Report report = fixtures::run_in_child([&]() -> fixtures::Report {
      const TemporaryDirectory directory;
      OpenOptions striped = to_create;
      striped.layout = plan::plain_layout({.stripe_count = 1, .first_ost = 60000});
      if (!fixtures::refuse_system_call(SYS_fsetxattr, std::nullopt, system_errno)) {
        return fixtures::skip("no seccomp");
      }
      const auto refused = LustreStore().open(directory.file("x"), striped);
      fixtures::Checks checks;
      checks.that(!refused && refused.error().system_errno == system_errno, "errno");
      checks.that(
          !refused && refused.error().error_class ==
                          (system_errno == ENOSPC ? ErrorClass::no_space : ErrorClass::info_value),
          "class");
      checks.that(directory.entry_count() == 0, "no file is left");
      return checks.report();
    });
    if (!fixtures::is_skipped(report)) CHECK(report == "");
  }
}

TEST_CASE("an existing file is opened, whatever layout is requested") {
  const TemporaryDirectory directory;
  REQUIRE(LustreStore().open(directory.file("x"), to_create).ok());
  OpenOptions striped = to_create;
  striped.layout = plan::plain_layout({.stripe_count = 2});
  CHECK(LustreStore().open(directory.file("x"), striped).ok());
  striped.exclusive = true;
  CHECK(LustreStore().open(directory.file("x"), striped).error().error_class ==
        ErrorClass::file_exists);
}

TEST_CASE("a layout that cannot be encoded is an error") {
  const TemporaryDirectory directory;
  const Descriptor file(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY));
  const plan::Layout unfit = plan::plain_layout({.pool = "a-name-of-many-letters"});
  const Status set = LustreLayouts(file.number(), "x").set(unfit);
  REQUIRE_FALSE(set.ok());
  CHECK(set.error().message.find("a-name-of-many-letters") != std::string::npos);
}

TEST_CASE("a file system that does not answer for its OSTs has no flash drives") {
  const TemporaryDirectory directory;
  CHECK_FALSE(are_osts_flash(directory.path()));
  CHECK_FALSE(are_osts_flash(directory.file("missing")));
  CHECK_FALSE(LustreStore().has_flash_targets(directory.file("x")));
}

TEST_CASE("errnos of Lustre mean that there is no layout, or that the caller may not set one") {
  const LustreLayouts layouts(-1, "x");
  const auto error = [](int reason) { return error_from_errno(reason, "write", "x"); };
  CHECK(layouts.means_no_layout(error(EBADF)));
  CHECK(layouts.means_no_layout(error(ENODATA)));
  CHECK_FALSE(layouts.means_no_layout(error(EIO)));
  CHECK(layouts.means_not_owner(error(EPERM)));
  CHECK_FALSE(layouts.means_not_owner(error(EACCES)));
}

}  // namespace nacre::store
