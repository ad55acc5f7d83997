#include "plan/layout/layout_yaml.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hexadecimal.h"
#include "plan/layout/ceph_layout.h"

namespace nacre::plan {
namespace {

struct FlagName {
  std::uint32_t flags;
  std::string_view name;
};
/// In the order in which lfs prints them.
constexpr std::array flag_names{
    FlagName{component_instantiated, "init"},
    FlagName{component_stale, "stale"},
    FlagName{component_preferred_read | component_preferred_write, "prefer"},
    FlagName{component_preferred_read, "prefrd"},
    FlagName{component_preferred_write, "prefwr"},
    FlagName{component_offline, "offline"},
    FlagName{component_nosync, "nosync"},
    FlagName{component_extension, "extension"},
    FlagName{component_parity, "parity"},
    FlagName{component_compressed, "compress"},
    FlagName{component_partial, "partial"},
    FlagName{component_not_compressed, "nocompr"},
};

std::string hex(std::uint64_t number) { return "0x" + short_hexadecimal(number); }

/// Flags without a name are one number.
std::string flags_text(std::uint32_t flags) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!text.empty()) text += ',';
    text += word;
  };
  for (const FlagName& one : flag_names) {
    if ((flags & one.flags) != one.flags) continue;
    add(one.name);
    flags &= ~one.flags;
  }
  if (flags != 0) add(hex(flags));
  return text.empty() ? "0" : text;
}

std::string pattern_text(const Striping& striping) {
  std::string text = striping.pattern == StripePattern::mdt ? "mdt" : "raid0";
  if (striping.parity) text += ",parity";
  if (striping.overstriped) text += ",overstriped";
  if (striping.released) text += ",released";
  return text;
}

/// Appends lines "key: value" with the values in one column.
class Lines {
 public:
  /// The values begin `column` letters after the indent.
  Lines(std::string& text, int indent, std::size_t column)
      : text_(text), indent_(indent, ' '), column_(column) {}

  void add(std::string_view key, std::string_view value) {
    std::string line = indent_ + std::string(key) + ':';
    line.resize(std::max(line.size() + 1, indent_.size() + column_), ' ');
    text_ += line + std::string(value) + '\n';
  }
  void add(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void open(std::string_view key) { text_ += indent_ + std::string(key) + ":\n"; }

 private:
  std::string& text_;
  std::string indent_;
  std::size_t column_;
};

/// The first OST of a file, or the one that a default layout requests.
std::int64_t first_ost(const Striping& striping, bool in_default) {
  if (!in_default && !striping.objects.empty()) return striping.objects.front().ost;
  return striping.first_ost.value_or(-1);
}

/// The number by which lfs prints an object that a list only requests: its OST is in the sequence.
std::uint64_t sequence_of(const OstObject& object, bool is_requested) {
  constexpr std::uint64_t first_sequence = std::uint64_t{1} << 32;
  return is_requested ? first_sequence + (static_cast<std::uint64_t>(object.ost) << 16)
                      : object.sequence;
}

void add_objects(std::string& text, const Striping& striping) {
  for (const OstObject& object : striping.objects) {
    text += "      - l_ost_idx: " + std::to_string(object.ost) +
            "\n        l_fid:     " + hex(sequence_of(object, striping.lists_osts)) + ':' +
            hex(object.object_id) + ':' + hex(object.version) + '\n';
  }
}

/// What a record of a striping belongs to.
struct Place {
  int indent = 0;
  bool in_default = false;  ///< a default layout: other keys than those of a file
  bool extends = false;     ///< LayoutComponent::extends()
};

constexpr std::size_t striping_column = 19;

void add_striping(std::string& text, const Striping& striping, const Place& place) {
  const std::string prefix = place.in_default ? "" : "lmm_";
  constexpr std::size_t longest_prefix = 4;
  Lines lines(text, place.indent, striping_column - longest_prefix + prefix.size());
  const auto key = [&](std::string_view name) { return prefix + std::string(name); };
  lines.add(key("stripe_count"), place.extends ? 0 : stripe_count_in_words(striping.stripe_count));
  lines.add(key(place.extends ? "extension_size" : "stripe_size"), striping.stripe_size);
  lines.add(key("pattern"), pattern_text(striping));
  if (!place.in_default) lines.add(key("layout_gen"), 0);  // the xattr does not tell
  if (striping.pattern == StripePattern::mdt) {
    lines.add(key("mdt_index"), place.in_default ? -1 : 0);
  } else {
    lines.add(key("stripe_offset"), first_ost(striping, place.in_default));
  }
  if (striping.pool && !striping.pool->empty()) lines.add(key("pool"), *striping.pool);
  if (striping.objects.empty()) return;
  lines.open("lmm_objects");
  add_objects(text, striping);
}

/// In quotes; letters that do not print become dots.
std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char letter : value) {
    const bool prints = letter >= ' ' && letter <= '~';
    text += prints ? letter : '.';
    if (letter == '\'') text += letter;
  }
  return text + '\'';
}

