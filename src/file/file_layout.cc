#include "file/file_layout.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "plan/lov_codec.h"
#include "plan/stripe_options.h"

namespace nacre::file {
namespace {

constexpr const char* played_variable = "NACRE_TEST_LAYOUT";

/// What it says; empty: nothing is played.
std::string_view played_options() {
  const char* const options = std::getenv(played_variable);
  return options == nullptr ? "" : options;
}

/// Nothing is asked of the file system: one more than the OSTs that the layout names.
std::int32_t ost_count_of(const plan::Layout& layout) {
  std::int32_t count = 1;
  for (const plan::LayoutComponent& component : layout.components) {
    for (const plan::OstObject& object : component.striping.objects) {
      count = std::max(count, object.ost + 1);
    }
  }
  return count;
}

/// Small files, as tests have them, go through as many stripes as large ones do.
void scale_down(plan::Layout& layout) {
  constexpr std::int64_t scale = 1024;
  for (plan::LayoutComponent& component : layout.components) {
    component.begin /= scale;
    if (component.end != plan::layout_end_of_file) component.end /= scale;
    component.striping.stripe_size /= scale;
  }
}

Result<std::vector<std::byte>> played_layout() {
  Result<plan::Layout> layout = plan::parse_stripe_options(played_options());
  if (layout) {
    scale_down(*layout);
    return plan::encode_lov(*layout);
  }
  Error error = std::move(layout).error();
  error.message = std::string(played_variable) + ": " + error.message;
  return error;
}

}  // namespace

bool plays_layout() { return !played_options().empty(); }

Result<std::vector<std::byte>> find_layout(store::StoreFile& file,
                                           const store::FileSystemTraits& file_system) {
  const bool plays = plays_layout();
  if (!plays && !file_system.has_layouts) return std::vector<std::byte>();
  Result<std::vector<std::byte>> bytes = plays ? played_layout() : file.layouts()->read();
  if (!bytes) return bytes;
  const auto stripes = stripes_of(*bytes);
  if (!stripes) return stripes.error();
  return bytes;
}

Result<std::shared_ptr<const plan::StripeMap>> stripes_of(std::span<const std::byte> layout) {
  if (layout.empty()) return std::shared_ptr<const plan::StripeMap>();
  const Result<plan::Layout> decoded = plan::decode_lov(layout);
  if (!decoded) return decoded.error();
  Result<plan::StripeMap> map = plan::StripeMap::of(*decoded, ost_count_of(*decoded));
  if (!map) return std::move(map).error();
  return std::make_shared<const plan::StripeMap>(*std::move(map));
}

}  // namespace nacre::file
