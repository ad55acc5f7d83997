// The layout of a new file, step by step. Every write finds a layout, no file keeps an incomplete
// one, and components become wider with the offset.
#include "plan/layout/layout_growth.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "layout_samples.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_map.h"
#include "plan/layout/stripe_options.h"

namespace nacre::plan {
namespace {

const std::int64_t head = head_bytes({});

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

/// As other programs, or hints, leave a file.
Layout head_only() {
  Layout layout;
  layout.is_composite = true;
  layout.components.push_back({.end = head, .striping = {.stripe_size = head, .stripe_count = 1}});
  return layout;
}

std::vector<std::int32_t> widths_of(const Layout& layout) {
  std::vector<std::int32_t> widths;
  for (const LayoutComponent& one : layout.components) widths.push_back(one.striping.stripe_count);
  return widths;
}

/// A file that Nacre alone lays out, on a file system that fills in defaults and instantiates
/// components.
struct Emulated {
  std::int32_t osts = 16;
  std::int32_t ranks = 64;
  std::int32_t nodes = 4;
  Striping striping{.stripe_size = mebibyte, .stripe_count = 2};
  GrowthRules rules{.is_own = true};
  std::optional<Layout> layout = {};
  int changes = 0;

  ExpectedFile expected(std::int64_t end) const {
    return {.bytes = end, .nodes = nodes, .ranks = ranks, .osts = osts};
  }

  void take(const LayoutStep& step) {
    if (step.kind == Kind::none) return;
    if (step.removes_unwritten) {
      const std::size_t unwritten = unwritten_tail_count(*layout);
      REQUIRE(unwritten > 0);
      layout->components.resize(layout->components.size() - unwritten);
    }
    const std::size_t first = layout ? layout->components.size() : 0;
    layout = taken(layout, step);
    for (std::size_t i = first; i < layout->components.size(); ++i) {
      Striping& added = layout->components[i].striping;
      if (added.stripe_count == 0) added.stripe_count = striping.stripe_count;
      if (added.stripe_size == 0) added.stripe_size = striping.stripe_size;
    }
    layout->components.front().flags = component_instantiated;
    ++changes;
  }

  /// A collective write up to `end`: what an open file does before and after it.
  void write_all(std::int64_t end) {
    const bool is_first = !layout;
    if (rules.is_own) take(step_for_all(layout, expected(end), rules).value());
    if (is_first) take(step_for_all(layout, expected(end), rules).value());
    if (end > head) rules.is_own = false;
    REQUIRE(end_of(*layout) >= end);
    for (LayoutComponent& one : layout->components) {
      if (one.begin < end) one.flags = component_instantiated;
    }
    if (!rules.is_own) take(step_to_widen(*layout, expected(end)));
  }

  std::vector<std::int32_t> counts() const { return widths_of(*layout); }

  std::int32_t object_count() const {
    std::int32_t count = 0;
    for (const LayoutComponent& one : layout->components) {
      if (one.is_instantiated()) count += one.striping.stripe_count;
    }
    return count;
  }

