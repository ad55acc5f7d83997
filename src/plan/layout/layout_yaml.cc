#include "plan/layout/layout_yaml.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hexadecimal.h"

namespace nacre::plan {
namespace {

/// By bit, lowest first.
constexpr std::array<std::string_view, 11> flag_names{"stale",    "prefrd",  "prefwr",    "offline",
                                                      "init",     "nosync",  "extension", "parity",
                                                      "compress", "partial", "nocompr"};

std::string flags_text(std::uint32_t flags) {
  std::string text;
  for (std::size_t bit = 0; bit < flag_names.size(); ++bit) {
    if ((flags >> bit & 1U) == 0) continue;
    if (!text.empty()) text += ',';
    text += flag_names[bit];
  }
  return text.empty() ? "0" : text;
}

std::string pattern_text(const Striping& striping) {
  std::string text = striping.pattern == StripePattern::mdt ? "mdt" : "raid0";
  if (striping.overstriped) text += ",overstriped";
  if (striping.released) text += ",released";
  return text;
}

std::string hex(std::uint64_t number) { return "0x" + short_hexadecimal(number); }

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

std::int64_t first_ost(const Striping& striping) {
  if (!striping.objects.empty()) return striping.objects.front().ost;
  return striping.first_ost.value_or(-1);
}

void add_objects(std::string& text, const Striping& striping) {
  for (const OstObject& object : striping.objects) {
    text += "      - l_ost_idx: " + std::to_string(object.ost) +
            "\n        l_fid:     " + hex(object.sequence) + ':' + hex(object.object_id) + ':' +
            hex(object.version) + '\n';
  }
}

constexpr std::size_t striping_column = 19;

void add_striping(std::string& text, int indent, const Striping& striping, bool extends) {
  Lines lines(text, indent, striping_column);
  lines.add("lmm_stripe_count", extends ? 0 : stripe_count_in_words(striping.stripe_count));
  lines.add(extends ? "lmm_extension_size" : "lmm_stripe_size", striping.stripe_size);
  lines.add("lmm_pattern", pattern_text(striping));
  lines.add("lmm_layout_gen", 0);  // not told by the xattr
  if (striping.pattern == StripePattern::mdt) {
    lines.add("lmm_mdt_index", 0);
  } else {
    lines.add("lmm_stripe_offset", first_ost(striping));
  }
  if (striping.pool && !striping.pool->empty()) lines.add("lmm_pool", *striping.pool);
  if (striping.objects.empty()) return;
  lines.open("lmm_objects");
  add_objects(text, striping);
}

void add_default(std::string& text, const Striping& striping) {
  constexpr std::size_t column = 15;
  Lines lines(text, 0, column);
  lines.add("stripe_count", stripe_count_in_words(striping.stripe_count));
  lines.add("stripe_size", striping.stripe_size);
  lines.add("pattern", pattern_text(striping));
  lines.add("stripe_offset", first_ost(striping));
  if (striping.pool && !striping.pool->empty()) lines.add("pool", *striping.pool);
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
  text += "  - lcme_id:             " + std::to_string(component.id) + '\n';
  Lines lines(text, 4, column);
  lines.add("lcme_mirror_id", component.mirror());
  lines.add("lcme_flags", flags_text(component.flags));
  lines.add("lcme_extent.e_start", component.begin);
  lines.add("lcme_extent.e_end", end_text(component.end));
  lines.open("sub_layout");
  add_striping(text, 6, component.striping, component.extends());
}

void add_composite(std::string& text, const Layout& layout) {
  Lines lines(text, 0, striping_column);
  lines.add("lcm_layout_gen", layout.generation);
  lines.add("lcm_mirror_count", layout.mirror_count);
  lines.add("lcm_entry_count", std::ssize(layout.components));
  lines.open("components");
  for (const LayoutComponent& component : layout.components) add_component(text, component);
}

}  // namespace

std::string layout_yaml(const Layout& layout) {
  std::string text;
  if (layout.foreign) {
    text = "lfm_value:     " + quoted(layout.foreign->value) + '\n';
  } else if (layout.is_composite) {
    add_composite(text, layout);
  } else if (!layout.components.empty()) {
    const Striping& striping = layout.components.front().striping;
    if (striping.objects.empty() && !striping.released) {
      add_default(text, striping);
    } else {
      add_striping(text, 0, striping, false);
    }
  }
  return text;
}

}  // namespace nacre::plan
