#include "plan/layout/layout_growth.h"

#include <algorithm>
#include <utility>

namespace nacre::plan {
namespace {

using Kind = LayoutStep::Kind;

Layout component(std::int64_t begin, std::int64_t end, Striping striping) {
  Layout layout;
  layout.is_composite = true;
  layout.components.push_back({.begin = begin, .end = end, .striping = std::move(striping)});
  return layout;
}

LayoutStep head() {
  return {.kind = Kind::set,
          .layout = component(0, layout_head_bytes,
                              {.stripe_size = layout_head_bytes, .stripe_count = 1})};
}

/// On the pool of the last component of `like`: Lustre gives added components no pool.
Layout tail_of(const Layout& current, Striping striping, const Layout& like) {
  striping.pool = like.components.back().striping.pool;
  return component(end_of(current), layout_end_of_file, std::move(striping));
}

/// With the file system's default striping.
LayoutStep default_tail(const Layout& current) {
  return {.kind = Kind::add, .layout = tail_of(current, {}, current)};
}

}  // namespace

std::int64_t end_of(const Layout& layout) {
  return layout.components.empty() ? layout_end_of_file : layout.components.back().end;
}

std::size_t unwritten_tail_count(const Layout& layout) {
  const auto extends = [](const LayoutComponent& one) { return one.extends(); };
  if (layout.mirror_count > 1 || std::ranges::any_of(layout.components, extends)) return 0;
  const auto is_unwritten = [](const LayoutComponent& one) { return !one.is_instantiated(); };
  const auto first = std::ranges::find_if(layout.components, is_unwritten);
  const bool is_tail = std::all_of(first, layout.components.end(), is_unwritten);
  return is_tail && first != layout.components.begin()
             ? static_cast<std::size_t>(layout.components.end() - first)
             : 0;
}

Layout all_unwritten() {
  Layout layout = component(0, layout_end_of_file, {});
  layout.components.front().flags = component_negated | component_instantiated;
  return layout;
}

Result<LayoutStep> step_for_all(const std::optional<Layout>& current, const ExpectedFile& file,
                                const GrowthRules& rules) {
  std::optional<Layout> kept = current;
  LayoutStep step{.kind = Kind::set};
  const bool is_large = file.bytes >= rules.bytes_min;
  if (current && rules.replaces_unwritten && is_large) {
    const std::size_t unwritten = unwritten_tail_count(*current);
    step.removes_unwritten = unwritten > 0;
    kept->components.resize(kept->components.size() - unwritten);
  }
  if (kept && end_of(*kept) >= file.bytes) return LayoutStep();
  if (!kept && file.bytes <= layout_head_bytes) return head();
  if (!is_large) return kept ? default_tail(*kept) : LayoutStep{.kind = Kind::set_default};
  Result<LayoutChoice> choice = choose_layout(file);
  if (!choice) return std::move(choice).error();
  Striping striping{.stripe_size = choice->stripe_size, .stripe_count = choice->stripe_count};
  if (kept) {
    step.kind = Kind::add;
    step.layout = tail_of(*kept, std::move(striping), *current);
  } else {
    step.layout = plain_layout(std::move(striping));
  }
  step.reasons = std::move(choice->reasons);
  return step;
}

LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end) {
  if (!current) return end <= layout_head_bytes ? head() : LayoutStep{.kind = Kind::set_default};
  return end <= end_of(*current) ? LayoutStep() : default_tail(*current);
}

LayoutStep step_to_complete(const std::optional<Layout>& current) {
  if (!current || end_of(*current) == layout_end_of_file) return {};
  return default_tail(*current);
}

}  // namespace nacre::plan
