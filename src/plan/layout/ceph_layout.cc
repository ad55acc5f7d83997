#include "plan/layout/ceph_layout.h"

#include <algorithm>
#include <optional>

#include "base/checked_cast.h"
#include "base/parse_number.h"
#include "base/rounding.h"
#include "base/split.h"

namespace nacre::plan {
namespace {

Error ceph_layout_error(std::string_view text, const std::string& what) {
  return Error{ErrorClass::file, 0,
               "layout (ceph.file.layout) \"" + std::string(text) + "\": " + what};
}

/// The value of `key`; nothing if there is none.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  for (const std::string_view word : split_filled(text, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == key.size() && word.starts_with(key)) return word.substr(equals + 1);
  }
  return std::nullopt;
}

/// A number from 1 to `maximum`.
Result<std::int64_t> number_of(std::string_view text, std::string_view key, std::int64_t maximum) {
  const auto value = value_of(text, key);
  const auto number = value ? parse_number<std::int64_t>(*value) : std::nullopt;
  if (number && *number >= 1 && *number <= maximum) return *number;
  return ceph_layout_error(
      text, std::string(key) + " is missing, or not from 1 to " + std::to_string(maximum));
}

void add(std::string& text, std::string_view key, const std::string& value) {
  if (!text.empty()) text += ' ';
  text += std::string(key) + '=' + value;
}

/// The longest multiple of the stripe size up to `usual`, at least one stripe.
std::int64_t object_size_for(std::int64_t stripe_size, std::int64_t usual) {
  return std::max(stripe_size, round_down(usual, stripe_size));
}

}  // namespace

bool is_ceph_layout(const Layout& layout) {
  return layout.components.size() == 1 && layout.components.front().striping.object_size != 0;
}

Result<Layout> parse_ceph_layout(std::string_view text) {
  // A longer count would stand for all OSTs.
  constexpr std::int64_t count_max = stripes_on_all_osts - stripes_on_ost_max;
  constexpr std::int64_t size_max = std::int64_t{1} << 32;
  const Result<std::int64_t> unit = number_of(text, "stripe_unit", size_max);
  if (!unit) return unit.error();
  const Result<std::int64_t> count = number_of(text, "stripe_count", count_max);
  if (!count) return count.error();
  const Result<std::int64_t> object = number_of(text, "object_size", size_max);
  if (!object) return object.error();
  if (*object % *unit != 0) {
    return ceph_layout_error(text, "the object size is no multiple of the stripe unit");
  }
  Striping striping{.stripe_size = *unit,
                    .object_size = *object,
                    .stripe_count = checked_cast<std::int32_t>(*count)};
  if (const auto pool = value_of(text, "pool")) striping.pool = std::string(*pool);
  return plain_layout(std::move(striping));
}

std::string ceph_layout_text(const Layout& layout) {
  const Striping& striping = layout.components.front().striping;
  std::string text;
  add(text, "stripe_unit", std::to_string(striping.stripe_size));
  add(text, "stripe_count", std::to_string(striping.stripe_count));
  add(text, "object_size", std::to_string(striping.object_size));
  if (striping.pool) add(text, "pool", *striping.pool);
  return text;
}

std::string ceph_layout_request(const Layout& asked, const Layout& current) {
  const Striping& want = asked.components.back().striping;
  const Striping& has = current.components.back().striping;
  std::string text;
  if (want.stripe_size != 0) {
    const std::int64_t unit = std::min(want.stripe_size, ceph_object_size_max);
    const std::int64_t object = object_size_for(unit, has.object_size);
    add(text, "stripe_unit", std::to_string(unit));
    if (object != has.object_size) add(text, "object_size", std::to_string(object));
  }
  if (want.stripe_count != 0 && !stands_for_osts(want.stripe_count)) {
    add(text, "stripe_count", std::to_string(want.stripe_count));
  }
  if (want.pool && !want.pool->empty()) add(text, "pool", *want.pool);
  return text;
}

}  // namespace nacre::plan
