// Layout changes that the file system refuses, or that another process made first.
#include "file/layout/growing_layout.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "fake_layouts.h"
#include "store/forwarding.h"
#include "testing/memory_store.h"

namespace nacre::file {
namespace {

using fixtures::default_count;
using fixtures::head;
using fixtures::Layouts;
using fixtures::mebibyte;
using fixtures::no_layout;
using fixtures::Taken;
constexpr plan::GrowthRules replacing{.replaces_unwritten = true};
constexpr plan::ExpectedFile large{.bytes = 1 << 30, .nodes = 4, .ranks = 16, .osts = 8};

/// Whether writes after the end of the layout fail.
class EndingFile final : public store::ForwardingFile {
 public:
  EndingFile(std::unique_ptr<store::StoreFile> inner, Layouts& layouts)
      : ForwardingFile(std::move(inner)), layouts_(layouts) {}
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    layouts_.note_write();
    const std::int64_t end = layouts_.end().value_or(0);
    if (offset >= end) return {0, Error{ErrorClass::io, no_layout, "behind the layout"}};
    return ForwardingFile::write(pieces, offset);
  }
  store::FileLayouts* layouts() override { return &layouts_; }

 private:
  Layouts& layouts_;
};

/// A write by one rank alone.
bool writes_one_byte(Layouts& layouts, std::int64_t offset) {
  testing::MemoryStore store;
  auto inner = store.open("f", {.write = true, .create = true}).value();
  GrowingFile file(std::make_unique<EndingFile>(std::move(inner), layouts), std::nullopt);
  const std::byte one{7};
  const store::WritePiece piece{&one, 1};
  const store::Transfer done = file.write({&piece, 1}, offset);
  return !done.error && done.bytes == 1;
}

/// A written component of one stripe, and an unwritten component of two stripes.
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
  return grown.layout.value().components.back().striping.stripe_count;
}

}  // namespace

TEST_CASE("unwritten components are replaced by the chosen layout, once") {
  Layouts layouts(half_written());
  CHECK(state_of(layouts.read().value(), replacing) == LayoutState::replaceable);
  CHECK(state_of(layouts.read().value(), {}) == LayoutState::settled);
  const GrownLayout grown = grow_for_all(layouts, large, replacing).value();
  CHECK(last_count(grown) == 8);
  CHECK_FALSE(grown.reasons.empty());
}

TEST_CASE("a refused change leaves the layout unchanged and is reported") {
  Layouts layouts(half_written(), {.removes = false});
  const GrownLayout grown = grow_for_all(layouts, large, replacing).value();
  CHECK(last_count(grown) == 2);
  REQUIRE(grown.reasons.size() == 1);
  CHECK(grown.reasons.front() == "not here; the chosen layout is not in force");
}

TEST_CASE("a component that was deleted and cannot be restored is an error") {
  Layouts layouts(half_written(), {.adds = false});
  const auto grown = grow_for_all(layouts, large, replacing);
  REQUIRE_FALSE(grown.ok());
  CHECK(grown.error().message == "not here");
}

TEST_CASE("a process that comes second builds on the layout that the first has set") {
  Layouts behind_head(std::nullopt);
  behind_head.race(head());
  const GrownLayout grown = grow_for_all(behind_head, large, {}).value();
  CHECK(last_count(grown) == 8);
  CHECK(behind_head.first_count() == 1);

  Layouts behind_all(std::nullopt);
  behind_all.race(plan::plain_layout({.stripe_size = mebibyte, .stripe_count = 2}));
  const GrownLayout other = grow_for_all(behind_all, large, {}).value();
  CHECK(last_count(other) == 2);
  CHECK(other.reasons.back().find("another process set a layout first") != std::string::npos);
}

TEST_CASE("if a head is refused the file gets the default layout of its directory") {
  constexpr plan::ExpectedFile small{.bytes = 100, .nodes = 4, .ranks = 16, .osts = 8};
  Layouts layouts(std::nullopt, {.sets_composite = false});
  CHECK(last_count(grow_for_all(layouts, small, {}).value()) == 3);

  Layouts alone(std::nullopt, {.sets_composite = false});
  CHECK(writes_one_byte(alone, 0));
  CHECK(alone.first_count() == 3);
}

