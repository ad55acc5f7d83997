// Hints: each layer overrides the layer below, errors name their source, hints of the program never
// fail a call, and all ranks use the hints of rank 0.
#include "file/hints/hints.h"

#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "store/system/text_file.h"
#include "temporary_directory.h"
#include "testing/in_process.h"

namespace nacre::file {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// The configuration files of a site and of a user, and variables that point to them.
struct Site {
  store::fixtures::TemporaryDirectory directory;
  Variables variables{{"NACRE_SYSTEM_CONFIG", directory.file("system.toml")},
                      {"NACRE_CONFIG", directory.file("user.toml")}};

  void system_file(const std::string& text) const {
    REQUIRE(store::append_text(directory.file("system.toml"), text).ok());
  }
  void user_file(const std::string& text) const {
    REQUIRE(store::append_text(directory.file("user.toml"), text).ok());
  }
  [[nodiscard]] Result<Hints> resolve(const std::string& path, const InfoPairs& info = {}) const {
    return resolve_hints(path, info, environment_of(variables));
  }
  [[nodiscard]] std::string get(const std::string& name, const std::string& path = "/d/f.nc",
                                const InfoPairs& info = {}) const {
    const Result<Hints> hints = resolve(path, info);
    REQUIRE_MESSAGE(hints.ok(), hints.error().message);
    return hints->get(name);
  }
  [[nodiscard]] std::string error(const InfoPairs& info = {}) const {
    const Result<Hints> hints = resolve("/d/f.nc", info);
    REQUIRE_FALSE(hints.ok());
    CHECK(hints.error().error_class == ErrorClass::info_value);
    return hints.error().message;
  }
};

}  // namespace

TEST_CASE("each layer overrides the layer below, and the hint records its layer") {
  Site site;
  CHECK(site.get("ind_rd_buffer_size") == "4194304");
  CHECK(site.resolve("f")->source("ind_rd_buffer_size") == HintSource::built_in);
  site.system_file(
      "[hints]\nind_rd_buffer_size = 1\ncb_nodes = 1\nstart_iodevice = 1\nnb_proc = 1\n"
      "[files.\"*.nc\"]\nnum_io_nodes = 1\n");
  CHECK(site.get("ind_rd_buffer_size") == "1");
  CHECK(site.resolve("f")->source("ind_rd_buffer_size") == HintSource::system_file);
  site.user_file("[hints]\ncb_nodes = 2\nstart_iodevice = 2\nnb_proc = 2\nnum_io_nodes = 2\n");
  CHECK(site.get("cb_nodes") == "2");
  CHECK(site.get("num_io_nodes") == "2");
  CHECK(site.resolve("f")->source("cb_nodes") == HintSource::user_file);
  site.variables["NACRE_START_IODEVICE"] = "3";
  site.variables["NACRE_NB_PROC"] = "3";
  CHECK(site.get("start_iodevice") == "3");
  CHECK(site.resolve("f")->source("start_iodevice") == HintSource::environment);
  const InfoPairs info{{"nb_proc", "4"}};
  CHECK(site.get("nb_proc", "f", info) == "4");
  CHECK(site.resolve("f", info)->source("nb_proc") == HintSource::program);
  CHECK(site.get("ind_rd_buffer_size", "f", info) == "1");
}

TEST_CASE("in a file, patterns override hints for all files, and the last matching pattern wins") {
  Site site;
  site.system_file(
      "[files.\"z*\"]\ncb_nodes = 7\n[files.\"*z.nc\"]\ncb_nodes = 8\n"
      "[hints]\ncb_nodes = 9\n");
  CHECK(site.get("cb_nodes", "a.nc") == "9");
  CHECK(site.get("cb_nodes", "za.nc") == "7");
  CHECK(site.get("cb_nodes", "zz.nc") == "8");
}

