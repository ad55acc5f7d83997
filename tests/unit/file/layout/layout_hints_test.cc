// Striping hints set the layout of a new file and report the layout of an open file.
#include "file/layout/layout_hints.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"
#include "world.h"

namespace nacre::file {
namespace {

using namespace fixtures;

/// A Lustre with six OSTs.
const LayoutLimits six_osts{.ost_count = []() -> Result<std::int32_t> { return 6; },
                            .check = [](const plan::Layout& layout) -> Status {
                              const auto encoded = plan::encode_lov(layout);
                              return encoded ? Status() : encoded.error();
                            }};

Hints hints_of(const InfoPairs& pairs) {
  Hints hints;
  hints.apply(pairs, HintTime::open);
  return hints;
}

/// The layout that the hints request, as options of `lfs setstripe`.
plan::Layout asked(const InfoPairs& pairs) {
  Hints hints = hints_of(pairs);
  const plan::Layout layout = requested_layout(hints, six_osts).value();
  CHECK(hints.notes().empty());
  return layout;
}

plan::Layout in_words(const std::string& options) {
  return plan::parse_stripe_options(options).value();
}

std::string only_note(const Hints& hints) {
  REQUIRE(hints.notes().size() == 1);
  return hints.notes().front();
}

}  // namespace

TEST_CASE("each striping hint is an option of lfs setstripe") {
  CHECK(asked({{"striping_factor", "4"}}) == in_words("-c 4"));
  CHECK(asked({{"striping_factor", "-1"}}) == in_words("-c -1"));
  CHECK(asked({{"striping_unit", "4m"}}) == in_words("-S 4m"));
  CHECK(asked({{"start_iodevice", "3"}, {"striping_factor", "2"}}) == in_words("-c 2 -i 3"));
  CHECK(asked({{"striping_factor", "4"}, {"overstriping_ratio", "2"}}) == in_words("-C 8"));
  CHECK(asked({{"striping_factor", "4"}, {"overstriping_factor", "3"}}) == in_words("-C 12"));
  CHECK(asked({{"striping_factor", "-1"}, {"overstriping_ratio", "2"}}) == in_words("-C 12"));
  CHECK(asked({{"nacre_layout", "-E 1m -c -1 -E -1 -C -2"}}) ==
        in_words("-E 1m -c -1 -E -1 -C 12"));
  CHECK(asked({{"start_iodevice", "0"}, {"striping_factor", "2"}}) == in_words("-E -1 -c 2 -i 0"));
  CHECK(asked({{"nacre_pool", "flash"}, {"striping_unit", "1m"}}) == in_words("-S 1m -p flash"));
}

TEST_CASE("a layout in words stands above them, and takes the pool") {
  const std::string grows = "-E 64m -c 1 -S 1m -E -1 -c 16 -S 4m";
  CHECK(asked({{"nacre_layout", grows}, {"striping_factor", "4"}}) == in_words(grows));
  CHECK(asked({{"nacre_layout", "-c 8 -S 4m"}, {"nacre_pool", "flash"}}) ==
        in_words("-c 8 -S 4m -p flash"));
  CHECK(asked({{"nacre_layout", "-c 8 -p disk"}, {"nacre_pool", "flash"}}) ==
        in_words("-c 8 -p disk"));
}

TEST_CASE("without hints no layout is set") {
  Hints hints =
      hints_of({{"cb_nodes", "2"}, {"start_iodevice", "-1"}, {"overstriping_ratio", "1"}});
  CHECK_FALSE(requested_layout(hints, six_osts));
  CHECK(hints.notes().empty());
}

TEST_CASE("invalid values are corrected with a note") {
  const auto corrected = [](const InfoPairs& pairs, const std::string& options) {
    Hints hints = hints_of(pairs);
    CHECK(requested_layout(hints, six_osts).value() == in_words(options));
    return only_note(hints);
  };
  CHECK(corrected({{"striping_unit", "100000"}}, "-S 128k") ==
        "hint striping_unit: 100000 is not a multiple of 64k; Nacre uses 131072");
  CHECK(corrected({{"striping_unit", "5g"}}, "-S 4194240k") ==
        "hint striping_unit: 5368709120 exceeds the maximum; Nacre uses 4294901760");
  CHECK(corrected({{"striping_factor", "5000"}}, "-c 2000") ==
        "hint striping_factor: 5000 exceeds the maximum; Nacre uses 2000");
  CHECK(corrected({{"striping_factor", "100"}, {"overstriping_ratio", "2"}}, "-C 12") ==
        "hint striping_factor: 100 exceeds the maximum; Nacre uses 6");
  CHECK(corrected({{"striping_unit", "1m"}, {"overstriping_ratio", "2"}}, "-S 1m") ==
        "hint overstriping_ratio has no effect without striping_factor");
  Hints hints = hints_of({{"nacre_pool", "a-name-of-many-letters"}});
  CHECK_FALSE(requested_layout(hints, six_osts));
  CHECK(only_note(hints).find("a-name-of-many-letters") != std::string::npos);
}

TEST_CASE("options that lfs setstripe would refuse are refused") {
  Hints hints = hints_of({{"nacre_layout", "-c 4 -S 1000"}});
  CHECK(hints.get("nacre_layout").empty());
  CHECK(only_note(hints).find("a stripe size is a multiple of 64k") != std::string::npos);
}

TEST_CASE("a new file is striped by the hints and reports that; an existing file does not change") {
  World world(3);
  world.must_open(read_write, {{"striping_factor", "4"}, {"striping_unit", "1m"}});
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(world.file(rank).hints().get("striping_factor") == "4");
    CHECK(world.file(rank).hints().get("striping_unit") == "1048576");
    CHECK(world.file(rank).hints().notes().empty());
  }
  CHECK_FALSE(agreed(world.close()));

