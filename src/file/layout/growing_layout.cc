#include "file/layout/growing_layout.h"

#include <optional>
#include <utility>

#include "store/pieces.h"

namespace nacre::file {
namespace {

using Kind = plan::LayoutStep::Kind;

// Others may take a layout away or put it there meanwhile, but not for ever.
constexpr int attempts = 3;

Status add(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  if (step.removes_unwritten) {
    if (Status removed = layouts.remove_unwritten(); !removed) return removed;
  }
  return layouts.add(step.layout);
}

Status take(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  switch (step.kind) {
    case Kind::set:
      return layouts.set(step.layout);
    case Kind::add:
      return add(layouts, step);
    case Kind::set_default:
      return layouts.set_default();
    case Kind::none:
      break;
  }
  return {};
}

/// A file that has none after all gets the default. What another process has done meanwhile is as
/// good; where that ends before `end`, who writes there is told so and comes again.
Status take_or_find(store::FileLayouts& layouts, const plan::LayoutStep& step, std::int64_t end) {
  if (step.kind == Kind::none) return {};
  Status taken = take(layouts, step);
  auto found = layouts.read();
  if (found && !found->has_value()) {
    if (step.kind != Kind::set_default) taken = layouts.set_default();
    found = layouts.read();
  }
  if (found && found->has_value() && plan::end_of(**found) >= end) return {};
  if (!taken) return taken;
  if (!found) return found.error();
  if (found->has_value()) return {};
  return Error{ErrorClass::io, 0, "the file has no layout after one was set"};
}

/// Of a write that failed for want of a layout: gives the file one as far as `end`.
Status grow_for_one(store::FileLayouts& layouts, std::int64_t end) {
  const auto current = layouts.read();
  if (!current) return current.error();
  return take_or_find(layouts, plan::step_for_one(*current, end), end);
}

/// Whether the layout has as many stripes at its end as the other, and as large ones.
bool ends_as(const std::optional<plan::Layout>& layout, const plan::Layout& other) {
  if (!layout || layout->components.empty()) return false;
  const plan::Striping& here = layout->components.back().striping;
  const plan::Striping& there = other.components.back().striping;
  return here.stripe_count == there.stripe_count && here.stripe_size == there.stripe_size;
}

/// The way to a layout for all ranks.
struct Growth {
  plan::ExpectedFile file;
  plan::GrowthRules rules;
  std::optional<plan::Layout> chosen = {};
  std::vector<std::string> reasons = {};
};

/// Takes one step, and says of which kind it was where it set a layout that was chosen.
Result<Kind> grow_once(store::FileLayouts& layouts, Growth& growth) {
  const Result<std::optional<plan::Layout>> current = layouts.read();
  if (!current) return current.error();
  Result<plan::LayoutStep> step = plan::step_for_all(*current, growth.file, growth.rules);
  if (!step) return std::move(step).error();
  if (step->kind == Kind::none) return Kind::none;
  if (Status taken = take(layouts, *step); !taken) {
    growth.rules.replaces_unwritten = false;
    growth.reasons = {std::move(taken).error().message + "; the chosen layout is not in force"};
    Status other = grow_for_one(layouts, growth.file.bytes);
    return other ? Result<Kind>(Kind::none) : std::move(other).error();
  }
  if (step->reasons.empty()) return Kind::none;
  // Nothing is written to it either, and it stays.
  growth.rules.replaces_unwritten = false;
  growth.reasons = std::move(step->reasons);
  growth.chosen = std::move(step->layout);
  return step->kind;
}

}  // namespace

LayoutState state_of(const std::optional<plan::Layout>& layout, const plan::GrowthRules& rules) {
  if (!layout || plan::end_of(*layout) != plan::layout_end_of_file) return LayoutState::incomplete;
  const bool replaceable = rules.replaces_unwritten && plan::unwritten_tail_count(*layout) > 0;
  return replaceable ? LayoutState::replaceable : LayoutState::settled;
}

Result<GrownLayout> grow_for_all(store::FileLayouts& layouts, const plan::ExpectedFile& file,
                                 const plan::GrowthRules& rules) {
  Growth growth{.file = file, .rules = rules};
  if (const Result<std::int32_t> count = layouts.target_count()) growth.file.osts = *count;
  Result<Kind> grown = grow_once(layouts, growth);
  // What was set has no effect where another process was first, perhaps with no more than a head.
  if (grown && *grown == Kind::set) grown = grow_once(layouts, growth);
  if (!grown) return std::move(grown).error();
  Result<std::optional<plan::Layout>> now = layouts.read();
  if (!now) return std::move(now).error();
  if (growth.chosen && !ends_as(*now, *growth.chosen)) {
    growth.reasons.emplace_back(
        "not in force: the file system refused it, or another process set a layout first");
  }
  if (state_of(*now, growth.rules) != LayoutState::settled) now->reset();
  return GrownLayout{*std::move(now), std::move(growth.reasons)};
}

Status complete_layout(store::FileLayouts& layouts, std::optional<plan::Layout> current) {
  for (int i = 0; i < attempts; ++i) {
    const plan::LayoutStep step = plan::step_to_complete(current);
    if (step.kind == Kind::none) break;
    Status taken = take_or_find(layouts, step, plan::layout_end_of_file);
    if (!taken) return taken;
    auto found = layouts.read();
    if (!found) return std::move(found).error();
    current = *std::move(found);
  }
  return {};
}

store::Transfer GrowingFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset) {
  store::Transfer done = ForwardingFile::write(pieces, offset);
  const std::int64_t end = offset + store::total_bytes(pieces);
  for (int i = 0; i < attempts && done.error && layouts()->means_no_layout(*done.error); ++i) {
    if (Status grown = grow_for_one(*layouts(), end); !grown) {
      done.error = std::move(grown).error();
      return done;
    }
    store::Transfer more =
        ForwardingFile::write(store::pieces_behind(pieces, done.bytes), offset + done.bytes);
    done.bytes += more.bytes;
    done.error = std::move(more.error);
  }
  return done;
}

}  // namespace nacre::file
