#include "plan/layout_growth.h"

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

LayoutStep tail(const Layout& current, Striping striping) {
  return {.kind = Kind::add,
          .layout = component(end_of(current), layout_end_of_file, std::move(striping))};
}

}  // namespace

std::int64_t end_of(const Layout& layout) {
  return layout.components.empty() ? layout_end_of_file : layout.components.back().end;
}

Result<LayoutStep> step_for_all(const std::optional<Layout>& current, const ExpectedFile& file,
                                std::int64_t bytes_least) {
  if (current && end_of(*current) >= file.bytes) return LayoutStep();
  if (!current && file.bytes <= layout_head_bytes) return head();
  if (file.bytes < bytes_least) {
    return current ? tail(*current, {}) : LayoutStep{.kind = Kind::set_default};
  }
  Result<LayoutChoice> choice = choose_layout(file);
  if (!choice) return std::move(choice).error();
  Striping striping{.stripe_size = choice->stripe_size, .stripe_count = choice->stripe_count};
  LayoutStep step{.kind = Kind::set};
  if (current) {
    step = tail(*current, std::move(striping));
  } else {
    step.layout = plain_layout(std::move(striping));
  }
  step.reasons = std::move(choice->reasons);
  return step;
}

LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end) {
  if (!current) return end <= layout_head_bytes ? head() : LayoutStep{.kind = Kind::set_default};
  return end <= end_of(*current) ? LayoutStep() : tail(*current, {});
}

LayoutStep step_to_complete(const std::optional<Layout>& current) {
  if (!current || end_of(*current) == layout_end_of_file) return {};
  return tail(*current, {});
}

}  // namespace nacre::plan