  world.must_open(read_write, {{"striping_factor", "8"}, {"striping_unit", "1m"}});
  CHECK(world.file(1).hints().get("striping_factor") == "4");
  CHECK(only_note(world.file(0).hints()) ==
        "hint striping_factor: requested 8, but the file has 4; striping hints set the layout of "
        "new files, and the file system may choose another");
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("each hint that an existing file does not follow is named") {
  World world(1);
  world.must_open(read_write, {{"nacre_layout", "-c 4 -S 1m -p flash"}});
  CHECK(world.file(0).hints().notes().empty());
  CHECK(world.file(0).hints().get("nacre_pool") == "flash");
  CHECK_FALSE(agreed(world.close()));

  world.must_open(read_write, {{"nacre_layout", "-c 8"},
                               {"nacre_pool", "disk"},
                               {"overstriping_factor", "2"},
                               {"striping_factor", "-1"}});
  const Hints& hints = world.file(0).hints();
  CHECK(hints.get("nacre_layout") == "-c 4 -S 1m -p flash");
  CHECK(hints.get("nacre_pool") == "flash");
  CHECK(hints.get("overstriping_factor") == "1");
  CHECK(hints.get("striping_factor") == "4");
  REQUIRE(hints.notes().size() == 3);
  CHECK(hints.notes()[0].starts_with("hint nacre_layout: requested -c 8, but the file has -c 4"));
  CHECK(hints.notes()[1].starts_with("hint overstriping_factor: requested 2, but the file has 1"));
  CHECK(hints.notes()[2].starts_with("hint nacre_pool: requested disk, but the file has flash"));
  CHECK_FALSE(agreed(world.close()));
}

TEST_CASE("the first OST of an existing file is reported, also OST 0") {
  plan::Layout layout = plan::parse_stripe_options("-c 2 -S 1m").value();
  layout.components.front().striping.objects = {{.object_id = 1, .ost = 3}, {.object_id = 2}};
  Hints hints = hints_of({{"start_iodevice", "0"}, {"nacre_layout", "-c 2 -i 0"}});
  set_actual_layout(hints, layout, plan::StripeMap::of(layout, 4).value());
  CHECK(hints.get("start_iodevice") == "3");
  CHECK(hints.notes().size() == 2);
}

TEST_CASE("a file on other OSTs than the listed ones is noted") {
  plan::Layout layout = plan::parse_stripe_options("-c 2 -S 1m").value();
  layout.components.front().striping.objects = {{.object_id = 1, .ost = 3}, {.object_id = 2}};
  for (const char* const words : {"-o 3,0", "-o 0,3", "-o 3,1"}) {
    CAPTURE(words);
    Hints hints = hints_of({{"nacre_layout", words}});
    set_actual_layout(hints, layout, plan::StripeMap::of(layout, 4).value());
    CHECK(hints.notes().empty() == (std::string(words) == "-o 3,0"));
  }
}

TEST_CASE("the hints report the last component of a composite layout") {
  World world(2);
  world.must_open(read_write, {{"nacre_layout", "-E 64m -c 1 -S 1m -E -1 -C -2 -S 4m"}});
  CHECK(world.file(0).hints().get("striping_unit") == "4194304");
  CHECK_FALSE(agreed(world.close()));
}

}  // namespace nacre::file