  void check_widths() const {
    CHECK(end_of(*layout) == layout_end_of_file);
    CHECK(std::ssize(layout->components) <= layout_components_max);
    CHECK(std::ranges::is_sorted(counts()));
    const bool has_head = layout->is_composite;
    CHECK(counts()[has_head ? 1 : 0] >= striping.stripe_count);
    CHECK(counts().back() <= osts);
    std::int64_t end = 0;
    for (const LayoutComponent& one : layout->components) {
      CHECK(one.begin == end);
      CHECK(one.end > one.begin);
      CHECK((one.end == layout_end_of_file || one.end % one.striping.stripe_size == 0));
      end = one.end;
    }
  }
};

}  // namespace

TEST_CASE("a large first write sets the layout of the whole file") {
  const LayoutStep step = before_all(std::nullopt, 8 * gibibyte);
  CHECK(step.kind == Kind::set);
  CHECK_FALSE(step.layout.is_composite);
  CHECK(step.layout.components.front().striping.stripe_count == 16);
  CHECK_FALSE(step.reasons.empty());
  CHECK(end_of(step.layout) == layout_end_of_file);
}

TEST_CASE(
    "a small first write gets a head and the default, and a large write after it a new tail") {
  Emulated file;
  file.write_all(100);
  CHECK(file.counts() == std::vector<std::int32_t>{1, 2});
  CHECK(file.layout->components.front().end == head);
  file.write_all(mebibyte);
  CHECK(file.changes == 1);

  file.write_all(8 * gibibyte);
  CHECK(file.counts() == std::vector<std::int32_t>{1, 16});
  CHECK(end_of(*file.layout) == layout_end_of_file);
  CHECK(decode_lov(encode_lov(*file.layout).value()).ok());
  CHECK(StripeMap::of(*file.layout, 16).value().regions().size() == 2);
  file.write_all(16 * gibibyte);
  CHECK(file.changes == 2);
}

TEST_CASE("a first write that does not deserve all OSTs gets components that widen") {
  Emulated file;
  file.rules.is_own = true;
  file.write_all(32 * mebibyte);
  CHECK(file.counts() == std::vector<std::int32_t>{1, 2, 4, 16});
  CHECK(file.layout->components.front().end == stripe_size_unit);
  std::vector<std::int64_t> ends;
  for (const LayoutComponent& one : file.layout->components) ends.push_back(one.end);
  CHECK(ends == std::vector<std::int64_t>{stripe_size_unit, 32 * mebibyte, 128 * mebibyte,
                                          layout_end_of_file});
}

TEST_CASE("no component behind the head is narrower than the default") {
  Emulated file;
  file.striping = {.stripe_size = stripe_size_unit, .stripe_count = 8};
  file.write_all(32 * mebibyte);
  CHECK(file.counts() == std::vector<std::int32_t>{1, 8, 16});
  CHECK(file.layout->components[1].striping.stripe_size == stripe_size_unit);

  file = {};
  file.striping = {.stripe_size = mebibyte, .stripe_count = 16};
  file.write_all(32 * mebibyte);
  CHECK(file.counts() == std::vector<std::int32_t>{1, 16});
  CHECK(file.changes == 1);
}

TEST_CASE("stripes may be as short as those of the file system's default") {
  const Striping usual{.stripe_size = stripe_size_unit, .stripe_count = 8};
  ExpectedFile file = file_of(32 * mebibyte);
  file.call_bytes = mebibyte / 2;
  file.stripe_size_min = mebibyte;  // of the class of the machine
  const LayoutStep step =
      step_for_all(std::nullopt, file, {.is_own = true, .default_striping = usual}).value();
  const Striping& last = step.layout.components.back().striping;
  CHECK(last.stripe_count == 16);
  CHECK(last.stripe_size == stripe_size_unit);
}

TEST_CASE("a default that stands for all OSTs, or that the file system does not name, stays") {
  for (const std::int32_t count : {0, stripes_on_all_osts}) {
    Emulated file;
    file.striping = {.stripe_size = mebibyte, .stripe_count = count};
    file.write_all(32 * mebibyte);
    CHECK(file.layout->components[1].striping.stripe_count == count);
  }
}

TEST_CASE("the default of the directory is the tail of a new file, with its pool") {
  const Striping inherited{.stripe_size = mebibyte, .stripe_count = 5, .pool = "flash"};
  const LayoutStep step =
      step_for_all(std::nullopt, file_of(100), {.default_striping = inherited}).value();
  CHECK(step.layout.components.back().striping == inherited);
  CHECK(step_for_one(std::nullopt, 100, inherited).layout.components.back().striping == inherited);
}

// Seeds are printed with a failure.
TEST_CASE("random sequences of writes keep a layout complete, wide enough and short") {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto one_of = [&](auto... values) {
      const std::vector<std::int64_t> all{values...};
      return all[random() % all.size()];
    };
    Emulated file;
    file.osts = static_cast<std::int32_t>(one_of(1, 4, 8, 48, 1000));
    file.ranks = static_cast<std::int32_t>(one_of(2, 16, 512, 100000));
    file.nodes =
        static_cast<std::int32_t>(std::max<std::int64_t>(1, file.ranks / one_of(1, 2, 64)));
    file.striping.stripe_count = std::min(file.osts, static_cast<std::int32_t>(one_of(1, 3, 8)));
    file.striping.stripe_size = one_of(1, 3, 16, 64) * stripe_size_unit;
    std::int64_t end = 0;
    const std::int64_t step = one_of(1000, 100'000, 3 * mebibyte, 32 * mebibyte, gibibyte);
    const auto writes = static_cast<int>(1 + random() % 60);
    for (int i = 0; i < writes; ++i) {
      end += i == 0 && random() % 2 == 0 ? 100 : step * one_of(1, 1, 1, 1, 30);
      file.write_all(end);
      file.check_widths();
    }
    CHECK(file.changes <= layout_components_max);
    if (end <= head) CHECK(file.object_count() == 1);
  }
}

TEST_CASE("files below a size get the default layout of the file system") {
  CHECK(before_all(std::nullopt, 8 * mebibyte, gibibyte).kind == Kind::set_default);
  const LayoutStep rest = before_all(head_only(), 8 * mebibyte, gibibyte);
  CHECK(rest.kind == Kind::add);
  CHECK(rest.layout.components.front().striping.stripe_count == 0);
  CHECK(rest.reasons.empty());
}

TEST_CASE("an independent write sets a head with the default behind it, or the default layout") {
  const LayoutStep first = step_for_one(std::nullopt, 100);
  CHECK(first.kind == Kind::set);
  CHECK(end_of(first.layout) == layout_end_of_file);
  CHECK(step_for_one(std::nullopt, 2 * mebibyte).kind == Kind::set_default);
  const ExpectedFile many{.bytes = 32 * mebibyte,
                          .nodes = 16,
                          .ranks = 256,
                          .osts = 64,
                          .bytes_per_ost_min = 4 * mebibyte};
  const LayoutStep alone = step_for_one(std::nullopt, 2 * mebibyte, {.stripe_count = 2}, many);
  CHECK(alone.kind == Kind::set);
  // 32 stripes would deserve a component of their own between those of 8 and of 64, but 64 are not
  // much wider.
  CHECK(widths_of(alone.layout) == std::vector<std::int32_t>{1, 8, 64});
  ExpectedFile wider = many;
  wider.osts = 128;
  const LayoutStep more = step_for_one(std::nullopt, 2 * mebibyte, {.stripe_count = 2}, wider);
  CHECK(widths_of(more.layout) == std::vector<std::int32_t>{1, 8, 32, 128});
  CHECK(more.layout.components.at(2).end == 128 * mebibyte);
  CHECK(end_of(alone.layout) == layout_end_of_file);
  CHECK(step_for_one(std::nullopt, 100, {}, many).layout.components.front().end == head);
  CHECK(step_for_one(first.layout, gibibyte).kind == Kind::none);
  CHECK(step_for_one(head_only(), head).kind == Kind::none);
  const LayoutStep rest = step_for_one(head_only(), head + 1);
  CHECK(rest.kind == Kind::add);
  CHECK(end_of(taken(head_only(), rest)) == layout_end_of_file);
}

TEST_CASE("a layout that ends early is completed at close") {
  CHECK(step_to_complete(std::nullopt).kind == Kind::none);
  CHECK(step_to_complete(head_only()).kind == Kind::add);
  CHECK(step_to_complete(taken(head_only(), step_to_complete(head_only()))).kind == Kind::none);
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

TEST_CASE("layouts with mirrors or parity are left alone, even if they end early") {
  Layout coded = *decode_lov(erasure_coded_sample());
  Layout mirrored = *decode_lov(layout_sample("flr-two-mirrors").bytes);
  for (Layout* const layout : {&coded, &mirrored}) {
    layout->components[0].end = layout->components[1].end = 1 << 20;
    CHECK(step_to_complete(*layout).kind == LayoutStep::Kind::none);
    CHECK(step_for_one(*layout, 2 << 20).kind == LayoutStep::Kind::none);
    for (const GrowthRules& rules :
         {GrowthRules{}, GrowthRules{.is_own = true}, GrowthRules{.replaces_unwritten = true}}) {
      const ExpectedFile file{.bytes = 1 << 30, .nodes = 4, .ranks = 16, .osts = 8};
      CHECK(step_for_all(*layout, file, rules)->kind == LayoutStep::Kind::none);
    }
    CHECK(stripe_options_of(*layout).empty());
  }
}

TEST_CASE("added components use the pool of the existing or replaced components") {
  Layout head = head_only();
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
