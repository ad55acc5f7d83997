#include "plan/layout/layout_growth.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::plan {
namespace {

using Kind = LayoutStep::Kind;

Layout component(std::int64_t begin, std::int64_t end, Striping striping) {
  Layout layout;
  layout.is_composite = true;
  layout.components.push_back({.begin = begin, .end = end, .striping = std::move(striping)});
  return layout;
}

/// A head of one stripe and a tail: the layout is complete, whatever happens to the program.
LayoutStep head_and_tail(std::int64_t head_bytes, const Striping& tail) {
  LayoutStep step{
      .kind = Kind::set,
      .layout = component(0, head_bytes, {.stripe_size = head_bytes, .stripe_count = 1})};
  step.layout.components.push_back({.begin = head_bytes, .striping = tail});
  return step;
}

/// The sizes of two successive components, and what the last component allows for.
constexpr std::int64_t growth_factor = 4;
constexpr std::int64_t foresight_factor = 16;
constexpr std::int64_t rungs_max = 4;

/// The larger of `floor` and the striping that a file of `bytes` deserves. A floor of 0 stripes is
/// a default that the file system has not named: nothing is known to be wider, except all OSTs.
Result<Striping> at_least(const Striping& floor, ExpectedFile file, std::int64_t bytes) {
  file.bytes = bytes;
  if (floor.stripe_size > 0)
    file.stripe_size_min = std::min(file.stripe_size_min, floor.stripe_size);
  const Result<LayoutChoice> choice = choose_layout(file);
  if (!choice) return choice.error();
  const bool is_all = choice->stripe_count == file.osts && floor.stripe_count != file.osts;
  const bool is_wider =
      floor.stripe_count == 0 ? is_all : choice->stripe_count > floor.stripe_count;
  if (!is_wider) return floor;
  return Striping{
      .stripe_size = choice->stripe_size, .stripe_count = choice->stripe_count, .pool = floor.pool};
}

/// What a request for a component of this striping says.
Striping request_of(const Striping& striping) {
  return {.pattern = striping.pattern,
          .overstriped = striping.overstriped,
          .stripe_size = striping.stripe_size,
          .stripe_count = striping.stripe_count,
          .pool = striping.pool};
}

/// Lustre wants each component to end at the end of a stripe.
std::int64_t component_end(std::int64_t bytes, const Striping& striping) {
  constexpr std::int64_t unit = 1 << 20;
  return round_up(bytes, striping.stripe_size == 0 ? unit : std::lcm(unit, striping.stripe_size));
}

/// Whether a component with striping `one` before a component with striping `next` costs long files
/// more than it saves short files: a call waits for a lock on each of its objects.
bool is_too_alike(const Striping& one, const Striping& next) {
  constexpr std::int64_t wider_min = 2;
  Striping widened = one;
  widened.stripe_count = next.stripe_count;
  return widened == next && next.stripe_count <= wider_min * one.stripe_count;
}

/// Merges components into their successors where these are not much wider.
void merge_alike(std::vector<LayoutComponent>& components) {
  for (std::size_t next = components.size(); next-- > 1;) {
    const auto one = components.begin() + static_cast<std::ptrdiff_t>(next) - 1;
    if (!is_too_alike(one->striping, components[next].striping)) continue;
    components[next].begin = one->begin;
    components.erase(one);
  }
}

/// Components from `begin` to the end of the file, each as wide as a file deserves that ends with
/// it. `kept`: the number of components before them.
Result<Layout> widening_from(std::int64_t begin, std::int64_t kept, const Striping& floor,
                             const ExpectedFile& file) {
  Layout layout;
  layout.is_composite = true;
  Striping striping = request_of(floor);
  const std::int64_t bytes = std::max(file.bytes, file.bytes_per_ost_min);
  std::int64_t end = begin < bytes ? bytes : saturating_multiply(begin, growth_factor);
  const std::int64_t rungs = std::clamp<std::int64_t>(layout_components_max - kept, 1, rungs_max);
  for (std::int64_t rung = 1; rung < rungs && end < layout_end_of_file / foresight_factor; ++rung) {
    Result<Striping> next = at_least(striping, file, end);
    if (!next) return std::move(next).error();
    striping = *std::move(next);
    end = component_end(end, striping);
    layout.components.push_back({.begin = begin, .end = end, .striping = striping});
    begin = end;
    end = saturating_multiply(end, growth_factor);
  }
  Result<Striping> last =
      at_least(striping, file, saturating_multiply(std::max(begin, bytes), foresight_factor));
  if (!last) return std::move(last).error();
  layout.components.push_back({.begin = begin, .striping = *last});
  merge_alike(layout.components);
  return layout;
}

/// Replaces the tail behind the head by components that widen.
void widen_tail(Layout& layout, const ExpectedFile& file) {
  const LayoutComponent tail = layout.components.back();
  const Result<Layout> wider = widening_from(tail.begin, 1, tail.striping, file);
  if (!wider) return;
  layout.components.pop_back();
  layout.components.insert(layout.components.end(), wider->components.begin(),
                           wider->components.end());
}

/// Replaces the unwritten tail of an own layout. Kind::none if the components would stay the same.
Result<LayoutStep> widen(const Layout& current, const ExpectedFile& file) {
  const std::size_t unwritten = unwritten_tail_count(current);
  const auto kept = std::ssize(current.components) - static_cast<std::ptrdiff_t>(unwritten);
  if (unwritten == 0 || kept >= layout_components_max) return LayoutStep();
  const std::span<const LayoutComponent> tail = std::span(current.components).last(unwritten);
  // If only the head is written, nothing was known of the file when the tail was set: its first
  // component has the file system's default.
  const Striping& floor = kept == 1 ? tail.front().striping : tail.back().striping;
  Result<Layout> layout = widening_from(tail.front().begin, kept, floor, file);
  if (!layout) return std::move(layout).error();
  const auto same = [](const LayoutComponent& one, const LayoutComponent& two) {
    return one.end == two.end && request_of(one.striping) == two.striping;
  };
  if (std::ranges::equal(tail, layout->components, same)) return LayoutStep();
  return LayoutStep{.kind = Kind::add, .removes_unwritten = true, .layout = *std::move(layout)};
}

/// Sentences for users: how wide the new components are.
std::vector<std::string> reasons_for(std::span<const LayoutComponent> added) {
  std::vector<std::string> reasons;
  for (const LayoutComponent& one : added) {
    const std::string count = std::to_string(stripe_count_in_words(one.striping.stripe_count));
    reasons.push_back("from byte " + std::to_string(one.begin) + " on: stripe count " + count);
  }
  reasons.emplace_back(
      "a file that becomes longer gets more OSTs, and never fewer than the default");
  return reasons;
}

/// The first step for a file without a layout.
Result<LayoutStep> first_step(const ExpectedFile& file, const GrowthRules& rules) {
  const bool is_head = file.bytes <= head_bytes(file);
  if (is_head && !rules.keeps_default) {
    return head_and_tail(head_bytes(file), rules.default_striping);
  }
  if (is_head || file.bytes < rules.bytes_min) return LayoutStep{.kind = Kind::set_default};
  Result<LayoutChoice> choice = choose_layout(file);
  if (!choice) return std::move(choice).error();
  if (choice->stripe_count < file.osts) {
    LayoutStep step = head_and_tail(stripe_size_unit, rules.default_striping);
    // A default that is known need not be read back before the tail is replaced.
    if (rules.is_own && rules.default_striping.stripe_count != 0) {
      widen_tail(step.layout, file);
      step.reasons = reasons_for(std::span(step.layout.components).subspan(1));
    }
    return step;
  }
  return LayoutStep{.kind = Kind::set,
                    .layout = plain_layout({.stripe_size = choice->stripe_size,
                                            .stripe_count = choice->stripe_count,
                                            .pool = rules.default_striping.pool}),
                    .reasons = std::move(choice->reasons)};
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
  if (is_redundant(layout) || std::ranges::any_of(layout.components, extends)) return 0;
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
  if (!current) return first_step(file, rules);
  if (is_redundant(*current)) return LayoutStep();
  if (rules.is_own && unwritten_tail_count(*current) > 0) {
    const bool ends_in_head = file.bytes <= current->components.front().end;
    if (ends_in_head || file.bytes < rules.bytes_min) return LayoutStep();
    Result<LayoutStep> wider = widen(*current, file);
    if (wider && wider->kind == Kind::add) wider->reasons = reasons_for(wider->layout.components);
    return wider;
  }
  Layout kept = *current;
  LayoutStep step{.kind = Kind::add};
  const bool is_large = file.bytes >= rules.bytes_min;
  if (rules.replaces_unwritten && is_large) {
    const std::size_t unwritten = unwritten_tail_count(*current);
    step.removes_unwritten = unwritten > 0;
    kept.components.resize(kept.components.size() - unwritten);
  }
  if (end_of(kept) >= file.bytes) return LayoutStep();
  if (!is_large) return default_tail(kept);
  Result<LayoutChoice> choice = choose_layout(file);
  if (!choice) return std::move(choice).error();
  step.layout = tail_of(
      kept, {.stripe_size = choice->stripe_size, .stripe_count = choice->stripe_count}, *current);
  step.reasons = std::move(choice->reasons);
  return step;
}

std::int64_t widens_from(const Layout& current, const ExpectedFile& file) {
  const std::int64_t begin = current.components.back().begin;
  ExpectedFile later = file;
  later.bytes = std::max(begin, file.bytes);
  const Result<LayoutStep> step = widen(current, later);
  const bool is_wider = step && step->kind == Kind::add &&
                        step->layout.components.back().striping.stripe_count >
                            current.components.back().striping.stripe_count;
  return is_wider ? begin / 2 : layout_end_of_file;
}

LayoutStep step_to_widen(const Layout& current, const ExpectedFile& file) {
  if (widens_from(current, file) > file.bytes) return {};
  ExpectedFile later = file;
  later.bytes = std::max(current.components.back().begin, file.bytes);
  LayoutStep step = widen(current, later).value();
  step.reasons = reasons_for(step.layout.components);
  return step;
}

LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end,
                        const Striping& default_striping, const std::optional<ExpectedFile>& file) {
  if (!current) {
    const std::int64_t head = head_bytes(file.value_or(ExpectedFile()));
    const bool is_head = end <= head;
    if (!is_head && !file) return {.kind = Kind::set_default};
    LayoutStep step = head_and_tail(is_head ? head : stripe_size_unit, default_striping);
    if (file) widen_tail(step.layout, *file);
    return step;
  }
  const bool is_whole = end <= end_of(*current) || is_redundant(*current);
  return is_whole ? LayoutStep() : default_tail(*current);
}

LayoutStep step_to_complete(const std::optional<Layout>& current) {
  if (!current || end_of(*current) == layout_end_of_file || is_redundant(*current)) return {};
  return default_tail(*current);
}

}  // namespace nacre::plan