TEST_CASE("the user's file is NACRE_CONFIG, or is under XDG_CONFIG_HOME, or under HOME") {
  const store::fixtures::TemporaryDirectory directory;
  const auto put = [&](const std::string& folder, const std::string& nodes) {
    std::filesystem::create_directories(folder);
    REQUIRE(
        store::append_text(folder + "/config.toml", "[hints]\ncb_nodes = " + nodes + "\n").ok());
  };
  put(directory.file("home/.config/nacre"), "1");
  put(directory.file("xdg/nacre"), "2");
  put(directory.file("own"), "3");
  Variables variables{{"NACRE_SYSTEM_CONFIG", directory.file("none")}};
  const auto nodes = [&] {
    return resolve_hints("f", {}, environment_of(variables))->get("cb_nodes");
  };
  CHECK(nodes().empty());
  variables["HOME"] = directory.file("home");
  CHECK(nodes() == "1");
  variables["XDG_CONFIG_HOME"] = "";
  CHECK(nodes() == "1");
  variables["XDG_CONFIG_HOME"] = directory.file("xdg");
  CHECK(nodes() == "2");
  variables["NACRE_CONFIG"] = directory.file("own/config.toml");
  CHECK(nodes() == "3");
}

TEST_CASE("a home directory that is out of reach is a note, and a file that is named an error") {
  const store::fixtures::TemporaryDirectory directory;
  const std::string home = directory.file("home");
  std::filesystem::create_directories(home);
  std::filesystem::permissions(home, std::filesystem::perms::none);
  Variables variables{{"NACRE_SYSTEM_CONFIG", "/none"}, {"HOME", home}};
  const uid_t user = geteuid();
  constexpr uid_t nobody = 65534;
  if (user == 0 && seteuid(nobody) != 0) {  // root may read everything
    MESSAGE("skipped: this user namespace has no user but root");
    return;
  }
  const auto hints = resolve_hints("f", {}, environment_of(variables));
  variables["NACRE_CONFIG"] = home + "/.config/nacre/config.toml";
  const auto of_named = resolve_hints("f", {}, environment_of(variables));
  REQUIRE(seteuid(user) == 0);
  std::filesystem::permissions(home, std::filesystem::perms::owner_all);
  REQUIRE(hints.ok());
  REQUIRE(hints->notes().size() == 1);
  CHECK(hints->notes()[0].starts_with("configuration file " + variables["NACRE_CONFIG"] +
                                      ": permission denied"));
  REQUIRE(!of_named.ok());
  CHECK(of_named.error().system_errno == EACCES);
}

TEST_CASE("who requested a value is known after that of the open file has replaced it") {
  Hints hints;
  CHECK(hints.requester("striping_factor") == HintSource::built_in);
  hints.set("striping_factor", "8", HintSource::program);
  hints.set("striping_factor", "1", HintSource::open_file);
  hints.set("striping_factor", "2", HintSource::open_file);
  for (const Hints& one : {hints, Hints::deserialized(hints.serialized())}) {
    CHECK(one.get("striping_factor") == "2");
    CHECK(one.source("striping_factor") == HintSource::open_file);
    CHECK(one.requester("striping_factor") == HintSource::program);
  }
}

TEST_CASE("NACRE_HINTS accepts Cray's grammar and overrides the variables of single hints") {
  Site site;
  site.variables["NACRE_HINTS"] =
      "*.nc:striping_factor=8:cb_nodes=40,/scratch/*:cb_nodes=2,*:romio_ds_write=disable";
  site.variables["NACRE_CB_NODES"] = "1";
  CHECK(site.get("cb_nodes", "/home/x.nc") == "40");
  CHECK(site.get("striping_factor", "/home/x.nc") == "8");
  CHECK(site.get("cb_nodes", "/scratch/a/b/x.nc") == "2");
  CHECK(site.get("cb_nodes", "/scratch/x.h5") == "2");
  CHECK(site.get("cb_nodes", "/home/x.h5") == "1");
  CHECK(site.get("romio_ds_write", "/home/x.h5") == "disable");
}

TEST_CASE("hints for Cray's MPICH and ROMIO are read from their variables and files") {
  Site site;
  site.variables["MPICH_MPIIO_HINTS"] =
      "*.nc:striping_factor=8:cray_cb_nodes_multiplier=2,*.h5:cb_nodes=3";
  site.variables["ROMIO_HINTS"] = site.directory.file("romio");
  REQUIRE(store::append_text(site.directory.file("romio"),
                             "# for all\ncb_nodes 5\n  striping_unit\t1048576  # 1 MiB\n"
                             "romio_lustre_co_ratio 2\nno value here\ncb_block_size\n")
              .ok());
  CHECK(site.get("striping_factor", "/home/x.nc") == "8");
  CHECK(site.get("cb_nodes", "/home/x.nc") == "5");
  CHECK(site.get("cb_nodes", "/home/x.h5") == "3");
  CHECK(site.get("striping_unit", "/home/x.h5") == "1048576");
  CHECK(site.get("cb_block_size", "/home/x.h5").empty());
  site.user_file("[hints]\ncb_nodes = 7\n");
  CHECK(site.get("cb_nodes", "/home/x.nc") == "5");
  site.variables["NACRE_CB_NODES"] = "1";
  CHECK(site.get("cb_nodes", "/home/x.nc") == "1");
  CHECK(site.resolve("x.nc", {{"cb_nodes", "2"}})->get("cb_nodes") == "2");
}

