// Layouts of CephFS as text, what is requested of a file, and where the bytes lie.
#include "plan/layout/ceph_layout.h"

#include <string>

#include <doctest/doctest.h>

#include "plan/layout/layout_codec.h"
#include "plan/layout/layout_yaml.h"
#include "plan/layout/stripe_map.h"
#include "plan/layout/stripe_options.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mib = 1 << 20;

Layout ceph(std::int64_t unit, std::int32_t count, std::int64_t object) {
  return plain_layout({.stripe_size = unit, .object_size = object, .stripe_count = count});
}

std::string request(const std::string& options, const Layout& current) {
  return ceph_layout_request(parse_stripe_options(options).value(), current);
}

StripedRegion region_of(const Layout& layout) {
  return StripeMap::of(layout, 1).value().regions().front();
}

}  // namespace

TEST_CASE("the text of a layout is read and written back") {
  const std::string text = "stripe_unit=1048576 stripe_count=4 object_size=4194304 pool=a-pool";
  const Layout layout = parse_ceph_layout(text).value();
  Layout expected = ceph(mib, 4, 4 * mib);
  expected.components.front().striping.pool = "a-pool";
  CHECK(layout == expected);
  CHECK(is_ceph_layout(layout));
  CHECK(ceph_layout_text(layout) == text);
  CHECK(parse_ceph_layout(text + " pool_namespace=mine").value() == layout);
  CHECK(layout_yaml(layout) ==
        "stripe_unit:  1048576\nstripe_count: 4\nobject_size:  4194304\npool:         a-pool\n");
}

TEST_CASE("a text without a usable layout is refused, with the reason") {
  const auto refusal = [](const std::string& text) {
    const Result<Layout> layout = parse_ceph_layout(text);
    return layout ? "" : layout.error().message;
  };
  CHECK(refusal("").find("stripe_unit is missing") != std::string::npos);
  CHECK(refusal("stripe_unit=0 stripe_count=1 object_size=4").find("stripe_unit") !=
        std::string::npos);
  CHECK(refusal("stripe_unit=65536 stripe_count=65535 object_size=65536").find("stripe_count") !=
        std::string::npos);
  CHECK(refusal("stripe_unit=65536 stripe_count=1 object_size=x").find("object_size") !=
        std::string::npos);
  CHECK(refusal("stripe_unit=65536 stripe_count=1 object_size=98304").find("no multiple") !=
        std::string::npos);
}

TEST_CASE("layouts of both file systems are told apart by their bytes") {
  for (const Layout& layout :
       {ceph(mib, 4, 4 * mib), plain_layout({.stripe_size = mib, .stripe_count = 4})}) {
    CHECK(decode_layout(encode_layout(layout).value()).value() == layout);
  }
}

TEST_CASE("a request names what is asked for, with an object size that fits") {
  const Layout usual = ceph(4 * mib, 1, 4 * mib);
  CHECK(request("-c 4 -S 1m", usual) == "stripe_unit=1048576 stripe_count=4");
  CHECK(request("-S 16m", usual) == "stripe_unit=16777216 object_size=16777216");
  CHECK(request("-S 1536k", usual) == "stripe_unit=1572864 object_size=3145728");
  CHECK(request("-S 1g", usual) == "stripe_unit=134217728 object_size=134217728");
  CHECK(request("-c 3 -p flash", usual) == "stripe_count=3 pool=flash");
  CHECK(request("-C 8", usual) == "stripe_count=8");
  CHECK(request("-E 1m -c 1 -E -1 -c 4 -S 1m", usual) == "stripe_unit=1048576 stripe_count=4");
  for (const char* const nothing : {"-c -1", "-i 3", "-c 0"})
    CHECK(request(nothing, usual).empty());
}

TEST_CASE("the OSTs of objects that end have no names, and writers get whole objects") {
  const StripeMap map = StripeMap::of(ceph(mib, 4, 4 * mib), 1).value();
  CHECK_FALSE(map.names_osts());
  CHECK(map.knows_osts({0, layout_end_of_file}));
  CHECK(map.regions().front().osts == std::vector<std::int32_t>(4, unnamed_ost));
  CHECK(map.regions().front().stripe_size == mib);
  CHECK(StripeMap::of(plain_layout({.stripe_size = mib, .stripe_count = 4}), 4)->names_osts());

  CHECK(region_of(ceph(4 * mib, 1, 4 * mib)).unit_bytes() == 4 * mib);
  CHECK(region_of(ceph(64 << 10, 1, 4 * mib)).unit_bytes() == 4 * mib);
  CHECK(region_of(ceph(mib, 4, 4 * mib)).unit_bytes() == 16 * mib);
  CHECK(region_of(ceph(mib, 8, 8 * mib)).unit_bytes() == 8 * mib);
  CHECK(region_of(ceph(64 * mib, 2, 64 * mib)).unit_bytes() == 64 * mib);
  CHECK(region_of(plain_layout({.stripe_size = mib, .stripe_count = 4})).unit_bytes() == mib);
}

}  // namespace nacre::plan
