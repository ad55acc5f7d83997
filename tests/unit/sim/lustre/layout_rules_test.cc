// Layouts and errnos are those of a real Lustre.
#include "sim/lustre/layout_rules.h"

#include <cstdint>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "asked_layout.h"

namespace nacre::sim {
namespace {

constexpr StripingDefaults four_osts{.ost_count = 4, .stripe_count = 1, .stripe_size = 1 << 20};

/// The layout after a write.
plan::Striping made(const std::string& words) {
  plan::Layout layout = layout_for_file(asked_layout(words), four_osts).value();
  ObjectAllocator allocator(four_osts.ost_count);
  REQUIRE(allocator.instantiate(layout.components.front()).ok());
  return layout.components.front().striping;
}

int refusal(const std::string& words) {
  return errno_in(layout_for_file(asked_layout(words), four_osts));
}

}  // namespace

TEST_CASE("options that are not given have the defaults of the file system") {
  CHECK(made("-c 2").stripe_size == 1 << 20);
  CHECK(made("-S 4m").stripe_count == 1);
  CHECK(made("-S 4m").stripe_size == 4 << 20);
}

TEST_CASE("more stripes than OSTs means all OSTs, except with overstriping") {
  CHECK(made("-c 100").stripe_count == 4);
  CHECK(made("-c -1").stripe_count == 4);
  CHECK(made("-C 8").stripe_count == 8);
  CHECK(made("-C 8").overstriped);
  CHECK(made("-C -2").stripe_count == 8);
  CHECK(made("-C 3").stripe_count == 3);
  CHECK_FALSE(made("-C 3").overstriped);
  const plan::Layout grows =
      layout_for_file(asked_layout("-E 1m -c 1 -E -1 -c -1"), four_osts).value();
  CHECK(grows.components.back().striping.stripe_count == plan::stripes_on_all_osts);
}

TEST_CASE("missing OSTs and invalid sizes and components are EINVAL") {
  CHECK(refusal("-c 2 -i 4") == EINVAL);
  plan::Layout odd = asked_layout("-c 2");
  plan::Layout cut = asked_layout("-E 1m -c 1 -S 1m -E -1 -c 2");
  cut.components[0].striping.stripe_size = 2 << 20;
  odd.components[0].striping.stripe_size = 65537;
  CHECK(errno_in(layout_for_file(odd, four_osts)) == EINVAL);
  CHECK(errno_in(layout_for_file(cut, four_osts)) == EINVAL);
  plan::Layout gap = asked_layout("-E 1m -c 1 -E -1 -c 2");
  gap.components[1].begin += 65536;
  CHECK(errno_in(layout_for_file(gap, four_osts)) == EINVAL);
}

TEST_CASE("first OST 0 counts as not given in plain layouts") {
  const auto first_of = [](const std::string& words) {
    return layout_in(asked_blob(words)).value().components.front().striping.first_ost;
  };
  CHECK_FALSE(first_of("-c 2 -i 0").has_value());
  CHECK(first_of("-c 2 -i 1") == 1);
  CHECK(first_of("-E -1 -c 2 -i 0") == 0);
}

TEST_CASE("listed OSTs get the objects, in the order of the list; an absent OST is EINVAL") {
  const auto osts = [](const plan::Striping& striping) {
    std::vector<std::int32_t> numbers;
    for (const plan::OstObject& object : striping.objects) numbers.push_back(object.ost);
    return numbers;
  };
  const plan::Striping listed = made("-o 3,0,2");
  CHECK(osts(listed) == std::vector<std::int32_t>{3, 0, 2});
  CHECK(listed.objects[1].object_id != listed.objects[2].object_id);
  CHECK_FALSE(listed.lists_osts);
  CHECK_FALSE(listed.pool.has_value());
  CHECK(made("-o 1 -p fast").pool == "fast");
  CHECK(osts(made("-C 3 -o 1,1,2")) == std::vector<std::int32_t>{1, 1, 2});
  CHECK(refusal("-o 3,4") == EINVAL);
  plan::Layout later = layout_for_file(asked_layout("-E 1m -c 1 -E -1 -o 2,1"), four_osts).value();
  CHECK(later.components[1].striping.lists_osts);
  ObjectAllocator allocator(four_osts.ost_count);
  REQUIRE(instantiate(later, {0, 2 << 20}, allocator).ok());
  CHECK(osts(later.components[1].striping) == std::vector<std::int32_t>{2, 1});
}

TEST_CASE("blobs that are not layouts are ERANGE") {
  const std::vector<std::byte> blob = asked_blob("-c 2");
  CHECK(layout_in(blob).ok());
  CHECK(errno_in(layout_in(std::span(blob).first(31))) == ERANGE);
  std::vector<std::byte> other = blob;
  other[0] = std::byte{0x11};
  CHECK(errno_in(layout_in(other)) == ERANGE);
}

TEST_CASE("objects are placed round robin on the OSTs, from the requested or the next OST on") {
  ObjectAllocator allocator(4);
  const auto osts_of = [&](const std::string& words) {
    plan::Layout layout = layout_for_file(asked_layout(words), four_osts).value();
    REQUIRE(allocator.instantiate(layout.components.front()).ok());
    std::vector<std::int32_t> osts;
    for (const plan::OstObject& object : layout.components.front().striping.objects) {
      osts.push_back(object.ost);
    }
    return osts;
  };
  CHECK(osts_of("-c 3 -i 2") == std::vector<std::int32_t>{2, 3, 0});
  CHECK(osts_of("-c 2") == std::vector<std::int32_t>{1, 2});
  CHECK(osts_of("-C 6 -i 0") == std::vector<std::int32_t>{0, 1, 2, 3, 0, 1});
  allocator.set_refusing(3, true);
  CHECK(osts_of("-c 4 -i 2") == std::vector<std::int32_t>{2, 0, 1});
  CHECK(osts_of("-c 1 -i 3") == std::vector<std::int32_t>{0});
  CHECK(osts_of("-c 2") == std::vector<std::int32_t>{1, 2});
  allocator.set_refusing(3, false);
  CHECK(osts_of("-c 2") == std::vector<std::int32_t>{3, 0});
}

TEST_CASE("a list of OSTs fails if one of them creates no objects") {
  ObjectAllocator allocator(4);
  allocator.set_refusing(2, true);
  plan::Layout layout = layout_for_file(asked_layout("-o 1,2"), four_osts).value();
  CHECK(errno_in(instantiate(layout, {0, 10}, allocator)) == EREMOTEIO);
  CHECK_FALSE(layout.components[0].is_instantiated());
  allocator.set_refusing(2, false);
  CHECK(instantiate(layout, {0, 10}, allocator).value());
}

TEST_CASE("no objects are created where all OSTs refuse") {
  ObjectAllocator allocator(4);
  for (std::int32_t ost = 0; ost < 4; ++ost) allocator.set_refusing(ost, true);
  plan::Layout layout = layout_for_file(asked_layout("-E 1m -c 1 -E 4m -c 2"), four_osts).value();
  CHECK(errno_in(instantiate(layout, {0, 10}, allocator)) == ENOSPC);
  CHECK_FALSE(layout.components[0].is_instantiated());
}

TEST_CASE("a first write instantiates a component and increments the generation") {
  ObjectAllocator allocator(4);
  plan::Layout layout =
      layout_for_file(asked_layout("-E 1m -c 1 -E 4m -c 2 -E 8m -c 4"), four_osts).value();
  CHECK(instantiate(layout, {0, 10}, allocator).value());
  CHECK(layout.components[0].is_instantiated());
  CHECK_FALSE(layout.components[1].is_instantiated());
  const std::uint32_t generation = layout.generation;
  CHECK_FALSE(instantiate(layout, {5, 10}, allocator).value());
  CHECK(layout.generation == generation);
  CHECK(instantiate(layout, {(1 << 20) - 1, 2}, allocator).value());
  CHECK(layout.components[1].striping.objects.size() == 2);
  CHECK(layout.generation > generation);
  CHECK(errno_in(instantiate(layout, {(8 << 20) - 1, 2}, allocator)) == ENODATA);
}

TEST_CASE("a tail is added after the head, and deleted by its id, with or without objects") {
  ObjectAllocator allocator(4);
  plan::Layout layout = layout_for_file(asked_layout("-E 1m -c 1"), four_osts).value();
  plan::Layout tail = asked_layout("-E 1m -c 1 -E -1 -c 4");
  tail.components.erase(tail.components.begin());
  REQUIRE(add_components(layout, tail, four_osts).ok());
  REQUIRE(layout.components.size() == 2);
  CHECK(layout.components[1].striping.stripe_count == 4);
  CHECK(layout.components[0].id != layout.components[1].id);
  CHECK(errno_in(add_components(layout, tail, four_osts)) == EINVAL);

  plan::Layout which = layout;
  which.components.erase(which.components.begin());
  const std::uint32_t id = which.components.front().id;
  which.components.front().id = id + 100;
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);
  which.components.front().id = layout.components.front().id;  // not the last component
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);
  which.components.front().id = id;
  REQUIRE(allocator.instantiate(layout.components[1]).ok());
  CHECK(delete_components(layout, which).value().front().striping.objects.size() == 4);
  CHECK(layout.components.size() == 1);
}

TEST_CASE("all components without objects can be deleted together") {
  ObjectAllocator allocator(4);
  plan::Layout layout =
      layout_for_file(asked_layout("-E 1m -c 1 -E 2m -c 2 -E 4m -c 3 -E -1 -c 4"), four_osts)
          .value();
  plan::Layout which = asked_layout("-E -1 -c 1");
  which.components.front().flags = plan::component_negated | plan::component_instantiated;
  which.components.front().id = 3;
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);  // id and flags together
  which.components.front().id = 0;
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);  // no component would remain
  REQUIRE(allocator.instantiate(layout.components[0]).ok());
  REQUIRE(allocator.instantiate(layout.components[2]).ok());
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);  // it would leave a gap
  REQUIRE(allocator.instantiate(layout.components[1]).ok());
  CHECK(delete_components(layout, which).value().size() == 1);
  CHECK(layout.components.size() == 3);
  CHECK(errno_in(delete_components(layout, which)) == EINVAL);  // no such component remains
}

}  // namespace nacre::sim
