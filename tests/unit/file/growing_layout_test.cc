// What becomes of a layout that is to change, where the file system will not have it so.
#include "file/growing_layout.h"

#include <cerrno>
#include <optional>
#include <utility>

#include <doctest/doctest.h>

#include "plan/lov_codec.h"

namespace nacre::file {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr plan::GrowthRules replacing{.replaces_unwritten = true};
constexpr plan::ExpectedFile large{.bytes = 1 << 30, .nodes = 4, .ranks = 16, .osts = 8};

/// Of a file on a file system that may refuse changes.
class Layouts final : public store::FileLayouts {
 public:
  Layouts(std::optional<plan::Layout> layout, bool removes, bool adds)
      : layout_(std::move(layout)), removes_(removes), adds_(adds) {}

  Result<std::vector<std::byte>> read() override {
    return layout_ ? plan::encode_lov(*layout_) : std::vector<std::byte>();
  }
  Status set(std::span<const std::byte> layout) override {
    layout_ = plan::decode_lov(layout).value();
    return {};
  }
  Status add(std::span<const std::byte> components) override {
    if (!adds_) return refusal();
    const plan::Layout more = plan::decode_lov(components).value();
    layout_->components.push_back(more.components.front());
    return {};
  }
  Status remove(std::span<const std::byte> /*which*/) override {
    if (!removes_) return refusal();
    std::erase_if(layout_->components, [](const auto& one) { return !one.is_instantiated(); });
    return {};
  }
  Status set_default() override { return {}; }
  Result<std::int32_t> target_count() override { return 8; }

 private:
  static Status refusal() { return Error{ErrorClass::io, EPERM, "not here"}; }

  std::optional<plan::Layout> layout_;
  bool removes_;
  bool adds_;
};

/// One component that was written to, of one stripe, and one that was not, of two.
plan::Layout half_written() {
  plan::Layout layout;
  layout.is_composite = true;
  plan::Striping one{.stripe_size = mebibyte, .stripe_count = 1};
  one.objects = {{.object_id = 1, .ost = 3}};
  layout.components.push_back(
      {.id = 1, .flags = plan::component_instantiated, .end = mebibyte, .striping = one});
  layout.components.push_back(
      {.id = 2, .begin = mebibyte, .striping = {.stripe_size = mebibyte, .stripe_count = 2}});
  return layout;
}

std::int32_t last_count(const GrownLayout& grown) {
  return plan::decode_lov(grown.layout).value().components.back().striping.stripe_count;
}

}  // namespace

TEST_CASE("what nothing was written to gives way to what is chosen, once") {
  Layouts layouts(half_written(), true, true);
  CHECK(state_of(layouts.read().value(), replacing) == LayoutState::may_give_way);
  CHECK(state_of(layouts.read().value(), {}) == LayoutState::settled);
  const GrownLayout grown = grow_for_all(layouts, large, replacing).value();
  CHECK(last_count(grown) == 8);
  CHECK_FALSE(grown.reasons.empty());
}

TEST_CASE("a refusal leaves the layout as it was, and is told") {
  Layouts layouts(half_written(), false, true);
  const GrownLayout grown = grow_for_all(layouts, large, replacing).value();
  CHECK(last_count(grown) == 2);
  REQUIRE(grown.reasons.size() == 1);
  CHECK(grown.reasons.front() == "not here; the file has another one");
}

TEST_CASE("what is taken away and cannot be put back is an error") {
  Layouts layouts(half_written(), true, false);
  const auto grown = grow_for_all(layouts, large, replacing);
  REQUIRE_FALSE(grown.ok());
  CHECK(grown.error().message == "not here");
}

}  // namespace nacre::file
