// Parses layouts from options of lfs setstripe, and checks the errors.
#include "plan/layout/stripe_options.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/layout/lov_codec.h"

namespace nacre::plan {
namespace {

Layout parsed(std::string_view text) {
  CAPTURE(std::string(text));
  const Result<Layout> layout = parse_stripe_options(text);
  REQUIRE(layout.ok());
  return *layout;
}

std::string refusal(std::string_view text) {
  const Result<Layout> layout = parse_stripe_options(text);
  return layout ? "" : layout.error().message;
}

}  // namespace

TEST_CASE("plain layouts") {
  const Layout layout = parsed("-c 4  -S1m -i 2 --pool=fast");
  CHECK_FALSE(layout.is_composite);
  const Striping& striping = layout.components[0].striping;
  CHECK(striping.stripe_count == 4);
  CHECK(striping.stripe_size == 1 << 20);
  CHECK(striping.first_ost == 2);
  CHECK(striping.pool == "fast");
  CHECK(parsed("-c -1").components[0].striping.stripe_count == stripes_on_all_osts);
  CHECK(parsed("-S 65536 -i -1").components[0].striping.stripe_size == 65536);
  CHECK(parsed("--stripe-size 2G").components[0].striping.stripe_size == std::int64_t{2} << 30);
  const Striping overstriped = parsed("-C 8").components[0].striping;
  CHECK(overstriped.overstriped);
  CHECK(overstriped.stripe_count == 8);
  CHECK(parsed("-C -2").components[0].striping.stripe_count == 0xfffe);
}

TEST_CASE("components inherit options from the component before") {
  const Layout layout = parsed("-E 1m -c 1 -S 1m -E 64m -c 2 -p fast -E -1 -S 4m");
  CHECK(layout.is_composite);
  REQUIRE(layout.components.size() == 3);
  CHECK(layout.components[1].begin == 1 << 20);
  CHECK(layout.components[1].end == 64 << 20);
  CHECK(layout.components[1].striping.stripe_size == 1 << 20);
  CHECK(layout.components[2].end == layout_end_of_file);
  CHECK(layout.components[2].striping.stripe_count == 2);
  CHECK(layout.components[2].striping.stripe_size == 4 << 20);
  CHECK(layout.components[2].striping.pool == "fast");
  CHECK(encode_lov(layout).ok());
  const Layout on_mdt = parsed("-E 64k -L mdt -E eof -c 4");
  CHECK(on_mdt.components[0].striping.pattern == StripePattern::mdt);
  CHECK(on_mdt.components[0].striping.stripe_size == 64 << 10);
  CHECK(on_mdt.components[1].striping.stripe_size == 0);
}

TEST_CASE("a list of OSTs has one stripe on each, in its order") {
  const auto osts = [](const Striping& striping) {
    std::vector<std::int32_t> numbers;
    for (const OstObject& object : striping.objects) numbers.push_back(object.ost);
    return numbers;
  };
  const Striping listed = parsed("-S 1m -o 7,2-4").components[0].striping;
  CHECK(listed.lists_osts);
  CHECK(listed.stripe_count == 4);
  CHECK(osts(listed) == std::vector<std::int32_t>{7, 2, 3, 4});
  CHECK(parsed("--ost=7 -o2 -o 3-4 -c 4 -S 1m").components[0].striping == listed);
  CHECK(parsed("-C 3 -o 0,0,1").components[0].striping.stripe_count == 3);
  const Layout layout = parsed("-E 1m -o 3 -E 4m -o 1,2 -E -1");
  CHECK(osts(layout.components[0].striping) == std::vector<std::int32_t>{3});
  CHECK(layout.components[1].striping.stripe_count == 2);
  CHECK(layout.components[2].striping.stripe_count == 2);
  CHECK_FALSE(layout.components[2].striping.lists_osts);
  const Result<std::vector<std::byte>> bytes = encode_lov(layout);
  REQUIRE(bytes.ok());
  CHECK(osts(decode_lov(*bytes)->components[1].striping) == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("options printed for a layout parse to the same layout") {
  for (const char* const words :
       {"-c 4 -S 1m", "-c -1", "-C 8 -S 64k -p fast", "-C -2", "-S 192k",
        "-E 64k -L mdt -E 1m -c 1 -S 1m -E -1 -c 16 -S 3g", "-E 1m -c 1 -S 1m"}) {
    CHECK(stripe_options_of(parsed(words)) == words);
  }
  Layout mirrored = parsed("-E -1 -c 1");
  mirrored.mirror_count = 2;
  CHECK(stripe_options_of(mirrored).empty());
  CHECK(stripe_options_of(Layout()).empty());
}

TEST_CASE("a layout with a head only") {
  const Layout layout = parsed("-E 1m -c 1");
  CHECK(layout.is_composite);
  CHECK(layout.components[0].end == 1 << 20);
}

TEST_CASE("errors name the option, its value and the valid values") {
  const std::vector<std::pair<std::string_view, std::string_view>> wrong{
      {"", "for example"},
      {"-S 100k", "-S 100k: a stripe size is a multiple of 64k"},
      {"-S 4g", "less than 4g"},
      {"-S 1x", "-S 1x"},
      {"-c 2001", "-c 2001: a stripe count is 1 to 2000"},
      {"-c many", "-c many"},
      {"-C 0", "-C 0"},
      {"-i 65535", "-i 65535"},
      {"-p averyverylongname", "1 to 15 letters"},
      {"-L raid5", "raid0 and mdt"},
      {"-x 4", "the options are -E, -c"},
      {"--stripes=4", "--stripes"},
      {"4", "begins with -"},
      {"-c", "-c: needs a value"},
      {"-c 4 -E 1m", "the first option must be -E"},
      {"-E 1m -E 1m", "behind its beginning at 1048576"},
      {"-E 1000", "multiple of 64k"},
      {"-E 1m -c 1 -S 4m -E -1",
       "-E 1m: a component ends at a multiple of its stripe size, which is 4m"},
      {"-E -1 -E 4m", "the component before ends at the end of the file"},
      {"-E 1m -c 1 -E -1 -L mdt", "first of several components"},
      {"-L mdt", "first of several components"},
      {"-o 1,", "-o 1,: a list of OSTs has up to 2000 numbers"},
      {"-o 4-2", "-o 4-2: a list of OSTs"},
      {"-o 65535", "from 0 to 65534"},
      {"-o 0-2000", "up to 2000"},
      {"-o 0,1 -c 3", "lists 2 OSTs, but the stripe count is 3"},
      {"-o 0,1 -c -1", "lists 2 OSTs, but the stripe count is -1"},
      {"-o 1,0,1", "lists OST 1 twice; this needs overstriping: -C 3"},
      {"-E 1m -c 1 -E -1 -o 0,1 -c 1", "lists 2 OSTs, but the stripe count is 1"},
      {"-o 0,1 -i 1", "goes neither with -i"},
      {"-E 1m -L mdt -o 0 -E -1", "nor with -L mdt"},
      {"-E -1 -z 64m", "-z 64m: Nacre does not set self-extending layouts"},
      {"--extension-size=64m", "--extension-size 64m: Nacre does not set"},
  };
  for (const auto& [text, why] : wrong) {
    CAPTURE(std::string(text));
    const std::string message = refusal(text);
    CAPTURE(message);
    CHECK(message.find(why) != std::string::npos);
  }
}

}  // namespace nacre::plan
