// Layouts of a real Lustre decode and encode to the same bytes. Errors name what is invalid in
// other input.
#include "plan/layout/lov_codec.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "layout_samples.h"

namespace nacre::plan {
namespace {

Layout decoded(const std::string& name) {
  const Result<Layout> layout = decode_lov(layout_sample(name).bytes);
  REQUIRE(layout.ok());
  return *layout;
}

std::vector<std::byte> changed(std::vector<std::byte> bytes, std::size_t offset,
                               std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[offset + i] = static_cast<std::byte>(value >> 8 * i);
  return bytes;
}

std::string refusal(const std::vector<std::byte>& bytes) {
  const Result<Layout> layout = decode_lov(bytes);
  return layout ? "" : layout.error().message;
}

void check_refused(const std::vector<std::byte>& bytes, const std::string& why) {
  CAPTURE(why);
  const std::string message = refusal(bytes);
  CAPTURE(message);
  CHECK(message.find(why) != std::string::npos);
}

}  // namespace

TEST_CASE("every captured layout encodes to the bytes that it was decoded from") {
  const std::vector<LayoutSample> samples = layout_samples();
  CHECK(samples.size() >= 15);
  for (const LayoutSample& sample : samples) {
    CAPTURE(sample.name);
    const Result<Layout> layout = decode_lov(sample.bytes);
    REQUIRE(layout.ok());
    const Result<std::vector<std::byte>> bytes = encode_lov(*layout);
    REQUIRE(bytes.ok());
    CHECK(*bytes == sample.bytes);
  }
}

TEST_CASE("a plain layout: size, count, objects, pool") {
  const Layout layout = decoded("pool-v3");
  CHECK_FALSE(layout.is_composite);
  REQUIRE(layout.components.size() == 1);
  const Striping& striping = layout.components[0].striping;
  CHECK(striping.stripe_size == 4 << 20);
  CHECK(striping.stripe_count == 2);
  CHECK(striping.pool == "fast");
  CHECK_FALSE(striping.first_ost.has_value());
  REQUIRE(striping.objects.size() == 2);
  CHECK(striping.objects[0].ost == 1);
  CHECK(striping.objects[1].ost == 0);
  CHECK(striping.objects[1].object_id == 7);
}

TEST_CASE(
    "composite layouts: extents, instantiated components, data on the MDT, mirrors, extensions") {
  const Layout fresh = decoded("pfl-fresh");
  CHECK(fresh.generation == 3);
  REQUIRE(fresh.components.size() == 3);
  CHECK(fresh.components[0].is_instantiated());
  CHECK_FALSE(fresh.components[1].is_instantiated());
  CHECK(fresh.components[1].begin == 1 << 20);
  CHECK(fresh.components[1].end == 64 << 20);
  CHECK(fresh.components[2].end == layout_end_of_file);
  CHECK(decoded("dom-then-4").components[0].striping.pattern == StripePattern::mdt);
  const Layout mirrors = decoded("flr-two-mirrors");
  CHECK(mirrors.mirror_count == 2);
  CHECK(mirrors.components[1].mirror() == 2);
  const Layout extending = decoded("sel-extension");
  CHECK(extending.components[2].extends());
  CHECK(extending.components[2].striping.stripe_size == 64 << 20);
  CHECK(decoded("overstriped-8-on-4").components[0].striping.overstriped);
  CHECK(decoded("foreign-file").foreign->value == "somewhere");
}

TEST_CASE("an erasure-coded layout: parity is a mirror of its own, linked to the data") {
  const std::vector<std::byte> bytes = erasure_coded_sample();
  const Result<Layout> layout = decode_lov(bytes);
  REQUIRE(layout.ok());
  CHECK(layout->mirror_count == 2);
  CHECK(layout->parity_component_count == 1);
  REQUIRE(layout->components.size() == 2);
  const LayoutComponent& data = layout->components[0];
  const LayoutComponent& parity = layout->components[1];
  CHECK_FALSE(data.is_parity());
  CHECK(data.linked_mirror == parity.mirror());
  CHECK(parity.is_parity());
  CHECK(parity.striping.parity);
  CHECK(parity.linked_mirror == data.mirror());
  CHECK(parity.timestamp == 0);
  CHECK(parity.data_stripes == 2);
  CHECK(parity.parity_stripes == 1);
  CHECK(is_redundant(*layout));
  CHECK(*encode_lov(*layout) == bytes);
}

TEST_CASE("a truncated layout is refused or decodes as a shorter layout") {
  for (const LayoutSample& sample : layout_samples()) {
    CAPTURE(sample.name);
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(size);
      const std::vector<std::byte> bytes(sample.bytes.begin(),
                                         sample.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const Result<Layout> layout = decode_lov(bytes);
      if (!layout) {
        CHECK(layout.error().message.find("lustre.lov") != std::string::npos);
        continue;
      }
      // A plain layout without objects is the default layout of a directory.
      CHECK(layout->components[0].striping.objects.empty());
      CHECK(*encode_lov(*layout) == bytes);
    }
  }
}

TEST_CASE("errors name the unknown value") {
  const std::vector<std::byte> plain = layout_sample("four-stripes-1m").bytes;
  check_refused(changed(plain, 0, 0x0bd90bd0), "magic 0x0bd90bd0");
  check_refused(changed(plain, 4, 0x1000), "pattern 0x00001000");
  check_refused(changed(plain, 4, 0x104), "pattern 0x00000104");
  check_refused(changed(plain, 28, 5), "stripe count is 5, but there are 4 objects");
  check_refused(changed(plain, 32 + 20, 0x80000000), "object 0 has the invalid OST number");
  std::vector<std::byte> bytes = plain;
  bytes.pop_back();
  check_refused(bytes, "truncated");

  const std::size_t pool_offset = 32;
  std::vector<std::byte> pooled = layout_sample("pool-v3").bytes;
  std::fill_n(pooled.begin() + pool_offset, 16, std::byte{'p'});
  check_refused(pooled, "the name of the pool has no end");

  const std::vector<std::byte> composite = layout_sample("pfl-fresh").bytes;
  check_refused(changed(composite, 28, 1), "does not know all fields of the composite layout");
  check_refused(changed(composite, 32 + 24, 0xfffffff0),
                "the record of component 1 ends behind the layout");
  check_refused(changed(composite, 32 + 28, 0xfffffff0),
                "the records of its components do not fit");
  check_refused(changed(composite, 32 + 8, 0x200000), "component 1 ends before it begins");
}

TEST_CASE("changed bytes are refused, or decode to a layout that encodes and decodes unchanged") {
  const std::uint32_t seed = 21;
  MESSAGE("seed ", seed);
  std::mt19937 random(seed);
  for (const LayoutSample& sample : layout_samples()) {
    for (int repeat = 0; repeat < 2000; ++repeat) {
      std::vector<std::byte> bytes = sample.bytes;
      for (int change = 0; change <= repeat % 3; ++change) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      const Result<Layout> layout = decode_lov(bytes);
      if (!layout) continue;
      const Result<std::vector<std::byte>> again = encode_lov(*layout);
      REQUIRE(again.ok());
      const Result<Layout> same = decode_lov(*again);
      REQUIRE(same.ok());
      CHECK(*same == *layout);
    }
  }
}

TEST_CASE("numbers that do not fit the format are refused") {
  const auto refused = [](const Striping& striping) {
    const Result<std::vector<std::byte>> bytes = encode_lov(plain_layout(striping));
    return bytes ? "" : bytes.error().message;
  };
  CHECK(refused({.stripe_size = 1 << 20, .stripe_count = 4}).empty());
  CHECK(refused({.stripe_size = std::int64_t{1} << 32}).find("stripe size 4294967296") !=
        std::string::npos);
  CHECK(refused({.stripe_count = 65536}).find("stripe count 65536") != std::string::npos);
  CHECK(refused({.pool = "a pool of many letters"}).find("more than 15 letters") !=
        std::string::npos);
  CHECK_FALSE(encode_lov(Layout{}).ok());
}

TEST_CASE("a request is in the form that every version of Lustre follows") {
  bool is_asked = false;
  const auto request = [&](const Striping& striping, const Result<std::int32_t>& osts) {
    is_asked = false;
    return lov_request(plain_layout(striping), [&] {
      is_asked = true;
      return osts;
    });
  };
  const Striping two_on_each{.overstriped = true, .stripe_count = stripes_on_all_osts - 1};
  CHECK(request(two_on_each, 6).components.front().striping.stripe_count == 12);
  CHECK(request(two_on_each, Error{}) == plain_layout(two_on_each));
  const Striping on_all{.stripe_count = stripes_on_all_osts};
  CHECK(request(on_all, 6) == plain_layout(on_all));
  CHECK_FALSE(is_asked);
  CHECK(request({.stripe_count = 2, .first_ost = 0}, 6).is_composite);
  CHECK_FALSE(request({.stripe_count = 2, .first_ost = 1}, 6).is_composite);
}

}  // namespace nacre::plan
