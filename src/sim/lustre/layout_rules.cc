#include "sim/lustre/layout_rules.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/checked_cast.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_map.h"
#include "sim/lustre/errno_result.h"

namespace nacre::sim {
namespace {

constexpr std::size_t blob_bytes_min = 32;
/// FID sequence of the objects of OST 0. Like in Lustre, each OST has its own sequence.
constexpr std::uint64_t first_sequence = 0x240000400;

/// Whether the blob starts with the two bytes that all versions of the format have in common.
bool has_magic(std::span<const std::byte> blob) {
  return blob[0] == std::byte{0xd0} && blob[1] == std::byte{0x0b};
}

Status fill_in(plan::LayoutComponent& component, const StripingDefaults& defaults) {
  plan::Striping& striping = component.striping;
  component.flags = 0;
  if (!striping.lists_osts) striping.objects.clear();
  const auto is_absent = [&](const plan::OstObject& one) { return one.ost >= defaults.ost_count; };
  if (std::ranges::any_of(striping.objects, is_absent)) return refused(EINVAL);
  if (striping.pattern == plan::StripePattern::mdt) {
    striping.stripe_size = component.end;
    return {};
  }
  if (striping.released || striping.stripe_size % plan::stripe_size_unit != 0) {
    return refused(EINVAL);
  }
  const bool has_end = component.end != plan::layout_end_of_file;
  if (has_end && striping.stripe_size != 0 && component.end % striping.stripe_size != 0) {
    return refused(EINVAL);
  }
  if (striping.first_ost && *striping.first_ost >= defaults.ost_count) return refused(EINVAL);
  if (striping.stripe_size == 0) striping.stripe_size = defaults.stripe_size;
  if (striping.stripe_count == 0) striping.stripe_count = defaults.stripe_count;
  const bool is_number = !plan::stands_for_osts(striping.stripe_count);
  if (is_number && striping.stripe_count > plan::stripe_count_max) return refused(EINVAL);
  return {};
}

/// Checks the components from index `first` on, and fills in their ids and defaults.
Status fill_in_components(plan::Layout& layout, std::size_t first,
                          const StripingDefaults& defaults) {
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < layout.components.size(); ++i) {
    plan::LayoutComponent& component = layout.components[i];
    id = std::max(id, component.id);
    if (i < first) continue;
    const std::int64_t begin = i == 0 ? 0 : layout.components[i - 1].end;
    const bool is_component = !component.extends() && component.mirror() == 0;
    if (!is_component || component.begin != begin || component.end <= begin) {
      return refused(EINVAL);
    }
    if (layout.is_composite) component.id = ++id;
    if (Status filled = fill_in(component, defaults); !filled) return filled;
  }
  return {};
}

}  // namespace

Result<plan::Layout> layout_in(std::span<const std::byte> blob) {
  if (blob.size() < blob_bytes_min || !has_magic(blob)) return refused(ERANGE);
  Result<plan::Layout> layout = plan::decode_lov(blob);
  if (!layout) return refused(EINVAL);
  if (layout->foreign || layout->components.empty() || plan::is_redundant(*layout)) {
    return refused(EINVAL);
  }
  // In a plain layout, Lustre's client takes a first OST of 0 as "any OST".
  plan::Striping& first = layout->components.front().striping;
  if (!layout->is_composite && first.first_ost == 0) first.first_ost.reset();
  return layout;
}

Result<plan::Layout> layout_for_file(plan::Layout asked, const StripingDefaults& defaults) {
  asked.generation = asked.is_composite ? 1 : 0;
  for (plan::LayoutComponent& component : asked.components) component.id = 0;
  if (Status filled = fill_in_components(asked, 0, defaults); !filled) return filled.error();
  return asked;
}

Status add_components(plan::Layout& layout, plan::Layout more, const StripingDefaults& defaults) {
  if (!layout.is_composite || !more.is_composite) return refused(EINVAL);
  plan::Layout grown = layout;
  for (plan::LayoutComponent& component : more.components) {
    component.id = 0;
    grown.components.push_back(std::move(component));
  }
  ++grown.generation;
  Status filled = fill_in_components(grown, layout.components.size(), defaults);
  if (filled) layout = std::move(grown);
  return filled;
}

