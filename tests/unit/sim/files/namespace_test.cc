// Names and inodes as in POSIX, default layouts of directories as in Lustre.
#include "sim/files/namespace.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "asked_layout.h"

namespace nacre::sim {
namespace {

constexpr Maker file_maker{.uid = 1, .gid = 2, .mode = S_IFREG | 0644};
constexpr Maker directory_maker{.uid = 1, .gid = 2, .mode = S_IFDIR | 0755};
const Machine four_osts{.osts = 4, .stripe_size = 1 << 20};

InodeNumber made(Namespace& names, InodeNumber directory, const std::string& name,
                 const Maker& maker) {
  return names.make(directory, name, maker).value().st_ino;
}

plan::Striping striping_of(Namespace& names, InodeNumber file) {
  const std::vector<std::byte> blob = names.attribute(file, "lustre.lov").value();
  return plan::decode_lov(blob).value().components.front().striping;
}

}  // namespace

TEST_CASE("a new file has no layout until it gets that of its directory") {
  Namespace names(four_osts);
  const InodeNumber directory = made(names, root_number, "d", directory_maker);
  CHECK(errno_in(names.attribute(directory, "lustre.lov")) == ENODATA);
  REQUIRE(names.set_attribute(directory, "lustre.lov", asked_blob("-c 3 -S 2m")).ok());
  const InodeNumber file = made(names, directory, "f", file_maker);
  CHECK(errno_in(names.attribute(file, "lustre.lov")) == ENODATA);
  REQUIRE(names.give_layout(file, false).ok());
  CHECK(striping_of(names, file).stripe_count == 3);
  CHECK(striping_of(names, file).stripe_size == 2 << 20);
  CHECK(striping_of(names, file).objects.size() == 3);
}

TEST_CASE("new directories inherit the default layout, which can be removed") {
  Namespace names(four_osts);
  const InodeNumber above = made(names, root_number, "d", directory_maker);
  REQUIRE(names.set_attribute(above, "lustre.lov", asked_blob("-c 2")).ok());
  const InodeNumber below = made(names, above, "e", directory_maker);
  CHECK(names.attribute(below, "lustre.lov").ok());
  REQUIRE(names.remove_attribute(below, "lustre.lov").ok());
  CHECK(errno_in(names.remove_attribute(below, "lustre.lov")) == ENODATA);
  const InodeNumber file = made(names, below, "f", file_maker);
  REQUIRE(names.give_layout(file, false).ok());
  CHECK(striping_of(names, file).stripe_count == 1);
}

TEST_CASE("a file created for appending gets one stripe, whatever the default of the directory") {
  Namespace names(four_osts);
  const InodeNumber directory = made(names, root_number, "d", directory_maker);
  REQUIRE(names.set_attribute(directory, "lustre.lov", asked_blob("-E 1m -c 1 -E -1 -c 4")).ok());
  const InodeNumber file = made(names, directory, "f", file_maker);
  REQUIRE(names.give_layout(file, true).ok());
  CHECK(striping_of(names, file).stripe_count == 1);
}

TEST_CASE("inodes stay while they have a name or a lookup count") {
  Namespace names(four_osts);
  const InodeNumber file = made(names, root_number, "f", file_maker);
  CHECK(names.lookup(root_number, "f").value().st_ino == file);
  CHECK(names.file_count() == 2);
  REQUIRE(names.remove(root_number, "f", false).ok());
  CHECK(errno_in(names.lookup(root_number, "f")) == ENOENT);
  CHECK(names.attributes(file).value().st_nlink == 0);
  names.forget(file, 1);
  CHECK(names.file_count() == 2);
  names.forget(file, 1);
  CHECK(names.file_count() == 1);
}

TEST_CASE("names are created, linked, renamed and removed, or refused") {
  Namespace names(four_osts);
  const InodeNumber a = made(names, root_number, "a", directory_maker);
  const InodeNumber b = made(names, a, "b", directory_maker);
  const InodeNumber file = made(names, b, "f", file_maker);
  CHECK(errno_in(names.make(b, "f", file_maker)) == EEXIST);
  CHECK(errno_in(names.make(file, "g", file_maker)) == ENOTDIR);
  CHECK(errno_in(names.make(b, std::string(256, 'x'), file_maker)) == ENAMETOOLONG);
  CHECK(names.link(file, a, "g").value().st_nlink == 2);
  CHECK(errno_in(names.link(a, b, "h")) == EPERM);
  CHECK(errno_in(names.remove(root_number, "a", false)) == EISDIR);
  CHECK(errno_in(names.remove(a, "g", true)) == ENOTDIR);
  CHECK(errno_in(names.remove(root_number, "a", true)) == ENOTEMPTY);
  CHECK(errno_in(names.rename({root_number, "a", b, "c"})) == EINVAL);
  CHECK(names.rename({b, "f", a, "g"}).ok());
  CHECK(errno_in(names.rename({a, "g", root_number, "a", true})) == EISDIR);
  CHECK(names.rename({a, "b", root_number, "b", false}).ok());
  CHECK(names.attributes(root_number).value().st_nlink == 4);
  CHECK(names.list(root_number).value().size() == 4);
}

TEST_CASE("other extended attributes are stored unchanged") {
  Namespace names(four_osts);
  const InodeNumber file = made(names, root_number, "f", file_maker);
  const std::vector<std::byte> value{std::byte{1}, std::byte{2}};
  REQUIRE(names.set_attribute(file, "user.x", value).ok());
  CHECK(names.attribute(file, "user.x").value() == value);
  CHECK(names.attribute_names(file).value() == std::vector<std::string>{"user.x"});
  REQUIRE(names.give_layout(file, false).ok());
  CHECK(names.attribute_names(file).value() == std::vector<std::string>{"lustre.lov", "user.x"});
  CHECK(names.remove_attribute(file, "user.x").ok());
  CHECK(errno_in(names.attribute(file, "user.x")) == ENODATA);
}

TEST_CASE("a node counts as a writer from its first open for writing to its last close") {
  Namespace names(four_osts);
  const InodeNumber file = made(names, root_number, "f", file_maker);
  const Namespace::Opening reads{.node = 1};
  const Namespace::Opening writes{.node = 1, .writes = true};
  for (const Namespace::Opening& one : {reads, writes, writes}) {
    REQUIRE(names.open(file, one).ok());
    CHECK(names.is_written_on(file, 1) == one.writes);
  }
  CHECK_FALSE(names.is_written_on(file, 0));
  names.close(file, writes);
  CHECK(names.is_written_on(file, 1));
  names.close(file, writes);
  CHECK_FALSE(names.is_written_on(file, 1));
  names.close(file, reads);
}

TEST_CASE(
    "data is freed with the last name and the last open, even if a node still knows the inode") {
  Namespace names(four_osts);
  const auto size_of = [&](InodeNumber file) { return names.attributes(file).value().st_size; };
  const std::vector<std::byte> bytes(10, std::byte{7});
  for (const bool is_open : {false, true}) {
    CAPTURE(is_open);
    const InodeNumber file = made(names, root_number, "f", file_maker);
    REQUIRE(names.give_layout(file, false).ok());
    REQUIRE(names.data(file).value()->write(bytes, 0).ok());
    if (is_open) REQUIRE(names.open(file, {}).ok());
    REQUIRE(names.remove(root_number, "f", false).ok());
    CHECK(size_of(file) == (is_open ? 10 : 0));
    CHECK(names.open(file, {}).ok() == is_open);
    if (is_open) {
      names.close(file, {});
      CHECK(size_of(file) == 10);
      names.close(file, {});
    }
    CHECK(size_of(file) == 0);
    CHECK(errno_in(names.open(file, {})) == ESTALE);
    names.forget(file, 1);
    CHECK(names.file_count() == 1);
  }
}

}  // namespace nacre::sim
