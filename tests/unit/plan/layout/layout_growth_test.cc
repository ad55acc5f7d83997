// The layout of a new file, step by step. Every write finds a layout, and no file keeps an
// incomplete one.
#include "plan/layout/layout_growth.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {
namespace {

using Kind = LayoutStep::Kind;

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t gibibyte = 1 << 30;

ExpectedFile file_of(std::int64_t bytes) {
  return {.bytes = bytes, .nodes = 4, .ranks = 64, .osts = 16};
}

LayoutStep before_all(const std::optional<Layout>& current, std::int64_t bytes,
                      std::int64_t bytes_min = 0) {
  return step_for_all(current, file_of(bytes), {.bytes_min = bytes_min}).value();
}

/// The layout after the file system has executed a step.
Layout taken(const std::optional<Layout>& current, const LayoutStep& step) {
  if (!current) return step.layout;
  Layout grown = *current;
  for (const LayoutComponent& more : step.layout.components) grown.components.push_back(more);
  return grown;
}

}  // namespace

TEST_CASE("a large first write sets the layout of the whole file") {
  const LayoutStep step = before_all(std::nullopt, 8 * gibibyte);
  CHECK(step.kind == Kind::set);
  CHECK_FALSE(step.layout.is_composite);
  CHECK(step.layout.components.front().striping.stripe_count == 16);
  CHECK_FALSE(step.reasons.empty());
  CHECK(end_of(step.layout) == layout_end_of_file);
}

TEST_CASE("a small first write gets a head, and the first large write after it a tail") {
  const LayoutStep first = before_all(std::nullopt, 100);
  CHECK(first.kind == Kind::set);
  CHECK(end_of(first.layout) == layout_head_bytes);
  CHECK(first.layout.components.front().striping.stripe_count == 1);
  CHECK(before_all(first.layout, mebibyte).kind == Kind::none);

  const LayoutStep second = before_all(first.layout, 8 * gibibyte);
  CHECK(second.kind == Kind::add);
  const Layout whole = taken(first.layout, second);
  CHECK(end_of(whole) == layout_end_of_file);
  CHECK(whole.components.back().striping.stripe_count == 16);
  CHECK(decode_lov(encode_lov(whole).value()).ok());
  CHECK(StripeMap::of(whole, 16).value().regions().size() == 2);
  CHECK(before_all(whole, 16 * gibibyte).kind == Kind::none);
}

TEST_CASE("files below a size get the default layout of the file system") {
  CHECK(before_all(std::nullopt, 8 * mebibyte, gibibyte).kind == Kind::set_default);
  const Layout head = before_all(std::nullopt, 100).layout;
  const LayoutStep rest = before_all(head, 8 * mebibyte, gibibyte);
  CHECK(rest.kind == Kind::add);
  CHECK(rest.layout.components.front().striping.stripe_count == 0);
  CHECK(rest.reasons.empty());
}

TEST_CASE("an independent write sets only a head, a tail or the default layout") {
  CHECK(step_for_one(std::nullopt, 100).kind == Kind::set);
  CHECK(step_for_one(std::nullopt, 2 * mebibyte).kind == Kind::set_default);
  const Layout head = step_for_one(std::nullopt, 100).layout;
  CHECK(step_for_one(head, layout_head_bytes).kind == Kind::none);
  const LayoutStep rest = step_for_one(head, layout_head_bytes + 1);
  CHECK(rest.kind == Kind::add);
  CHECK(end_of(taken(head, rest)) == layout_end_of_file);
}

TEST_CASE("a head is completed at close") {
  CHECK(step_to_complete(std::nullopt).kind == Kind::none);
  const Layout head = step_for_one(std::nullopt, 100).layout;
  CHECK(step_to_complete(head).kind == Kind::add);
  CHECK(step_to_complete(taken(head, step_to_complete(head))).kind == Kind::none);
  CHECK(step_to_complete(plain_layout({})).kind == Kind::none);
}

TEST_CASE("unwritten components are replaced if the hint says so") {
  Layout current;
  current.is_composite = true;
  for (const std::int64_t begin : {std::int64_t{0}, 4 * mebibyte, 64 * mebibyte}) {
    current.components.push_back(
        {.id = static_cast<std::uint32_t>(std::ssize(current.components)) + 1,
         .begin = begin,
         .striping = {.stripe_size = mebibyte, .stripe_count = 2}});
  }
  current.components[0].end = 4 * mebibyte;
  current.components[1].end = 64 * mebibyte;
  current.components[0].flags = component_instantiated;
  const GrowthRules rules{.bytes_min = mebibyte, .replaces_unwritten = true};
  const auto step = [&](std::int64_t bytes) {
    return step_for_all(current, file_of(bytes), rules).value();
  };
  CHECK(step(4 * mebibyte).kind == Kind::none);
  const LayoutStep large = step(8 * gibibyte);
  CHECK(large.kind == Kind::add);
  CHECK(large.removes_unwritten);
  CHECK(large.layout.components.front().begin == 4 * mebibyte);
  CHECK(large.layout.components.front().striping.stripe_count == 16);
  CHECK_FALSE(large.reasons.empty());
  CHECK(before_all(current, 8 * gibibyte).kind == Kind::none);
  current.components[1].flags = component_instantiated;
  CHECK(step(8 * gibibyte).layout.components.front().begin == 64 * mebibyte);
  current.components[1].flags = 0;
  current.components[2].flags =
      component_instantiated;  // instantiated: nothing before it is replaced
  CHECK(step(8 * gibibyte).kind == Kind::none);
  current.components[2].flags = 0;
  current.mirror_count = 2;
  CHECK(step(8 * gibibyte).kind == Kind::none);
}

TEST_CASE("added components use the pool of the existing or replaced components") {
  Layout head = step_for_one(std::nullopt, 100).layout;
  head.components.back().striping.pool = "flash";
  const auto pool_of = [](const LayoutStep& step) {
    return step.layout.components.front().striping.pool.value_or("");
  };
  CHECK(pool_of(step_to_complete(head)) == "flash");
  CHECK(pool_of(before_all(head, 8 * gibibyte)) == "flash");
  head.components.back().flags = component_instantiated;
  Layout whole = taken(head, step_to_complete(head));
  whole.components.back().striping.pool = "disk";
  const LayoutStep replaced =
      step_for_all(whole, file_of(8 * gibibyte), {.replaces_unwritten = true}).value();
  CHECK(replaced.removes_unwritten);
  CHECK(pool_of(replaced) == "disk");
}

TEST_CASE("the step that deletes all uninstantiated components survives encoding") {
  const Layout which = decode_lov(encode_lov(all_unwritten()).value()).value();
  REQUIRE(which.components.size() == 1);
  CHECK(which.components.front().id == 0);
  CHECK(which.components.front().flags == (component_negated | component_instantiated));
}

TEST_CASE("errors name the invalid value") {
  const auto step = step_for_all(std::nullopt, {.bytes = 8 * mebibyte, .nodes = 0}, {});
  REQUIRE_FALSE(step.ok());
  CHECK(step.error().message.find("number of nodes 0") != std::string::npos);
}

}  // namespace nacre::plan
