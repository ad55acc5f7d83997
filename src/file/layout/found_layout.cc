#include "file/layout/found_layout.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "plan/layout/stripe_options.h"

namespace nacre::file {
namespace {

constexpr const char* simulation_variable = "NACRE_TEST_LAYOUT";

/// Its value; empty: no layout is simulated.
std::string_view simulated_options() {
  const char* const options = std::getenv(simulation_variable);
  return options == nullptr ? "" : options;
}

/// A number of OSTs for StripeMap: one more than the highest OST index in the layout.
std::int32_t ost_count_of(const plan::Layout& layout) {
  std::int32_t count = 1;
  for (const plan::LayoutComponent& component : layout.components) {
    for (const plan::OstObject& object : component.striping.objects) {
      count = std::max(count, object.ost + 1);
    }
  }
  return count;
}

/// Sets the stripe counts of components that have no objects yet.
void resolve_counts(plan::Layout& layout, std::int32_t ost_count) {
  for (plan::LayoutComponent& component : layout.components) {
    plan::Striping& striping = component.striping;
    if (!striping.objects.empty()) continue;
    striping.stripe_count = plan::stripe_count_over(striping, ost_count);
  }
}

/// Divides sizes by 1024, so that the small files of tests have as many stripes as large files.
void scale_down(plan::Layout& layout) {
  constexpr std::int64_t scale = 1024;
  for (plan::LayoutComponent& component : layout.components) {
    component.begin /= scale;
    if (component.end != plan::layout_end_of_file) component.end /= scale;
    component.striping.stripe_size /= scale;
  }
}

Result<std::optional<plan::Layout>> simulated_layout() {
  Result<plan::Layout> layout = plan::parse_stripe_options(simulated_options());
  if (layout) {
    scale_down(*layout);
    return std::optional(*std::move(layout));
  }
  Error error = std::move(layout).error();
  error.message = std::string(simulation_variable) + ": " + error.message;
  return error;
}

}  // namespace

bool simulates_layout() { return !simulated_options().empty(); }

Result<std::optional<plan::Layout>> find_layout(store::StoreFile& file,
                                                const store::FileSystemFacts& file_system) {
  store::FileLayouts* const layouts = file_system.has_layouts ? file.layouts() : nullptr;
  if (!simulates_layout() && layouts == nullptr) return std::optional<plan::Layout>();
  Result<std::optional<plan::Layout>> found =
      simulates_layout() ? simulated_layout() : layouts->read();
  return found ? usable_layout(*std::move(found), simulates_layout() ? nullptr : layouts) : found;
}

Result<std::optional<plan::Layout>> usable_layout(std::optional<plan::Layout> layout,
                                                  store::FileLayouts* layouts) {
  if (!layout) return layout;
  const bool has_uninstantiated = std::ranges::any_of(
      layout->components,
      [](const plan::LayoutComponent& one) { return one.striping.objects.empty(); });
  if (layouts != nullptr && has_uninstantiated) {
    const Result<std::int32_t> ost_count = layouts->target_count();
    if (ost_count) resolve_counts(*layout, *ost_count);
  }
  const auto stripes = stripes_of(*layout);
  if (!stripes) return stripes.error();
  return layout;
}

Result<std::shared_ptr<const plan::StripeMap>> stripes_of(const plan::Layout& layout) {
  Result<plan::StripeMap> map = plan::StripeMap::of(layout, ost_count_of(layout));
  if (!map) return std::move(map).error();
  return std::make_shared<const plan::StripeMap>(*std::move(map));
}

}  // namespace nacre::file
