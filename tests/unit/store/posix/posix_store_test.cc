// Errors of opening and deleting files.
#include "store/posix/posix_store.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"
#include "child.h"
#include "store/default_store.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::Checks;
using fixtures::Report;
using fixtures::TemporaryDirectory;
using fixtures::to_create;
using fixtures::to_read;
using fixtures::to_update;
using fixtures::to_write;

Error refused(const std::string& path, const OpenOptions& options) {
  Result<std::unique_ptr<StoreFile>> opened = PosixStore().open(path, options);
  REQUIRE_FALSE(opened.ok());
  return opened.error();
}

void make_file(const std::string& path) { REQUIRE(PosixStore().open(path, to_create).ok()); }

void run(const std::function<Report()>& body) {
  const Report report = fixtures::run_in_child(body);
  if (!fixtures::is_skipped(report)) CHECK(report == "");
}

/// The descriptor of this process for the open path.
int descriptor_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) {
      return std::stoi(entry.path().filename().string());
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("opening a directory for writing or reading is an error") {
  const TemporaryDirectory directory;
  for (const OpenOptions& options : {to_read, to_update, to_create}) {
    const Error error = refused(directory.path(), options);
    CHECK(error.error_class == ErrorClass::bad_file);
    CHECK(error.message == "open " + directory.path() + ": is a directory");
  }
  const Status removed = PosixStore().remove(directory.path());
  REQUIRE_FALSE(removed.ok());
  CHECK(removed.error().error_class == ErrorClass::bad_file);
}

TEST_CASE("the error of an invalid path says what is wrong with it") {
  const TemporaryDirectory directory;
  make_file(directory.file("plain"));
  REQUIRE(symlink("loop", directory.file("loop").c_str()) == 0);

  CHECK(refused(directory.file("plain/x"), to_create).error_class == ErrorClass::bad_file);
  CHECK(refused(directory.file("plain/x"), to_create).message ==
        "open " + directory.file("plain/x") + ": not a directory");
  CHECK(refused(directory.file("loop"), to_create).system_errno == ELOOP);
  CHECK(refused(directory.file("loop"), to_create).error_class == ErrorClass::bad_file);
  CHECK(refused(directory.file(std::string(300, 'x')), to_create).error_class ==
        ErrorClass::bad_file);
  CHECK(refused(directory.file("none/x"), to_create).error_class == ErrorClass::no_such_file);
  CHECK(refused(directory.file(std::string("pl\0ain", 6)), to_read).error_class ==
        ErrorClass::bad_file);
}

TEST_CASE("a pipe is refused without reading from it or waiting for it") {
  const TemporaryDirectory directory;
  REQUIRE(mkfifo(directory.file("pipe").c_str(), 0600) == 0);
  for (const OpenOptions& options : {to_read, to_write, to_update}) {
    const Error error = refused(directory.file("pipe"), options);
    CHECK(error.error_class == ErrorClass::bad_file);
    CHECK(error.message.find("a pipe or socket has no offsets") != std::string::npos);
  }
}

TEST_CASE("who may not is told so") {
  run([] {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
      return fixtures::skip("cannot become another user");
    }
    const TemporaryDirectory directory(std::filesystem::temp_directory_path().string());
    Checks checks;
    PosixStore store;
    OpenOptions unreadable = to_create;
    unreadable.permissions = 0;
    checks.that(store.open(directory.file("x"), unreadable).ok(), "create");
    const auto opened = store.open(directory.file("x"), to_read);
    checks.that(!opened && opened.error().error_class == ErrorClass::access, "read");
    checks.that(
        !opened && opened.error().message == "open " + directory.file("x") + ": permission denied",
        "message");

    chmod(directory.path().c_str(), 0500);
    const auto created = store.open(directory.file("y"), to_create);
    checks.that(!created && created.error().error_class == ErrorClass::access, "create in 0500");
    const Status removed = store.remove(directory.file("x"));
    checks.that(!removed && removed.error().error_class == ErrorClass::access, "remove in 0500");
    const auto counter = store.counter({directory.file("x"), 1, false}, true);
    checks.that(!counter && counter.error().error_class == ErrorClass::access, "counter");
    checks.that(!counter && counter.error().message.find("make that directory writable") !=
                                std::string::npos,
                "advice");
    chmod(directory.path().c_str(), 0700);
    return checks.report();
  });
}

TEST_CASE("a program that runs is in use") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int writable = open(self.c_str(), O_WRONLY | O_CLOEXEC);
  if (writable >= 0) {
    close(writable);
    MESSAGE("SKIP: this kernel lets running programs be written to");
    return;
  }
  if (errno != ETXTBSY) {
    MESSAGE("SKIP: the test program is not the user's");
    return;
  }
  CHECK(refused(self, to_write).error_class == ErrorClass::file_in_use);
}

TEST_CASE("a file on a read-only mount can be read, and writing it is an error") {
  run([] {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path().string());
    PosixStore store;
    Checks checks;
    checks.that(store.open(directory.file("x"), to_create).ok(), "before");
    if (const auto reason = fixtures::own_mounts()) return fixtures::skip(*reason);
    if (const auto reason = fixtures::make_read_only(directory.path())) {
      return fixtures::skip(*reason);
    }
    const auto is_read_only = [](const Error& error) {
      return error.error_class == ErrorClass::read_only &&
             error.message.find("read-only file system") != std::string::npos;
    };
    const auto updated = store.open(directory.file("x"), to_update);
    checks.that(!updated && is_read_only(updated.error()), "update");
    const auto created = store.open(directory.file("y"), to_create);
    checks.that(!created && is_read_only(created.error()), "create");
    const Status removed = store.remove(directory.file("x"));
    checks.that(!removed && is_read_only(removed.error()), "remove");
    const auto counter = store.counter({directory.file("x"), 1, false}, true);
    checks.that(!counter && is_read_only(counter.error()), "counter");
    checks.that(store.open(directory.file("x"), to_read).ok(), "read");
    umount2(directory.path().c_str(), 0);
    return checks.report();
  });
}

TEST_CASE("a new file has the requested permissions, without those of the umask") {
  run([] {
    const TemporaryDirectory directory;
    umask(027);
    OpenOptions options = to_create;
    options.permissions = 0666;
    Checks checks;
    checks.that(PosixStore().open(directory.file("x"), options).ok(), "create");
    struct stat file {};
    stat(directory.file("x").c_str(), &file);
    checks.that((file.st_mode & 0777) == 0640, "mode");
    return checks.report();
  });
}

TEST_CASE("started programs inherit no descriptor") {
  const TemporaryDirectory directory;
  const auto file = PosixStore().open(directory.file("x"), to_create);
  REQUIRE(file.ok());
  const int descriptor = descriptor_of(directory.file("x"));
  REQUIRE(descriptor >= 0);
  CHECK((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("close releases the descriptor at once, and so does the destructor") {
  const TemporaryDirectory directory;
  auto file = PosixStore().open(directory.file("x"), to_create);
  CHECK((*file)->close().ok());
  CHECK(descriptor_of(directory.file("x")) == -1);
  file = PosixStore().open(directory.file("x"), to_create);
  CHECK(descriptor_of(directory.file("x")) >= 0);
  file->reset();
  CHECK(descriptor_of(directory.file("x")) == -1);
}

TEST_CASE("there is one default store, which opens files") {
  const TemporaryDirectory directory;
  CHECK(default_store() == default_store());
  CHECK(default_store()->open(directory.file("x"), to_create).ok());
  CHECK(directory.entry_count() == 1);
}

}  // namespace nacre::store
