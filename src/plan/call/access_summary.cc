#include "plan/call/access_summary.h"

#include <algorithm>

#include "base/checked_cast.h"

namespace nacre::plan {

std::int64_t estimate_run_count(const TypeMap& type, std::int64_t byte_count) {
  if (type.is_contiguous()) return 1;
  const double copies = static_cast<double>(byte_count) / static_cast<double>(type.size());
  const double runs = copies * static_cast<double>(type.run_count());
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(runs), 1, byte_count);
}

std::int64_t AccessSummary::distinct_bytes() const {
  const bool have_same_bounds = rank_count > 1 && span_bytes / rank_count == bounds.length;
  return have_same_bounds ? bytes_max : bytes;
}

/// An indexed type takes 4 bytes or more per block.
static bool lists_runs(const TypeMap& type) {
  constexpr std::int64_t few_runs = 64;
  constexpr std::int64_t bytes_per_block_min = 4;
  return type.run_count() > few_runs &&
         type.footprint_bytes() >= bytes_per_block_min * type.run_count();
}

/// The gaps of an access with data. As estimate_run_count(), if it begins or ends inside a copy.
static void add_gaps(const FileAccess& access, AccessSummary& summary) {
  const TypeMap& type = access.view.type;
  if (type.is_contiguous()) return;
  const auto copies = static_cast<float>(access.byte_count) / static_cast<float>(type.size());
  const float between = std::max(0.0F, copies - 1);
  const std::int64_t gap = type.extent() - type.true_extent();
  const bool is_wide = gap > bridged_gap_bytes;
  const auto total = [&](std::int64_t of_copy, std::int64_t of_gap) {
    return copies * static_cast<float>(of_copy) + between * static_cast<float>(of_gap);
  };
  summary.wide_gap_count = total(type.wide_gap_count(), is_wide ? 1 : 0);
  summary.near_gap_bytes = total(type.near_gap_bytes(), is_wide || gap < 0 ? 0 : gap);
}

AccessSummary summarize(const FileAccess& access, const MemoryAccess& memory, std::int32_t node,
                        const StripeMap* stripes) {
  AccessSummary summary;
  summary.node = node;
  if (access.byte_count == 0) return summary;
  summary.bounds = bounds(access);
  summary.bytes = access.byte_count;
  summary.run_count = estimate_run_count(access.view.type, access.byte_count);
  summary.memory_run_count = estimate_run_count(memory.type, access.byte_count);
  summary.lists_runs = lists_runs(access.view.type);
  add_gaps(access, summary);
  summary.span_bytes = summary.bounds.length;
  summary.bytes_max = access.byte_count;
  summary.rank_count = 1;
  summary.monotone = access.view.type.tiles_monotone();
  summary.node_bounds = summary.bounds;
  summary.node_bytes = summary.bytes;
  if (stripes != nullptr) {
    const StripesTouched touched = stripes_touched(access, *stripes);
    summary.node_slots = touched.slots;
    summary.slots = touched.slots;
    summary.whole_pages = touched.whole_pages;
  }
  return summary;
}

/// `from` holds other nodes only if it is complete for its own.
static void fold_nodes(AccessSummary& into, const AccessSummary& from) {
  into.span_of_others = saturating_add(into.span_of_others, from.span_of_others);
  into.most_of_others = std::max(into.most_of_others, from.most_of_others);
  into.slots_of_others += from.slots_of_others;
  into.other_nodes += from.other_nodes;
  if (into.node < 0) into.node = from.node;
  if (from.node == into.node) {
    into.node_bounds = hull(into.node_bounds, from.node_bounds);
    into.node_bytes = saturating_add(into.node_bytes, from.node_bytes);
    into.node_slots |= from.node_slots;
  } else {
    into.span_of_others = saturating_add(into.span_of_others, from.node_bounds.length);
    into.most_of_others = std::max(into.most_of_others, from.node_bytes);
    into.slots_of_others += std::popcount(from.node_slots);
    if (from.node_bytes > 0) ++into.other_nodes;
  }
}

void fold(AccessSummary& into, const AccessSummary& from) {
  into.bounds = hull(into.bounds, from.bounds);
  into.bytes = saturating_add(into.bytes, from.bytes);
  into.run_count = saturating_add(into.run_count, from.run_count);
  into.memory_run_count = saturating_add(into.memory_run_count, from.memory_run_count);
  into.wide_gap_count += from.wide_gap_count;
  into.near_gap_bytes += from.near_gap_bytes;
  into.span_bytes = saturating_add(into.span_bytes, from.span_bytes);
  into.bytes_max = std::max(into.bytes_max, from.bytes_max);
  into.rank_count += from.rank_count;
  into.monotone = into.monotone && from.monotone;
  into.slots |= from.slots;
  into.whole_pages = into.whole_pages && from.whole_pages;
  into.lists_runs = into.lists_runs || from.lists_runs;
  fold_nodes(into, from);
}

}  // namespace nacre::plan