TEST_CASE("of two lines with one key in the file of ROMIO_HINTS, the first counts, as in ROMIO") {
  Site site;
  site.variables["ROMIO_HINTS"] = site.directory.file("romio");
  REQUIRE(store::append_text(site.directory.file("romio"),
                             "cb_nodes\ncb_nodes 5\ncb_config_list *:1\n# cb_buffer_size 1\n"
                             "cb_nodes 6\ncb_buffer_size none\ncb_buffer_size 65536\n")
              .ok());
  CHECK(site.get("cb_nodes", "f") == "5");
  // ROMIO passes on the first value, although it is invalid, and not the second one.
  CHECK(site.get("cb_buffer_size", "f") == Hints().get("cb_buffer_size"));
}

TEST_CASE("mistakes in hints for other MPI-IOs are notes") {
  Site site;
  site.variables["MPICH_MPIIO_HINTS"] = "cb_nodes=3";
  site.variables["ROMIO_HINTS"] = "/none/such";
  const Result<Hints> hints = site.resolve("f", {});
  REQUIRE(hints.ok());
  CHECK(hints->notes() ==
        std::vector<std::string>{
            "variable ROMIO_HINTS: cannot read the file \"/none/such\"",
            "variable MPICH_MPIIO_HINTS: \"cb_nodes=3\" is not a pattern of file names; "
            "expected glob:key=value:key=value,glob2:key=value; for all files: *:cb_nodes=8"});
}

TEST_CASE("a pattern without a slash matches the file name, a pattern with a slash the path") {
  Site site;
  site.variables["NACRE_HINTS"] = "plt?[0-9]*:cb_nodes=1,/a/*.h5:cb_nodes=2,x*:cb_nodes=3";
  CHECK(site.get("cb_nodes", "/a/b/plt_7.bin") == "1");
  CHECK(site.get("cb_nodes", "/a/b/c.h5") == "2");
  CHECK(site.get("cb_nodes", "c.h5").empty());
  CHECK(site.get("cb_nodes", "/x/y").empty());
  CHECK(site.get("cb_nodes", "x") == "3");
}

TEST_CASE("errors in files name file and line, also if the pattern does not match") {
  Site site;
  site.user_file("[files.\"other\"]\ncb_nodes = 0\n");
  CHECK(site.error() == site.variables["NACRE_CONFIG"] +
                            ":2: hint cb_nodes has the value \"0\"; it takes a whole number of at "
                            "least 1");
  Site second;
  second.system_file("[hints]\n\ncb_node = 3\n");
  CHECK(second.error() == second.variables["NACRE_SYSTEM_CONFIG"] +
                              ":3: unknown hint \"cb_node\"; did you mean cb_nodes?");
}

TEST_CASE("hints of a program that are misspelt, or have no effect, are noted") {
  const Site site;
  const auto notes = [&](const InfoPairs& info) { return site.resolve("f", info)->notes(); };
  CHECK(notes({{"cb_node", "4"}}) ==
        std::vector<std::string>{"hint cb_node: there is no such hint; did you mean cb_nodes?"});
  CHECK(notes({{"nacre_speed", "high"}}) ==
        std::vector<std::string>{
            "hint nacre_speed: there is no such hint; `nacre hints` lists all hints"});
  CHECK(notes({{"cb_config_list", "*:1"}}) ==
        std::vector<std::string>{"hint cb_config_list: Nacre has no use for it; Nacre "
                                 "places the aggregators itself, and cb_nodes sets their number."});
  CHECK(notes({{"nc_header_align_size", "4096"}, {"panfs_layout_type", "2"}, {"cb", "1"}}).empty());
  CHECK(notes({{"romio_no_indep_rw", "false"}}).empty());  // the default
}

