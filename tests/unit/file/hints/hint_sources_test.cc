// Configuration files: their form, the order of their entries, and errors that name path and line.
#include "file/hints/hint_sources.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/system/text_file.h"
#include "temporary_directory.h"

namespace nacre::file {
namespace {

std::string error_of(const std::string& text) {
  const auto entries = parse_config(text, "c.toml");
  REQUIRE_FALSE(entries.ok());
  CHECK(entries.error().error_class == ErrorClass::info_value);
  return entries.error().message;
}

}  // namespace

TEST_CASE("hints for all files come first, those for patterns in the order of the file") {
  const auto entries = parse_config(
      "[files.\"z*\"]\n"
      "cb_nodes = 2\n"
      "[hints]\n"
      "striping_unit = \"4m\"\n"
      "nacre_enable = true\n"
      "[files.\"a*\"]\n"
      "cb_nodes = 3\n"
      "access_style = \"write_once\"\n",
      "c.toml");
  REQUIRE(entries.ok());
  std::string found;
  for (const HintEntry& entry : *entries) {
    found += entry.glob + ":" + entry.name + "=" + entry.value + "@" + std::to_string(entry.line);
    found += ' ';
  }
  CHECK(found ==
        ":striping_unit=4m@4 :nacre_enable=true@5 z*:cb_nodes=2@2 a*:cb_nodes=3@7 "
        "a*:access_style=write_once@8 ");
}

TEST_CASE("an empty file and a file of comments have no entries") {
  CHECK(parse_config("", "c.toml")->empty());
  CHECK(parse_config("# nothing\n\n[hints]\n", "c.toml")->empty());
}

TEST_CASE("errors name the file, the line and the valid values") {
  CHECK(error_of("[hints]\ncb_nodes = 1.5\n") ==
        "c.toml:2: hint cb_nodes takes a string, a whole number, true or false");
  CHECK(error_of("[hints]\ncb_nodes = [1]\n") ==
        "c.toml:2: hint cb_nodes takes a string, a whole number, true or false");
  CHECK(error_of("\n[hint]\ncb_nodes = 1\n") ==
        "c.toml:2: unknown section \"hint\"; expected [hints] or [files.\"GLOB\"]");
  CHECK(error_of("hints = 3\n") == "c.toml:1: expected a table of hints");
  CHECK(error_of("files = 3\n") == "c.toml:1: expected tables of the form [files.\"*.nc\"]");
  CHECK(error_of("[files]\n\"*.nc\" = 3\n") == "c.toml:2: expected a table of hints");
  CHECK(error_of("[hints]\ncb_nodes = \n").substr(0, 9) == "c.toml:2:");
  CHECK(error_of("[hints]\ncb_nodes = 1\ncb_nodes = 2\n").substr(0, 9) == "c.toml:3:");
}

TEST_CASE("a missing file has no entries; an unreadable file is an error") {
  const store::fixtures::TemporaryDirectory directory;
  CHECK(read_config(directory.file("none.toml"))->empty());
  CHECK(read_config(directory.file("none/none.toml"))->empty());
  CHECK_FALSE(read_config(directory.path()).ok());
  const std::string path = directory.file("c.toml");
  REQUIRE(store::append_text(path, "[hints]\ncb_nodes = 4\n").ok());
  CHECK(read_config(path)->at(0).value == "4");
}

}  // namespace nacre::file