TEST_CASE("a write after a head that another process sets meanwhile gets a tail") {
  Layouts layouts(std::nullopt);
  layouts.race(head());
  CHECK(writes_one_byte(layouts, 8 * mebibyte));
  CHECK(layouts.first_count() == 1);
  CHECK(layouts.end() == plan::layout_end_of_file);
}

TEST_CASE("a node that does not see the layout of another one writes again, and then sees it") {
  Layouts whole(std::nullopt);
  whole.race_unseen(plan::plain_layout({.stripe_size = mebibyte, .stripe_count = 2}));
  CHECK(writes_one_byte(whole, 8 * mebibyte));
  CHECK(whole.first_count() == 2);

  Layouts begun(std::nullopt);
  begun.race_unseen(head());
  CHECK(writes_one_byte(begun, 8 * mebibyte));
  CHECK(begun.end() == plan::layout_end_of_file);
}

TEST_CASE("a layout is completed, even if another process extends it meanwhile") {
  Layouts layouts(head());
  CHECK(complete_layout(layouts, layouts.read().value()).ok());
  CHECK(layouts.end() == plan::layout_end_of_file);
  Layouts none(std::nullopt);
  CHECK(complete_layout(none, none.read().value()).ok());
  Layouts stays(head(), {.adds = false});
  CHECK_FALSE(complete_layout(stays, stays.read().value()).ok());
}

TEST_CASE("a file of Nacre's own is complete from its first byte, and never below the default") {
  constexpr plan::GrowthRules own{.is_own = true};
  plan::ExpectedFile file{.bytes = 100, .nodes = 4, .ranks = 16, .osts = 8};
  Layouts layouts(std::nullopt);
  CHECK_FALSE(grow_for_all(layouts, file, own).value().layout);
  CHECK(layouts.counts() == std::vector<std::int32_t>{1, 3});
  CHECK(layouts.end() == plan::layout_end_of_file);

  file.bytes = 32 * mebibyte;
  const GrownLayout grown = grow_for_all(layouts, file, own).value();
  CHECK(layouts.counts() == std::vector<std::int32_t>{1, 3, 4, 8});
  CHECK(last_count(grown) == 8);
  CHECK(grown.widens_from == plan::layout_end_of_file);

  Layouts inherited(std::nullopt);
  inherited.inherit(plan::plain_layout({.stripe_size = mebibyte, .stripe_count = 5}));
  CHECK(last_count(grow_for_all(inherited, file, own).value()) == 8);
  CHECK(inherited.counts() == std::vector<std::int32_t>{1, 5, 8});
}

TEST_CASE("a file whose default suffices keeps it, with one change of its layout") {
  constexpr plan::ExpectedFile file{.bytes = 32 * mebibyte, .nodes = 3, .ranks = 3, .osts = 8};
  Layouts layouts(std::nullopt);
  const GrownLayout grown = grow_for_all(layouts, file, {.is_own = true}).value();
  CHECK(layouts.counts() == std::vector<std::int32_t>{1, 3});
  CHECK(last_count(grown) == 3);
  CHECK(layouts.change_count() == 1);
}

TEST_CASE("if the OSTs cannot be counted, a file gets the default layout, and does not widen") {
  constexpr plan::GrowthRules own{.is_own = true};
  plan::ExpectedFile file{.bytes = 1 << 30, .nodes = 64, .ranks = 4096, .osts = 1};
  Layouts layouts(std::nullopt);
  layouts.count_osts(std::nullopt);
  const GrownLayout grown = grow_for_all(layouts, file, own).value();
  CHECK(layouts.counts() == std::vector<std::int32_t>{default_count});
  CHECK_FALSE(grown.is_chosen);
  REQUIRE(grown.reasons.size() == 1);
  CHECK(grown.reasons.front() == "cannot count the OSTs; the file gets the default layout");

  Layouts narrow(std::nullopt);
  narrow.count_osts(1000);
  file.bytes = 32 * mebibyte;
  const std::int64_t from = grow_for_all(narrow, file, own).value().widens_from;
  narrow.count_osts(std::nullopt);
  file.bytes = from;
  const std::vector<std::int32_t> before = narrow.counts();
  const GrownLayout kept = widen_after_write(narrow, file).value();
  CHECK(narrow.counts() == before);
  CHECK(kept.widens_from == plan::layout_end_of_file);
}