std::string end_text(std::int64_t end) {
  return end == layout_end_of_file ? "EOF" : std::to_string(end);
}

void add_component(std::string& text, const LayoutComponent& component) {
  constexpr std::size_t column = 21;
  constexpr std::string_view none = "N/A";
  // Components of default layouts have no numbers.
  const bool in_default = component.id == 0;
  text += "  - lcme_id:             " +
          (in_default ? std::string(none) : std::to_string(component.id)) + '\n';
  Lines lines(text, 4, column);
  lines.add("lcme_mirror_id", in_default ? std::string(none) : std::to_string(component.mirror()));
  lines.add("lcme_flags", flags_text(component.flags));
  if (component.linked_mirror != 0) {
    lines.add("lcme_mirror_link_id", hex(component.linked_mirror));
  }
  if ((component.flags & component_nosync) != 0) {
    lines.add("lcme_timestamp", std::to_string(component.timestamp));
  }
  if ((component.flags & component_parity) != 0) {
    lines.add("lcme_dstripe_count", component.data_stripes);
    lines.add("lcme_cstripe_count", component.parity_stripes);
  }
  lines.add("lcme_extent.e_start", component.begin);
  lines.add("lcme_extent.e_end", end_text(component.end));
  lines.open("sub_layout");
  add_striping(text, component.striping,
               {.indent = 6, .in_default = in_default, .extends = component.extends()});
}

void add_composite(std::string& text, const Layout& layout) {
  Lines lines(text, 0, striping_column);
  lines.add("lcm_layout_gen", layout.generation);
  lines.add("lcm_mirror_count", layout.mirror_count);
  lines.add("lcm_entry_count", std::ssize(layout.components));
  lines.open("components");
  for (const LayoutComponent& component : layout.components) add_component(text, component);
}

void add_ceph(std::string& text, const Striping& striping) {
  constexpr std::size_t column = 14;
  Lines lines(text, 0, column);
  lines.add("stripe_unit", striping.stripe_size);
  lines.add("stripe_count", striping.stripe_count);
  lines.add("object_size", striping.object_size);
  if (striping.pool) lines.add("pool", *striping.pool);
}

}  // namespace

std::string layout_yaml(const Layout& layout) {
  std::string text;
  if (layout.foreign) {
    text = "lfm_value:     " + quoted(layout.foreign->value) + '\n';
  } else if (is_ceph_layout(layout)) {
    add_ceph(text, layout.components.front().striping);
  } else if (layout.is_composite) {
    add_composite(text, layout);
  } else if (!layout.components.empty()) {
    const Striping& striping = layout.components.front().striping;
    const bool has_objects = !striping.objects.empty() && !striping.lists_osts;
    add_striping(text, striping, {.in_default = !has_objects && !striping.released});
  }
  return text;
}

}  // namespace nacre::plan
