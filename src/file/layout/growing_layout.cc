#include "file/layout/growing_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_cast.h"
#include "store/pieces.h"

namespace nacre::file {
namespace {

using Kind = plan::LayoutStep::Kind;

// Other processes may set or remove layouts meanwhile, but not for ever.
constexpr int attempts = 3;

Status add(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  if (step.removes_unwritten) {
    if (Status removed = layouts.remove_unwritten(); !removed) return removed;
  }
  return layouts.add(step.layout);
}

Status apply(store::FileLayouts& layouts, const plan::LayoutStep& step) {
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

/// Applies the step. Succeeds also if another process has set a layout that reaches `end`
/// meanwhile. Sets the default layout if the file still seems to have none afterwards. A layout
/// that ends before `end`, or that this node does not see yet, is no error: the write is retried.
/// If two nodes set a layout at the same time, Lustre keeps the first and reports success to both,
/// and the second node may see no layout until it accesses the file.
Status apply_or_find(store::FileLayouts& layouts, const plan::LayoutStep& step, std::int64_t end) {
  if (step.kind == Kind::none) return {};
  Status applied = apply(layouts, step);
  auto found = layouts.read();
  if (found && !found->has_value()) {
    if (step.kind != Kind::set_default) applied = layouts.set_default();
    found = layouts.read();
  }
  if (found && found->has_value() && plan::end_of(**found) >= end) return {};
  if (!applied) return applied;
  return found ? Status() : found.error();
}

/// What the directory gives a new file.
struct DefaultLayout {
  plan::Striping striping = {};  ///< of the rest of a file whose first bytes do not decide
  bool is_more = false;          ///< GrowthRules::keeps_default
};

DefaultLayout default_of(store::FileLayouts& layouts) {
  const std::optional<plan::Layout> found = layouts.default_layout();
  if (!found || found->components.empty()) return {};
  const auto is_on_metadata_server = [](const plan::LayoutComponent& one) {
    return one.striping.pattern == plan::StripePattern::mdt;
  };
  const bool is_more = plan::is_redundant(*found) ||
                       std::ranges::any_of(found->components, is_on_metadata_server) ||
                       std::ranges::any_of(found->components, &plan::LayoutComponent::extends);
  // The last component may be parity, or that by which the one before it is extended.
  const auto is_data = [&](const plan::LayoutComponent& one) {
    return !one.is_parity() && !one.extends() && !is_on_metadata_server(one);
  };
  const auto data = std::find_if(found->components.rbegin(), found->components.rend(), is_data);
  return {data == found->components.rend() ? plan::Striping() : data->striping, is_more};
}

/// Extends the layout to `end`, after a write failed because the file has no layout there.
Status grow_for_one(store::FileLayouts& layouts, std::int64_t end,
                    std::optional<plan::ExpectedFile> file = {}) {
  const auto current = layouts.read();
  if (!current) return current.error();
  const DefaultLayout usual = *current ? DefaultLayout() : default_of(layouts);
  if (usual.is_more) return apply_or_find(layouts, {.kind = Kind::set_default}, end);
  if (file) {
    const Result<std::int32_t> count = layouts.target_count();
    file = count ? std::optional(*file) : std::nullopt;
    if (file) file->osts = *count;
  }
  return apply_or_find(layouts, plan::step_for_one(*current, end, usual.striping, file), end);
}

/// Whether the last components of both layouts have the same stripe count and stripe size.
bool ends_as(const std::optional<plan::Layout>& layout, const plan::Layout& other) {
  if (!layout || layout->components.empty()) return false;
  const plan::Striping& here = layout->components.back().striping;
  const plan::Striping& there = other.components.back().striping;
  return here.stripe_count == there.stripe_count && here.stripe_size == there.stripe_size;
}

/// The progress of grow_for_all().
struct Growth {
  plan::ExpectedFile file;
  plan::GrowthRules rules;
  std::optional<plan::Layout> chosen = {};
  std::vector<std::string> reasons = {};
  bool is_new = false;
};

/// Gives up a layout of Nacre's choice for `reason`.
Result<Kind> grow_by_default(store::FileLayouts& layouts, Growth& growth, std::string reason) {
  growth.rules.replaces_unwritten = growth.rules.is_own = false;
  growth.reasons = {std::move(reason)};
  Status grown = grow_for_one(layouts, growth.file.bytes);
  return grown ? Result<Kind>(Kind::none) : std::move(grown).error();
}

/// Applies one step. Returns its kind if it set or added components of Nacre's choice, otherwise
/// Kind::none.
Result<Kind> grow_once(store::FileLayouts& layouts, Growth& growth) {
  const Result<std::optional<plan::Layout>> current = layouts.read();
  if (!current) return current.error();
  if (!*current) {
    growth.is_new = true;
    const DefaultLayout usual = default_of(layouts);
    growth.rules.default_striping = usual.striping;
    growth.rules.keeps_default = usual.is_more;
  }
  Result<plan::LayoutStep> step = plan::step_for_all(*current, growth.file, growth.rules);
  if (!step) return std::move(step).error();
  if (step->kind == Kind::none) return Kind::none;
  if (Status applied = apply(layouts, *step); !applied) {
    return grow_by_default(
        layouts, growth,
        std::move(applied).error().message + "; the chosen layout is not in force");
  }
  if (step->reasons.empty()) return step->kind == Kind::set ? Kind::set : Kind::none;
  // The new components are unwritten too, but must stay.
  growth.rules.replaces_unwritten = growth.rules.is_own = false;
  growth.reasons = std::move(step->reasons);
  growth.chosen = std::move(step->layout);
  return step->kind;
}

/// Whether a file of this size is laid out as a whole. Otherwise a longer write decides.
bool decides(const plan::ExpectedFile& file, const plan::GrowthRules& rules) {
  return rules.is_own && file.bytes > plan::head_bytes(file) && file.bytes >= rules.bytes_min;
}

}  // namespace

LayoutState state_of(const std::optional<plan::Layout>& layout, const plan::GrowthRules& rules) {
  if (!layout || plan::end_of(*layout) != plan::layout_end_of_file) return LayoutState::incomplete;
  const bool replaceable =
      (rules.replaces_unwritten || rules.is_own) && plan::unwritten_tail_count(*layout) > 0;
  return replaceable ? LayoutState::replaceable : LayoutState::settled;
}

Result<GrownLayout> grow_for_all(store::FileLayouts& layouts, const plan::ExpectedFile& file,
                                 const plan::GrowthRules& rules) {
  Growth growth{.file = file, .rules = rules};
  const Result<std::int32_t> count = layouts.target_count();
  growth.file.osts = count ? *count : 1;
  // If the OSTs are not known, nobody can say how wide a file may be.
  Result<Kind> grown =
      count ? grow_once(layouts, growth)
            : grow_by_default(layouts, growth,
                              count.error().message + "; the file gets the default layout");
  // The file system has filled in the default of the tail. Or another process set a layout first.
  if (grown && *grown == Kind::set) grown = grow_once(layouts, growth);
  if (!grown) return std::move(grown).error();
  Result<std::optional<plan::Layout>> now = layouts.read();
  if (!now) return std::move(now).error();
  const bool is_chosen = growth.chosen && ends_as(*now, *growth.chosen);
  if (growth.chosen && !is_chosen) {
    growth.reasons.emplace_back(
        "not in force: the file system refused it, or another process set a layout first");
  }
  if (decides(file, rules)) growth.rules.replaces_unwritten = growth.rules.is_own = false;
  if (state_of(*now, growth.rules) != LayoutState::settled) now->reset();
  GrownLayout result{.layout = *std::move(now),
                     .reasons = std::move(growth.reasons),
                     .is_new = growth.is_new,
                     .is_chosen = is_chosen};
  if (rules.is_own && result.layout) {
    result.widens_from = plan::widens_from(*result.layout, growth.file);
  }
  return result;
}

Result<GrownLayout> widen_after_write(store::FileLayouts& layouts, const plan::ExpectedFile& file) {
  plan::ExpectedFile expected = file;
  const Result<std::int32_t> count = layouts.target_count();
  if (count) expected.osts = *count;
  const Result<std::optional<plan::Layout>> current = layouts.read();
  if (!current) return current.error();
  GrownLayout result;
  if (*current) {
    plan::LayoutStep step = count ? plan::step_to_widen(**current, expected) : plan::LayoutStep();
    result.reasons = std::move(step.reasons);
    Status applied = count ? apply(layouts, step) : Status(count.error());
    const bool is_applied = applied.ok();
    if (!is_applied) {
      result.reasons = {std::move(applied).error().message + "; the layout does not widen"};
      Result<std::optional<plan::Layout>> left = layouts.read();
      if (!left) return std::move(left).error();
      if (Status whole = complete_layout(layouts, *std::move(left)); !whole) {
        return std::move(whole).error();
      }
    }
    auto now = layouts.read();
    if (!now) return std::move(now).error();
    result.layout = *std::move(now);
    if (is_applied && result.layout) {
      result.widens_from = plan::widens_from(*result.layout, expected);
    }
  }
  return result;
}

Status complete_layout(store::FileLayouts& layouts, std::optional<plan::Layout> current) {
  for (int i = 0; i < attempts; ++i) {
    const plan::LayoutStep step = plan::step_to_complete(current);
    if (step.kind == Kind::none) break;
    Status applied = apply_or_find(layouts, step, plan::layout_end_of_file);
    if (!applied) return applied;
    auto found = layouts.read();
    if (!found) return std::move(found).error();
    current = *std::move(found);
  }
  return {};
}

store::Transfer GrowingFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset) {
  store::Transfer done = ForwardingFile::write(pieces, offset);
  const std::int64_t bytes = store::total_bytes(pieces);
  const std::int64_t end = offset + bytes;
  for (int i = 0; i < attempts && done.error && layouts()->means_no_layout(*done.error); ++i) {
    std::optional<plan::ExpectedFile> file = expected_;
    // The other ranks probably write as much.
    if (file) file->bytes = std::max(end, saturating_multiply(bytes, std::int64_t{file->ranks}));
    if (Status grown = grow_for_one(*layouts(), end, file); !grown) {
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
