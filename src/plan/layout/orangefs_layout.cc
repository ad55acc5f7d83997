#include "plan/layout/orangefs_layout.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

using Bytes = std::span<const std::byte>;

// Numbers are little-endian, as on all machines that Nacre supports.
constexpr std::size_t length_bytes = sizeof(std::uint32_t);
constexpr std::size_t handle_bytes = sizeof(std::uint64_t);

Error orangefs_error(const std::string& what) {
  return Error{ErrorClass::file, 0, "layout (system.pvfs2.md, system.pvfs2.dh): " + what};
}

/// The name of a distribution, and the bytes of its parameters. The name has its length before it
/// and a zero byte behind it, and is padded to a multiple of 8 bytes.
Result<std::pair<std::string_view, Bytes>> parts_of(Bytes distribution) {
  std::uint32_t length = 0;
  if (distribution.size() >= length_bytes) {
    std::memcpy(&length, distribution.data(), length_bytes);
  }
  const std::size_t end = (length_bytes + length + 1 + 7) / 8 * 8;
  if (length == 0 || end > distribution.size()) {
    return orangefs_error("the distribution has no name in its " +
                          std::to_string(distribution.size()) + " bytes");
  }
  // chars may be looked at as bytes, and bytes as chars.
  const auto* const name =
      reinterpret_cast<const char*>(distribution.subspan(length_bytes).data());  // NOLINT
  return std::pair{std::string_view(name, length), distribution.subspan(end)};
}

Result<std::int64_t> strip_size_in(Bytes parameters) {
  std::int64_t size = 0;
  if (parameters.size() >= sizeof size) std::memcpy(&size, parameters.data(), sizeof size);
  if (size >= 1 && size <= stripe_size_max) return size;
  return orangefs_error("strip_size " + std::to_string(size) + " is not from 1 to " +
                        std::to_string(stripe_size_max));
}

}  // namespace

Result<Layout> decode_orangefs_layout(Bytes distribution, Bytes handles) {
  const auto parts = parts_of(distribution);
  if (!parts) return parts.error();
  const auto& [name, parameters] = *parts;
  const std::size_t count = handles.size() / handle_bytes;
  if (count < 1 || count > std::size_t{stripe_count_max} || handles.size() % handle_bytes != 0) {
    return orangefs_error(std::to_string(handles.size()) + " bytes are not the handles of 1 to " +
                          std::to_string(stripe_count_max) + " data files");
  }
  const bool is_whole = name == "basic_dist";
  if (!is_whole && name != "simple_stripe") {
    return orangefs_error("this version of Nacre does not know the distribution " +
                          std::string(name));
  }
  const Result<std::int64_t> strip = is_whole ? stripe_size_unit : strip_size_in(parameters);
  if (!strip) return strip.error();
  Striping striping{.stripe_size = *strip,
                    .stripe_count = is_whole ? 1 : checked_cast<std::int32_t>(count)};
  for (std::int32_t i = 0; i < striping.stripe_count; ++i) striping.objects.push_back({.ost = i});
  return plain_layout(std::move(striping));
}

}  // namespace nacre::plan