TEST_CASE("errors in variables name the variable and its value") {
  Site site;
  site.variables["NACRE_CB_NODES"] = "many";
  CHECK(site.error() ==
        "variable NACRE_CB_NODES: hint cb_nodes has the value \"many\"; it takes a whole number of "
        "at least 1");
  site.variables.erase("NACRE_CB_NODES");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"*:cb_nodes", "\"cb_nodes\" is not key=value"},
      {"cb_nodes=3", "\"cb_nodes=3\" is not a pattern of file names"},
      {"x:cb_nodes=3,cb_nodes=4", "\"cb_nodes=4\" is not a pattern of file names"},
      {"cb_nodes", "\"cb_nodes\" sets no hint"},
      {"*:,x:cb_nodes=3", "\"*:\" sets no hint"},
      {"*:cb=3", "unknown hint \"cb\"; `nacre hints` lists all hints"},
      {"other:cb_nodes=-3", "hint cb_nodes has the value \"-3\""},
  };
  for (const auto& [text, message] : wrong) {
    site.variables["NACRE_HINTS"] = text;
    const std::string found = site.error();
    CAPTURE(found);
    CHECK(found.starts_with("variable NACRE_HINTS: " + message));
  }
}

TEST_CASE("invalid hints of the program's info are ignored with a note, without an error") {
  const Site site;
  const InfoPairs info{{"cb_nodes", "-4"},       {"romio_cb_write", "sometimes"},
                       {"no_such_hint", "x"},    {"filename", "elsewhere"},
                       {"striping_unit", "64k"}, {"cb_nodes", "-4"}};
  const Result<Hints> hints = site.resolve("f", info);
  REQUIRE(hints.ok());
  CHECK(hints->get("cb_nodes").empty());
  CHECK(hints->get("romio_cb_write") == "automatic");
  CHECK(hints->get("filename").empty());
  CHECK(hints->get("striping_unit") == "65536");
  CHECK(hints->notes() ==
        std::vector<std::string>{
            "hint cb_nodes has the value \"-4\"; it takes a whole number of at least 1",
            "hint romio_cb_write has the value \"sometimes\"; it takes one of "
            "automatic|enable|disable"});
}

TEST_CASE("hints that apply only at open do not change after it") {
  Hints hints;
  hints.apply({{"striping_unit", "1m"}, {"cb_nodes", "2"}}, HintTime::open);
  hints.apply(hints.effective(), HintTime::always);
  CHECK(hints.notes().empty());
  hints.apply({{"striping_unit", "2m"}, {"cb_nodes", "3"}, {"nacre_enable", "false"}},
              HintTime::always);
  CHECK(hints.get("striping_unit") == "1048576");
  CHECK(hints.get("cb_nodes") == "3");
  CHECK_FALSE(hints.bypass());
  REQUIRE(hints.notes().size() == 2);
  CHECK(hints.notes().front() ==
        "hint striping_unit: \"2097152\" is ignored, the value stays \"1048576\"; only "
        "MPI_File_open can set this hint");
}

TEST_CASE("the number of notes is bounded") {
  Hints hints;
  for (int i = 0; i < 100; ++i) {
    hints.apply({{"cb_nodes", "x" + std::to_string(i)}}, HintTime::always);
  }
  CHECK(hints.notes().size() == 32);
}

TEST_CASE("a file is handed to the MPI by hint, by pattern, or with all files") {
  const auto bypass = [](const Variables& variables, const InfoPairs& info = {}) {
    return resolve_hints("/scratch/run/out.tmp", info, environment_of(variables))->bypass();
  };
  CHECK_FALSE(bypass({}));
  CHECK(bypass({}, {{"nacre_enable", "false"}}));
  CHECK(bypass({{"NACRE_ENABLE", "false"}}));
  CHECK_FALSE(bypass({{"NACRE_ENABLE", "false"}}, {{"nacre_enable", "true"}}));
  CHECK(bypass({{"NACRE_HINTS", "*.tmp:nacre_enable=false"}}));
  CHECK(bypass({{"NACRE_EXCLUDE", "*.nc,*.tmp"}}, {{"nacre_enable", "true"}}));
  CHECK(bypass({{"NACRE_EXCLUDE", "/scratch/*"}}));
  CHECK_FALSE(bypass({{"NACRE_EXCLUDE", "*.nc"}}));
  CHECK_FALSE(bypass({{"NACRE_INCLUDE", "*.nc,*.tmp"}}));
  CHECK(bypass({{"NACRE_INCLUDE", "*.nc"}}));
  CHECK(bypass({{"NACRE_INCLUDE", "*.tmp"}, {"NACRE_EXCLUDE", "*.tmp"}}));
  CHECK(bypass({{"NACRE_DISABLE", "1"}}, {{"nacre_enable", "true"}}));
  CHECK_FALSE(bypass({{"NACRE_DISABLE", "0"}}));
  CHECK_FALSE(bypass({{"NACRE_DISABLE", ""}}));
}

