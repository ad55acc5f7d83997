// The table of hints: the values that each kind accepts, messages, and the table as JSON.
#include "file/hints/hint_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/algorithm_table.h"

namespace nacre::file {
namespace {

std::string kept(std::string_view name, std::string_view value) {
  const Result<std::string> checked = checked_value(*find_hint(name), value);
  return checked ? *checked : "refused";
}

std::string refusal(std::string_view name, std::string_view value) {
  const Result<std::string> checked = checked_value(*find_hint(name), value);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().error_class == ErrorClass::info_value);
  return checked.error().message;
}

}  // namespace

TEST_CASE("every hint has a name, a variable, a description and a valid default") {
  std::set<std::string> variables;
  for (const HintRow& row : hint_table()) {
    CAPTURE(row.name);
    CHECK(find_hint(row.name) == &row);
    CHECK(variables.insert(environment_name(row.name)).second);
    CHECK_FALSE(row.meaning.empty());
    if (row.default_value.empty()) continue;
    CHECK(kept(row.name, row.default_value) == row.default_value);
  }
  CHECK(find_hint("no_such_hint") == nullptr);
}

TEST_CASE("all hints that MPI reserves for files, and those that users of ROMIO pass, are known") {
  for (const char* name : {"access_style",       "collective_buffering",
                           "cb_block_size",      "cb_buffer_size",
                           "cb_nodes",           "chunked",
                           "chunked_item",       "chunked_size",
                           "filename",           "file_perm",
                           "io_node_list",       "nb_proc",
                           "num_io_nodes",       "striping_factor",
                           "striping_unit",      "romio_cb_read",
                           "romio_cb_write",     "romio_ds_read",
                           "romio_ds_write",     "ind_rd_buffer_size",
                           "ind_wr_buffer_size", "romio_no_indep_rw",
                           "cb_config_list",     "direct_read",
                           "direct_write",       "start_iodevice",
                           "overstriping_ratio", "overstriping_factor"}) {
    CAPTURE(name);
    CHECK(find_hint(name) != nullptr);
  }
}

TEST_CASE("the variable of a hint is NACRE_ and its name in capitals, without a second NACRE_") {
  CHECK(environment_name("cb_nodes") == "NACRE_CB_NODES");
  CHECK(environment_name("nacre_algorithm") == "NACRE_ALGORITHM");
}

TEST_CASE("booleans are stored as true or false, in any accepted spelling") {
  for (const char* word : {"true", "TRUE", "enable", "1", "yes", " true "}) {
    CHECK(kept("nacre_enable", word) == "true");
  }
  for (const char* word : {"false", "Disable", "0", "no"}) {
    CHECK(kept("nacre_enable", word) == "false");
  }
  CHECK(refusal("nacre_enable", "maybe") ==
        "hint nacre_enable has the value \"maybe\"; it takes true or false");
}

TEST_CASE("counts and bytes are whole numbers with a minimum; bytes may have a unit") {
  CHECK(kept("cb_nodes", "8") == "8");
  CHECK(kept("cb_nodes", " 8\t") == "8");
  CHECK(kept("start_iodevice", "0") == "0");
  CHECK(kept("cb_buffer_size", "16m") == "16777216");
  CHECK(kept("cb_buffer_size", "1K") == "1024");
  CHECK(kept("striping_unit", "2t") == "2199023255552");
  for (const char* word : {"0", "-1", "", "8 nodes", "1.5", "0x8", "99999999999999999999"}) {
    CAPTURE(word);
    CHECK(kept("cb_nodes", word) == "refused");
  }
  for (const char* word : {"1kb", "m", "9000000000000t", "1e6"}) {
    CAPTURE(word);
    CHECK(kept("cb_buffer_size", word) == "refused");
  }
  CHECK(refusal("cb_nodes", "4k") ==
        "hint cb_nodes has the value \"4k\"; it takes a whole number of at least 1");
  CHECK(refusal("cb_buffer_size", "lots") ==
        "hint cb_buffer_size has the value \"lots\"; it takes a whole number of at least 1, in "
        "bytes or with k, m, g or t for powers of 1024");
}

TEST_CASE("nacre_algorithm accepts automatic and the name of every algorithm") {
  std::string choices = "automatic";
  for (const plan::AlgorithmRow* const row : plan::algorithm_table()) {
    choices += '|' + std::string(row->name);
  }
  CHECK(find_hint("nacre_algorithm")->choices == choices);
}

TEST_CASE("a choice is a word of its list, in upper or lower case") {
  CHECK(kept("romio_cb_write", "Enable") == "enable");
  CHECK(kept("nacre_algorithm", "two_phase") == "two_phase");
  CHECK(refusal("nacre_pattern", "odd") ==
        "hint nacre_pattern has the value \"odd\"; it takes one of automatic|even|stripes|osts");
  CHECK(kept("nacre_cycle_buffers", "16") == "16");
  CHECK(kept("nacre_cycle_buffers", "1") == "refused");
  CHECK(kept("nacre_algorithm", "") == "refused");
  CHECK(kept("nacre_algorithm", "automatic|direct") == "refused");
}

TEST_CASE("groups are a grid, lists of ranks or a word") {
  for (const char* word : {"automatic", "each", "4x4x2", "1x1", "0-3/4-7+12", "5", "7/0-2"}) {
    CAPTURE(word);
    CHECK(kept("nacre_groups", word) == word);
  }
  CHECK(kept("nacre_groups", " 4X4 ") == "4x4");
  for (const char* word : {"", "rows", "0x4", "4x", "x4", "4x-4", "3-1", "0-1-2", "0//1", "0+0",
                           "0-3/2", "0-99999999999", "0-4000000000", "-1", "1,2"}) {
    CAPTURE(word);
    CHECK(kept("nacre_groups", word) == "refused");
  }
  CHECK(refusal("nacre_groups", "0-3/3") ==
        "hint nacre_groups has the value \"0-3/3\"; it takes automatic, each, a grid of ranks such "
        "as "
        "4x4, or groups of ranks such as 0-3/4-7+9, each rank in one group at most");
}

TEST_CASE("permissions are octal") {
  CHECK(kept("file_perm", "640") == "640");
  CHECK(kept("file_perm", "0640") == "0640");
  for (const char* word : {"rw-r-----", "980", "1777", "", "-1"}) {
    CHECK(kept("file_perm", word) == "refused");
  }
}

TEST_CASE("read-only hints cannot be set") { CHECK(kept("filename", "x") == "refused"); }

TEST_CASE("the table as JSON is an array with one object per hint") {
  const std::string json = hints_as_json();
  CHECK(json.front() == '[');
  CHECK(json.back() == ']');
  CHECK(std::ranges::count(json, '{') == std::ssize(hint_table()));
  CHECK(json.find("{\"name\":\"cb_nodes\",\"variable\":\"NACRE_CB_NODES\",\"kind\":\"count\","
                  "\"minimum\":1,\"choices\":\"\",\"default\":\"\",\"time\":\"always\",") !=
        std::string::npos);
  CHECK(json.find("{\"name\":\"filename\",\"variable\":\"\",\"kind\":\"output\"") !=
        std::string::npos);
}

}  // namespace nacre::file
