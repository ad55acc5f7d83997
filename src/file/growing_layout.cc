#include "file/growing_layout.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "plan/lov_codec.h"
#include "store/pieces.h"

namespace nacre::file {
namespace {

using Kind = plan::LayoutStep::Kind;

Result<std::optional<plan::Layout>> current_layout(store::FileLayouts& layouts) {
  const Result<std::vector<std::byte>> bytes = layouts.read();
  if (!bytes) return bytes.error();
  if (bytes->empty()) return std::optional<plan::Layout>();
  Result<plan::Layout> layout = plan::decode_lov(*bytes);
  if (!layout) return std::move(layout).error();
  return std::optional(*std::move(layout));
}

Status take(store::FileLayouts& layouts, const plan::LayoutStep& step) {
  if (step.kind == Kind::none) return {};
  if (step.kind == Kind::set_default) return layouts.set_default();
  if (step.removes_unwritten) {
    // The file system itself sees which these are: one may be written to at this moment.
    const Result<std::vector<std::byte>> unwritten = plan::encode_lov(plan::all_unwritten());
    if (!unwritten) return unwritten.error();
    if (Status removed = layouts.remove(*unwritten); !removed) return removed;
  }
  const Result<std::vector<std::byte>> bytes = plan::encode_lov(step.layout);
  if (!bytes) return bytes.error();
  return step.kind == Kind::set ? layouts.set(*bytes) : layouts.add(*bytes);
}

/// What another process has done meanwhile is as good.
Status take_or_find(store::FileLayouts& layouts, const plan::LayoutStep& step, std::int64_t end) {
  Status taken = take(layouts, step);
  if (taken) return taken;
  const auto found = current_layout(layouts);
  const bool is_there = found && found.value().has_value() && plan::end_of(**found) >= end;
  return is_there ? Status() : taken;
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
  Result<plan::LayoutStep> step = step_before(layouts, file, rules);
  if (!step) return std::move(step).error();
  GrownLayout grown;
  Status taken = take(layouts, *step);
  if (taken) {
    grown.reasons = std::move(step->reasons);
  } else {
    grown.reasons = {std::move(taken).error().message + "; the file has another one"};
    Status other = grow_for_one(layouts, file.bytes);
    if (!other) return std::move(other).error();
  }
  Result<std::vector<std::byte>> now = layouts.read();
  if (!now) return std::move(now).error();
  // What was chosen now has nothing written to it either, and stays.
  const plan::GrowthRules left = grown.reasons.empty() ? rules : plan::GrowthRules();
  if (state_of(*now, left) == LayoutState::settled) grown.layout = *std::move(now);
  return grown;
}

Status complete_layout(store::FileLayouts& layouts) {
  const auto current = current_layout(layouts);
  if (!current) return current.error();
  return take_or_find(layouts, plan::step_to_complete(*current), plan::layout_end_of_file);
}

store::Transfer GrowingFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset) {
  // Others may take it away or put it there meanwhile, but not for ever.
  constexpr int attempts = 3;
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
