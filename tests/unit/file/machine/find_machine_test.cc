// Which machine holds for a file.
#include "file/machine/find_machine.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "machine/machine_file.h"
#include "store/file_system.h"
#include "temporary_directory.h"

namespace nacre::file {
namespace {

constexpr std::uint32_t lustre_magic = 0x0BD00BD0;
constexpr std::uint32_t tmpfs_magic = 0x01021994;
constexpr std::uint32_t nfs_magic = 0x00006969;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

Environment home(const std::string& directory) {
  return [directory](const std::string& name) -> std::optional<std::string> {
    if (name == "XDG_CONFIG_HOME") return directory;
    return std::nullopt;
  };
}

Hints named(const std::string& machine) {
  Hints hints;
  if (!machine.empty()) hints.set("nacre_machine", machine, HintSource::program);
  return hints;
}

MachineQuery file_on(std::uint32_t magic, const std::string& path = "/nowhere/file") {
  store::FileSystemFacts facts = store::facts_of_magic(magic);
  return {path, facts};
}

}  // namespace

TEST_CASE("without a machine file the class of the file system holds") {
  const store::fixtures::TemporaryDirectory directory;
  const Environment environment = home(directory.path());
  const auto origin = [&](std::uint32_t magic) {
    return find_machine(file_on(magic), {}, environment).value()->origin;
  };
  CHECK(origin(lustre_magic) == "lustre");
  CHECK(origin(tmpfs_magic) == "memory");
  CHECK(origin(nfs_magic) == "remote");
  const auto origin_on_flash = [&](std::uint32_t magic) {
    MachineQuery query = file_on(magic);
    query.file_system.on_flash = true;
    return find_machine(query, {}, environment).value()->origin;
  };
  CHECK(origin_on_flash(lustre_magic) == "lustre-flash");
  CHECK(origin_on_flash(tmpfs_magic) == "memory");
  CHECK(depends_on_drives(store::facts_of_magic(lustre_magic), {}));
  CHECK_FALSE(depends_on_drives(store::facts_of_magic(lustre_magic), named("none")));
  CHECK_FALSE(depends_on_drives(store::facts_of_magic(tmpfs_magic), {}));
}

TEST_CASE("a hint names a class, a file, or no machine") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string path = directory.path() + "/m.toml";
  write(path, "[osts]\nbandwidth = \"7m\"\n");
  const Environment environment = home(directory.path());
  CHECK(find_machine(file_on(tmpfs_magic), named("lustre"), environment).value()->origin ==
        "lustre");
  CHECK_FALSE(find_machine(file_on(tmpfs_magic), named("none"), environment)->has_value());
  const auto found = find_machine(file_on(lustre_magic), named(path), environment).value();
  CHECK(found->origin == path);
  CHECK(found->machine.ost.bandwidth == 7 << 20);
  // Of the class, because the file does not name it.
  CHECK(found->machine.ost.client_cost == 0.2);
}

TEST_CASE("the figures of OSTs are those of a class unless a file names their bandwidth") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string path = directory.path() + "/m.toml";
  const auto is_of_class = [&](const std::string& name) {
    const auto found = find_machine(file_on(lustre_magic), named(name), home("/none")).value();
    return found->machine.is_of_class;
  };
  CHECK(is_of_class("lustre-flash"));
  write(path, "[messages]\nfar_ns = 1000\n");
  CHECK(is_of_class(path));
  const std::int64_t of_class = machine::shipped_machine("lustre").ost.bandwidth;
  for (const std::int64_t bandwidth : {std::int64_t{7} << 20, of_class}) {
    write(path, "[osts]\nbandwidth = " + std::to_string(bandwidth) + "\n");
    CHECK_FALSE(is_of_class(path));
  }
}

TEST_CASE("a machine file that a hint names has a remark if it is for another file system") {
  const store::fixtures::TemporaryDirectory directory;
  const auto remark = [&](const std::string& settings, std::uint32_t magic) {
    const std::string path = directory.path() + "/m.toml";
    write(path, "[machine]\n" + settings + "\n[osts]\ncount = 11\n");
    const auto found =
        find_machine(file_on(magic, directory.path()), named(path), home("/none")).value();
    CHECK(found->machine.osts == 11);
    return found->remark.substr(found->remark.find(": ") + 1);
  };
  const std::string mount = "mount = \"" + directory.path() + "\"";
  CHECK(remark("file_system = \"lustre\"", lustre_magic).empty());
  CHECK(remark(mount, lustre_magic).empty());
  CHECK(remark("file_system = \"lustre\"", tmpfs_magic) ==
        " its figures are for lustre, and the file is on tmpfs");
  CHECK(remark("mount = \"/proc\"", lustre_magic) ==
        " its figures are for the mount /proc, and the file is on another one");
}

TEST_CASE("a user's machine file holds for its mount, else for its kind of file system") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string folder = directory.path() + "/nacre/machines/";
  write(folder + "a.toml", "[machine]\nfile_system = \"tmpfs\"\n[osts]\ncount = 11\n");
  const Environment environment = home(directory.path());
  const std::string file = directory.path() + "/file";
  write(file, "");
  CHECK(find_machine(file_on(tmpfs_magic, file), {}, environment).value()->machine.osts == 11);
  CHECK(find_machine(file_on(nfs_magic, file), {}, environment).value()->origin == "remote");

  const store::fixtures::TemporaryDirectory other;
  const std::string mount_folder = other.path() + "/nacre/machines/";
  write(mount_folder + "a.toml", "[machine]\nfile_system = \"tmpfs\"\n[osts]\ncount = 11\n");
  write(mount_folder + "b.toml",
        "[machine]\nmount = \"" + directory.path() + "\"\n[osts]\ncount = 22\n");
  const auto found = find_machine(file_on(tmpfs_magic, file), {}, home(other.path())).value();
  CHECK(found->machine.osts == 22);
  CHECK(found->origin == mount_folder + "b.toml");
}

TEST_CASE("the user's machine files come before those of the site") {
  CHECK(machine_folders(home("/home/u/.config")) ==
        std::vector<std::string>{"/home/u/.config/nacre/machines", "/etc/nacre/machines"});
}

TEST_CASE("an invalid machine file is an error that names file and line") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string path = directory.path() + "/nacre/machines/bad.toml";
  write(path, "[osts]\ncount = \"many\"\n");
  const auto found = find_machine(file_on(tmpfs_magic), {}, home(directory.path()));
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().error_class == ErrorClass::info_value);
  CHECK(found.error().message.find(path + ":2: osts.count = many") != std::string::npos);
  const auto missing = find_machine(file_on(tmpfs_magic), named("/no/such.toml"), home("/none"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("nacre_machine = /no/such.toml: there is no such file") !=
        std::string::npos);
}

}  // namespace nacre::file
