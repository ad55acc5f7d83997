#include "plan/layout/layout_codec.h"

#include <string>
#include <string_view>

#include "plan/layout/ceph_layout.h"
#include "plan/layout/lov_codec.h"

namespace nacre::plan {

Result<Layout> decode_layout(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with("stripe_unit=") ? parse_ceph_layout(text) : decode_lov(bytes);
}

Result<std::vector<std::byte>> encode_layout(const Layout& layout) {
  if (!is_ceph_layout(layout)) return encode_lov(layout);
  const std::string text = ceph_layout_text(layout);
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

}  // namespace nacre::plan