TEST_CASE("get_info contains exactly the hints that have a value") {
  Hints hints;
  hints.apply({{"cb_nodes", "3"}, {"unheard_of", "1"}}, HintTime::open);
  std::map<std::string, std::string> shown;
  for (const auto& [name, value] : hints.effective()) shown[name] = value;
  CHECK(shown["cb_nodes"] == "3");
  CHECK(shown["ind_wr_buffer_size"] == "524288");
  CHECK_FALSE(shown.contains("unheard_of"));
  CHECK_FALSE(shown.contains("cb_buffer_size"));
  for (const auto& [name, value] : shown) CHECK_FALSE(value.empty());
}

TEST_CASE("hints become the settings of data access") {
  const auto settings = [](const InfoPairs& info) {
    Hints hints;
    hints.apply(info, HintTime::open);
    CHECK(hints.notes().empty());
    return hints.access_settings();
  };
  using plan::Algorithm;
  const AccessSettings plain = settings({});
  CHECK(plain.collective_read.algorithm == Algorithm::automatic);
  CHECK(plain.collective_write.algorithm == Algorithm::automatic);
  CHECK(plain.collective_write.aggregator_count == 0);
  CHECK(plain.collective_write.cycle_bytes == 0);
  CHECK(plain.coherence == Coherence::automatic);
  CHECK(plain.independent.read_buffer_bytes == 4 << 20);
  CHECK(plain.independent.write_buffer_bytes == 512 << 10);
  CHECK(plain.independent.read_sieving);
  CHECK_FALSE(plain.independent.write_sieving);

  CHECK(settings({{"romio_cb_read", "disable"}}).collective_read.algorithm == Algorithm::direct);
  CHECK(settings({{"romio_cb_read", "disable"}}).collective_write.algorithm ==
        Algorithm::automatic);
  CHECK(settings({{"romio_cb_write", "enable"}}).collective_write.algorithm ==
        Algorithm::two_phase);
  CHECK(settings({{"collective_buffering", "false"}, {"romio_cb_write", "enable"}})
            .collective_write.algorithm == Algorithm::direct);
  CHECK(settings({{"collective_buffering", "false"}, {"nacre_algorithm", "two_phase"}})
            .collective_read.algorithm == Algorithm::two_phase);
  CHECK(settings({{"nacre_algorithm", "static_segmentation"}}).collective_read.algorithm ==
        Algorithm::static_segmentation);
  CHECK(plain.collective_write.saturation_bytes == 0);
  CHECK(settings({{"nacre_saturation_bytes", "32m"}}).collective_read.saturation_bytes == 32 << 20);
  CHECK(plain.collective_write.initial_groups == nullptr);
  const AccessSettings grouped = settings({{"nacre_groups", "0-1/2+4"}});
  REQUIRE(grouped.collective_write.initial_groups != nullptr);
  CHECK(grouped.collective_read.initial_groups->lists ==
        std::vector<std::vector<std::int32_t>>{{0, 1}, {2, 4}});
  CHECK(settings({{"nacre_groups", "2x3"}}).collective_write.initial_groups->grid ==
        std::vector<std::int32_t>{2, 3});
  CHECK(plain.collective_write.pattern == plan::DomainPattern::automatic);
  const AccessSettings striped = settings({{"nacre_pattern", "stripes"},
                                           {"nacre_osts_per_aggregator", "2"},
                                           {"nacre_ost_sharing", "ranges"}});
  CHECK(striped.collective_write.pattern == plan::DomainPattern::stripes);
  CHECK(striped.collective_read.osts_per_aggregator == 2);
  CHECK(striped.collective_write.sharing == plan::OstSharing::ranges);
  CHECK(settings({{"nacre_pattern", "osts"}}).collective_read.pattern == plan::DomainPattern::osts);
  CHECK(settings({{"nacre_osts_per_aggregator", "99999999999"}})
            .collective_read.osts_per_aggregator == plan::stripes_on_all_osts);
  const AccessSettings sized = settings({{"cb_nodes", "99999999999"}, {"cb_buffer_size", "2t"}});
  CHECK(sized.collective_read.aggregator_count == INT32_MAX);
  CHECK(sized.collective_read.cycle_bytes == 1 << 30);
  CHECK(plain.collective_read.cycle_buffer_count == 0);
  CHECK_FALSE(plain.io_thread_count.has_value());
  const AccessSettings overlapped =
      settings({{"nacre_cycle_buffers", "16"}, {"nacre_io_threads", "0"}});
  CHECK(overlapped.collective_read.cycle_buffer_count == 16);
  CHECK(overlapped.collective_write.cycle_buffer_count == 16);
  CHECK(overlapped.io_thread_count == 0);
  CHECK(settings({{"nacre_coherence", "locked"}}).coherence == Coherence::locked);
  CHECK(settings({{"nacre_coherence", "trusted"}}).coherence == Coherence::trusted);
  CHECK(settings({{"nacre_sole_writer", "true"}}).independent.write_sieving);
  CHECK_FALSE(settings({{"nacre_sole_writer", "true"}, {"romio_ds_write", "disable"}})
                  .independent.write_sieving);
  CHECK_FALSE(settings({{"romio_ds_read", "disable"}}).independent.read_sieving);
}