Result<std::vector<plan::LayoutComponent>> delete_components(plan::Layout& layout,
                                                             const plan::Layout& which) {
  constexpr std::uint32_t without_objects = plan::component_negated | plan::component_instantiated;
  if (!layout.is_composite || which.components.size() != 1) return refused(EINVAL);
  const plan::LayoutComponent& asked = which.components.front();
  const bool by_flags =
      asked.flags == plan::component_instantiated || asked.flags == without_objects;
  if ((asked.id != 0) == by_flags) return refused(EINVAL);
  const auto is_deleted = [&](const plan::LayoutComponent& one) {
    if (!by_flags) return one.id == asked.id;
    return one.is_instantiated() == (asked.flags == plan::component_instantiated);
  };
  const auto first = std::ranges::find_if(layout.components, is_deleted);
  const bool is_tail = std::all_of(first, layout.components.end(), is_deleted);
  if (first == layout.components.end() || first == layout.components.begin() || !is_tail) {
    return refused(EINVAL);
  }
  const std::vector<plan::LayoutComponent> deleted(first, layout.components.end());
  layout.components.erase(first, layout.components.end());
  ++layout.generation;
  return deleted;
}

void ObjectAllocator::set_refusing(std::int32_t ost, bool refuses) {
  if (refuses) {
    refusing_.insert(ost);
  } else {
    refusing_.erase(ost);
  }
}

std::vector<std::int32_t> ObjectAllocator::usable_osts_from(std::int32_t first) const {
  std::vector<std::int32_t> osts;
  for (std::int32_t i = 0; i < ost_count_; ++i) {
    const std::int32_t ost = (first + i) % ost_count_;
    if (!refusing_.contains(ost)) osts.push_back(ost);
  }
  return osts;
}

Status ObjectAllocator::instantiate(plan::LayoutComponent& component) {
  plan::Striping& striping = component.striping;
  const auto refuses = [&](const plan::OstObject& one) { return refusing_.contains(one.ost); };
  if (std::ranges::any_of(striping.objects, refuses)) return refused(EREMOTEIO);
  const bool is_on_mdt = striping.pattern == plan::StripePattern::mdt;
  striping.stripe_count = plan::stripe_count_over(striping, ost_count_);
  if (striping.stripe_count <= ost_count_) striping.overstriped = false;
  const std::vector<plan::OstObject> listed = std::exchange(striping.objects, {});
  if (std::exchange(striping.lists_osts, false) && striping.pool == "") striping.pool.reset();
  const std::vector<std::int32_t> usable = usable_osts_from(striping.first_ost.value_or(next_ost_));
  if (usable.empty() && !is_on_mdt) return refused(ENOSPC);
  const auto usable_count = checked_cast<std::int32_t>(usable.size());
  if (listed.empty() && !striping.overstriped) {
    striping.stripe_count = std::min(striping.stripe_count, usable_count);
  }
  for (std::int32_t slot = 0; slot < striping.stripe_count && !is_on_mdt; ++slot) {
    plan::OstObject object;
    object.ost = listed.empty() ? usable[static_cast<std::size_t>(slot % usable_count)]
                                : listed[static_cast<std::size_t>(slot)].ost;
    object.sequence = first_sequence + static_cast<std::uint64_t>(object.ost);
    object.object_id = next_object_++;
    striping.objects.push_back(object);
  }
  if (!is_on_mdt && listed.empty()) next_ost_ = (striping.objects.back().ost + 1) % ost_count_;
  component.flags |= plan::component_instantiated;
  return {};
}

Result<bool> instantiate(plan::Layout& layout, const Extent& extent, ObjectAllocator& allocator) {
  if (extent.end() > layout.components.back().end) return refused(ENODATA);
  bool changed = false;
  for (plan::LayoutComponent& component : layout.components) {
    const Extent whole{component.begin, component.end - component.begin};
    if (component.is_instantiated() || intersection(whole, extent).empty()) continue;
    if (Status made = allocator.instantiate(component); !made) return std::move(made).error();
    if (layout.is_composite) component.generation = ++layout.generation;
    changed = true;
  }
  return changed;
}

}  // namespace nacre::sim