TEST_CASE(
    "a small new file keeps a default of mirrors or extensions, a large one its last stripes") {
  constexpr plan::GrowthRules own{.is_own = true};
  const plan::Striping one{.stripe_size = mebibyte, .stripe_count = 1};
  plan::Layout extends;
  extends.is_composite = true;
  extends.components.push_back({.end = 64 * mebibyte, .striping = one});
  extends.components.push_back(
      {.begin = 64 * mebibyte, .striping = {.stripe_size = 4 * mebibyte, .stripe_count = 2}});
  extends.components.push_back({.flags = plan::component_extension,
                                .begin = 64 * mebibyte,
                                .striping = {.stripe_size = 256 * mebibyte, .stripe_count = 2}});
  plan::ExpectedFile file{.bytes = 100, .nodes = 4, .ranks = 16, .osts = 8};
  Layouts small(std::nullopt);
  small.inherit(extends);
  CHECK(grow_for_all(small, file, own).ok());
  CHECK(small.counts() == std::vector<std::int32_t>{1, 2, 2});
  Layouts by_one_rank(std::nullopt);
  by_one_rank.inherit(extends);
  CHECK(writes_one_byte(by_one_rank, 0));
  CHECK(by_one_rank.counts() == std::vector<std::int32_t>{1, 2, 2});
  file.bytes = 32 * mebibyte;
  file.nodes = file.ranks = 3;
  Layouts large(std::nullopt);
  large.inherit(extends);
  const GrownLayout grown = grow_for_all(large, file, own).value();
  CHECK(grown.layout.value().components[1].striping.stripe_size == 4 * mebibyte);
}

TEST_CASE("a layout widens when writes come near its last component, otherwise it is not read") {
  Layouts layouts(std::nullopt);
  layouts.count_osts(1000);
  plan::ExpectedFile file{.bytes = 32 * mebibyte, .nodes = 64, .ranks = 4096, .osts = 1000};
  const GrownLayout grown = grow_for_all(layouts, file, {.is_own = true}).value();
  const std::int32_t first = last_count(grown);
  REQUIRE(grown.widens_from < plan::layout_end_of_file);
  CHECK(grown.widens_from > file.bytes);

  file.bytes = grown.widens_from;
  layouts.instantiate(file.bytes);
  const GrownLayout wider = widen_after_write(layouts, file).value();
  CHECK(last_count(wider) > first);
  CHECK(std::ranges::is_sorted(layouts.counts()));
  CHECK(layouts.end() == plan::layout_end_of_file);
}

TEST_CASE("a file that refuses wider components keeps a complete layout and does not widen again") {
  constexpr plan::GrowthRules own{.is_own = true};
  plan::ExpectedFile file{.bytes = 32 * mebibyte, .nodes = 64, .ranks = 4096, .osts = 1000};
  for (const Taken refusing : {Taken{.removes = false}, Taken{.adds_wide = false}}) {
    Layouts layouts(std::nullopt);
    layouts.count_osts(1000);
    const GrownLayout grown = grow_for_all(layouts, file, own).value();
    layouts.refuse(refusing);
    file.bytes = grown.widens_from;
    const GrownLayout kept = widen_after_write(layouts, file).value();
    CHECK(kept.widens_from == plan::layout_end_of_file);
    CHECK(layouts.end() == plan::layout_end_of_file);
    REQUIRE(kept.reasons.size() == 1);
    CHECK(kept.reasons.front() == "not here; the layout does not widen");
  }
}

}  // namespace nacre::file
