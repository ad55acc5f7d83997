#include "file/growing_layout.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "plan/layout/lov_codec.h"
#include "store/pieces.h"

namespace nacre::file {
namespace {

using Kind = plan::LayoutStep::Kind;

// Others may take a layout away or put it there meanwhile, but not for ever.
constexpr int attempts = 3;

Result<std::optional<plan::Layout>> current_layout(store::FileLayouts& layouts) {
  const Result<std::vector<std::byte>> bytes = layouts.read();
  if (!bytes) return bytes.error();
  if (bytes->empty()) return std::optional<plan::Layout>();
  Result<plan::Layout> layout = plan::decode_lov(*bytes);
  if (!layout) return std::move(layout).error();
  return std::optional(*std::move(layout));
}

Status set(store::FileLayouts& layouts, const plan::Layout& layout) {
  const Result<std::vector<std::byte>> bytes = plan::encode_lov(layout);
  return bytes ? layouts.set(*bytes) : bytes.error();
}

/// Not by opening the file once more: where this node has it open for writing already, Lustre's
/// servers never hear of that.
Status set_default(store::FileLayouts& layouts) {
  const Result<std::vector<std::byte>> inherited = layouts.inherited();
  if (inherited && !inherited->empty() && layouts.set(*inherited)) return {};
  return set(layouts, plan::plain_layout({}));
}

Status add(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  const Result<std::vector<std::byte>> bytes = plan::encode_lov(step.layout);
  if (!bytes) return bytes.error();
  if (step.removes_unwritten) {
    // The file system itself sees which these are: one may be written to at this moment.
    const Result<std::vector<std::byte>> unwritten = plan::encode_lov(plan::all_unwritten());
    if (!unwritten) return unwritten.error();
    if (Status removed = layouts.remove(*unwritten); !removed) return removed;
  }
  return layouts.add(*bytes);
}

Status take(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  switch (step.kind) {
    case Kind::set:
      return set(layouts, step.layout);
    case Kind::add:
      return add(layouts, step);
    case Kind::set_default:
      return set_default(layouts);
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
  auto found = current_layout(layouts);
  if (found && !found->has_value()) {
    if (step.kind != Kind::set_default) taken = set_default(layouts);
    found = current_layout(layouts);
  }
  if (found && found->has_value() && plan::end_of(**found) >= end) return {};
  if (!taken) return taken;
  if (!found) return found.error();
  if (found->has_value()) return {};
  return Error{ErrorClass::io, 0, "a layout was set, and the file has none"};
}

Result<plan::LayoutStep> step_before(store::FileLayouts& layouts, plan::ExpectedFile file,
                                     const plan::GrowthRules& rules) {
  const auto current = current_layout(layouts);
  if (!current) return current.error();
  if (const Result<std::int32_t> count = layouts.target_count()) file.osts = *count;
  return plan::step_for_all(*current, file, rules);
}

/// Of a write that failed for want of a layout: gives the file one as far as `end`.
Status grow_for_one(store::FileLayouts& layouts, std::int64_t end) {
  const auto current = current_layout(layouts);
  if (!current) return current.error();
  return take_or_find(layouts, plan::step_for_one(*current, end), end);
}

/// Whether the layout in such bytes has as many stripes at its end as the other, and as large ones.
bool ends_as(std::span<const std::byte> layout, const plan::Layout& other) {
  const Result<plan::Layout> decoded = plan::decode_lov(layout);
  if (!decoded || decoded->components.empty()) return false;
  const plan::Striping& here = decoded->components.back().striping;
  const plan::Striping& there = other.components.back().striping;
  return here.stripe_count == there.stripe_count && here.stripe_size == there.stripe_size;
}

/// How Lustre says that there is no layout, or that it ends before what is written.
bool lacks_layout(const std::optional<Error>& error) {
  return error && (error->system_errno == EBADF || error->system_errno == ENODATA);
}

}  // namespace

LayoutState state_of(std::span<const std::byte> layout, const plan::GrowthRules& rules) {
  if (layout.empty()) return LayoutState::incomplete;
  const Result<plan::Layout> decoded = plan::decode_lov(layout);
  if (!decoded) return LayoutState::settled;
  if (plan::end_of(*decoded) != plan::layout_end_of_file) return LayoutState::incomplete;
  const bool may_give_way = rules.replaces_unwritten && plan::unwritten_tail_count(*decoded) > 0;
  return may_give_way ? LayoutState::may_give_way : LayoutState::settled;
}

Result<GrownLayout> grow_for_all(store::FileLayouts& layouts, const plan::ExpectedFile& file,
                                 const plan::GrowthRules& rules) {
  GrownLayout grown;
  plan::GrowthRules left = rules;
  std::optional<plan::Layout> chosen;
  // Twice where another process is first, with no more than a head.
  for (const bool is_first : {true, false}) {
    Result<plan::LayoutStep> step = step_before(layouts, file, left);
    if (!step) return std::move(step).error();
    if (step->kind == Kind::none) break;
    if (Status taken = take(layouts, *step); !taken) {
      left.replaces_unwritten = false;
      grown.reasons = {std::move(taken).error().message + "; the file has another one"};
      Status other = grow_for_one(layouts, file.bytes);
      if (!other) return std::move(other).error();
      break;
    }
    if (step->reasons.empty()) break;
    // Nothing is written to it either, and it stays.
    left.replaces_unwritten = false;
    grown.reasons = std::move(step->reasons);
    chosen = std::move(step->layout);
    if (!is_first || step->kind != Kind::set) break;
  }
  Result<std::vector<std::byte>> now = layouts.read();
  if (!now) return std::move(now).error();
  if (chosen && !ends_as(*now, *chosen)) {
    grown.reasons.emplace_back(
        "the file has another one: it could not be had, or others were first");
  }
  if (state_of(*now, left) == LayoutState::settled) grown.layout = *std::move(now);
  return grown;
}

Status complete_layout(store::FileLayouts& layouts) {
  Status taken;
  for (int i = 0; i < attempts && taken; ++i) {
    const auto current = current_layout(layouts);
    if (!current) return current.error();
    const plan::LayoutStep step = plan::step_to_complete(*current);
    if (step.kind == Kind::none) break;
    taken = take_or_find(layouts, step, plan::layout_end_of_file);
  }
  return taken;
}

store::Transfer GrowingFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset) {
  store::Transfer done = ForwardingFile::write(pieces, offset);
  const std::int64_t end = offset + store::total_bytes(pieces);
  for (int i = 0; i < attempts && lacks_layout(done.error); ++i) {
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