TEST_CASE("permissions of new files are octal") {
  Hints hints;
  CHECK(hints.permissions() == 0666);
  hints.apply({{"file_perm", "640"}}, HintTime::open);
  CHECK(hints.permissions() == 0640);
}

TEST_CASE("hints are equal after they are encoded and decoded") {
  Hints hints;
  CHECK_FALSE(hints.serialized().empty());
  hints.apply({{"access_style", "read_once,\twrite=1"}, {"cb_nodes", "x"}, {"nacre_report", ""}},
              HintTime::open);
  hints.set("cb_buffer_size", "7", HintSource::user_file);
  const Hints back = Hints::deserialized(hints.serialized());
  CHECK(back.effective() == hints.effective());
  CHECK(back.notes() == hints.notes());
  CHECK(back.source("cb_buffer_size") == HintSource::user_file);
  CHECK(back.source("access_style") == HintSource::program);
  CHECK(back.serialized() == hints.serialized());
}

TEST_CASE("ranks with differing environments and infos run with rank 0's hints") {
  for (const int count : {1, 2, 7}) {
    testing::InProcessNetwork network({count});
    const auto task = [&](int rank) {
      const std::string nodes = std::to_string(rank + 3);
      Variables variables{{"NACRE_SYSTEM_CONFIG", "/none"}, {"NACRE_CONFIG", "/none"}};
      variables["NACRE_CB_NODES"] = rank == 0 ? nodes : "nonsense";
      InfoPairs info;
      if (rank < 2) info.emplace_back("cb_buffer_size", nodes);
      return agree_hints(network.transport(rank), "f", std::move(info),
                         environment_of(std::move(variables)));
    };
    const auto results = testing::run_polled<Result<Hints>>(network, task, 3);
    REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
    CHECK(network.unmatched_count() == 0);
    for (const Result<Hints>& hints : *results) {
      REQUIRE(hints.ok());
      CHECK(hints->get("cb_nodes") == "3");
      CHECK(hints->get("cb_buffer_size") == "3");
    }
  }
}

TEST_CASE("an error in rank 0's environment is an error on all ranks") {
  testing::InProcessNetwork network({5});
  const auto task = [&](int rank) {
    Variables variables;
    if (rank == 0) variables["NACRE_CB_NODES"] = "nonsense";
    return agree_hints(network.transport(rank), "f", {}, environment_of(std::move(variables)));
  };
  const auto results = testing::run_polled<Result<Hints>>(network, task, 3);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  for (const Result<Hints>& hints : *results) {
    REQUIRE_FALSE(hints.ok());
    CHECK(hints.error().error_class == ErrorClass::info_value);
    CHECK(hints.error().message.find("NACRE_CB_NODES") != std::string::npos);
  }
}

}  // namespace nacre::file
