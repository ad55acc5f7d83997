#include "plan/layout/stripe_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/split.h"

namespace nacre::plan {
namespace {

enum class Option : std::uint8_t {
  component_end,
  stripe_count,
  stripe_size,
  first_ost,
  pool,
  overstripe_count,
  pattern,
};

struct OptionNames {
  Option option;
  char letter;
  std::string_view name;
};
constexpr std::array<OptionNames, 7> option_names{{
    {Option::component_end, 'E', "component-end"},
    {Option::stripe_count, 'c', "stripe-count"},
    {Option::stripe_size, 'S', "stripe-size"},
    {Option::first_ost, 'i', "stripe-index"},
    {Option::pool, 'p', "pool"},
    {Option::overstripe_count, 'C', "overstripe-count"},
    {Option::pattern, 'L', "layout"},
}};

constexpr std::size_t pool_letters_max = 15;

Error wrong(std::string_view option, std::string_view value, std::string_view right) {
  return Error{ErrorClass::info_value, 0,
               "layout option " + std::string(option) + " " + std::string(value) + ": " +
                   std::string(right)};
}

struct Given {
  Option option = Option::pool;
  std::string_view name;  ///< as it was written
  std::string_view value;
};

/// The words of a text.
class Words {
 public:
  explicit Words(std::string_view text) : words_(split_filled(text, ' ')) {}
  [[nodiscard]] bool done() const { return next_ == words_.size(); }
  std::string_view take() { return words_[next_++]; }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

/// `word`, and where its value is not part of it the next one.
Result<Given> take_option(Words& words) {
  const std::string_view word = words.take();
  Given given;
  std::optional<std::string_view> value;
  const OptionNames* found = nullptr;
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    given.name = word.substr(0, equals);
    found = std::ranges::find(option_names, given.name.substr(2), &OptionNames::name);
    if (equals != std::string_view::npos) value = word.substr(equals + 1);
  } else if (word.size() > 1 && word[0] == '-') {
    given.name = word.substr(0, 2);
    found = std::ranges::find(option_names, word[1], &OptionNames::letter);
    if (word.size() > 2) value = word.substr(2);
  } else {
    return wrong(word, "", "an option begins with -, as in -c 4 -S 1m");
  }
  if (found == option_names.end()) {
    return wrong(given.name, "", "there are -E, -c, -S, -i, -p, -C and -L");
  }
  if (!value && words.done()) return wrong(given.name, "", "needs a value");
  given.option = found->option;
  given.value = value ? *value : words.take();
  return given;
}

/// Bytes; nothing where `text` is no size.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const auto bytes = parse_scaled_number<std::int64_t>(text);
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

Status set_end(LayoutComponent& component, const Given& given) {
  component.end = layout_end_of_file;
  if (given.value == "-1" || given.value == "eof" || given.value == "EOF") return {};
  const auto end = parse_bytes(given.value);
  if (!end || *end <= component.begin || *end % stripe_size_unit != 0) {
    return wrong(given.name, given.value,
                 "a component ends at a multiple of 64k behind its beginning at " +
                     std::to_string(component.begin) + ", or at -1, the end of the file");
  }
  component.end = *end;
  return {};
}

Status set_size(Striping& striping, const Given& given) {
  const auto size = parse_bytes(given.value);
  if (!size || *size % stripe_size_unit != 0 || *size > stripe_size_max) {
    return wrong(given.name, given.value,
                 "a stripe is a multiple of 64k and less than 4g; 0 is the default");
  }
  striping.stripe_size = *size;
  return {};
}

Status set_count(Striping& striping, const Given& given) {
  const auto count = parse_number<std::int32_t>(given.value);
  if (!count || *count < -1 || *count > stripe_count_max) {
    return wrong(given.name, given.value,
                 "stripes are 1 to 2000; 0 is the default, -1 one on each OST");
  }
  striping.overstriped = false;
  striping.stripe_count = *count == -1 ? stripes_on_all_osts : *count;
  return {};
}

/// -2 is two an OST, and so on.
Status set_overstripe_count(Striping& striping, const Given& given) {
  const auto count = parse_number<std::int32_t>(given.value);
  if (!count || *count < -stripes_on_ost_max || *count == 0 || *count > stripe_count_max) {
    return wrong(given.name, given.value, "stripes are 1 to 2000, or -1 to -32 times the OSTs");
  }
  striping.overstriped = true;
  striping.stripe_count = *count < 0 ? stripes_on_all_osts + 1 + *count : *count;
  return {};
}

Status set_first_ost(Striping& striping, const Given& given) {
  const auto ost = parse_number<std::int32_t>(given.value);
  if (!ost || *ost < -1 || *ost > first_ost_max) {
    return wrong(given.name, given.value, "the first OST is its number; -1 is any");
  }
  striping.first_ost.reset();
  if (*ost >= 0) striping.first_ost = *ost;
  return {};
}

Status set_pool(Striping& striping, const Given& given) {
  if (given.value.empty() || given.value.size() > pool_letters_max) {
    return wrong(given.name, given.value, "a pool's name has 1 to 15 letters");
  }
  striping.pool = given.value;
  return {};
}

Status set_pattern(Striping& striping, const Given& given) {
  if (given.value == "raid0") {
    striping.pattern = StripePattern::raid0;
    return {};
  }
  if (given.value != "mdt") return wrong(given.name, given.value, "there are raid0 and mdt");
  striping.pattern = StripePattern::mdt;
  return {};
}

Status apply(LayoutComponent& component, const Given& given) {
  switch (given.option) {
    case Option::component_end:
      return set_end(component, given);
    case Option::stripe_count:
      return set_count(component.striping, given);
    case Option::stripe_size:
      return set_size(component.striping, given);
    case Option::first_ost:
      return set_first_ost(component.striping, given);
    case Option::pool:
      return set_pool(component.striping, given);
    case Option::overstripe_count:
      return set_overstripe_count(component.striping, given);
    case Option::pattern:
      return set_pattern(component.striping, given);
  }
  return {};
}

/// The one behind `last`.
LayoutComponent component_behind(const LayoutComponent& last) {
  LayoutComponent next{.begin = last.end};
  if (last.striping.pattern == StripePattern::mdt) return next;
  next.striping.stripe_size = last.striping.stripe_size;
  next.striping.stripe_count = last.striping.stripe_count;
  next.striping.overstriped = last.striping.overstriped;
  next.striping.pool = last.striping.pool;
  return next;
}

/// With the largest unit that divides it.
std::string size_text(std::int64_t bytes) {
  constexpr std::string_view units = "kmgt";
  std::string unit;
  for (std::size_t i = 0; i < units.size() && bytes != 0 && bytes % 1024 == 0; ++i) {
    bytes /= 1024;
    unit = units[i];
  }
  return std::to_string(bytes) + unit;
}

/// Of a component that is complete.
Status check(const LayoutComponent& component) {
  const Striping& striping = component.striping;
  if (striping.pattern != StripePattern::mdt) {
    const bool is_end_whole = component.end == layout_end_of_file || striping.stripe_size == 0 ||
                              component.end % striping.stripe_size == 0;
    if (is_end_whole) return {};
    return wrong("-E", size_text(component.end),
                 "a component ends with a stripe, and its stripes are of " +
                     size_text(striping.stripe_size));
  }
  if (component.begin == 0 && component.end != layout_end_of_file && striping.stripe_count == 0) {
    return {};
  }
  return wrong("-L", "mdt", "is for the first of several components, without a stripe count");
}

/// Of a component that is complete.
void finish(LayoutComponent& component) {
  if (component.striping.pattern == StripePattern::mdt) {
    component.striping.stripe_size = component.end;
  }
}

void add_options(std::string& text, const Striping& striping) {
  if (striping.pattern == StripePattern::mdt) {
    text += " -L mdt";
    return;
  }
  const std::int32_t count = stripe_count_in_words(striping.stripe_count);
  if (count != 0) text += (striping.overstriped ? " -C " : " -c ") + std::to_string(count);
  if (striping.stripe_size != 0) text += " -S " + size_text(striping.stripe_size);
  if (!striping.pool.value_or("").empty()) text += " -p " + *striping.pool;
}

}  // namespace

Result<Layout> parse_stripe_options(std::string_view text) {
  Words words(text);
  if (words.done()) return wrong("", "", "there are none; for example -c 4 -S 1m");
  Layout layout = plain_layout({});
  bool is_first = true;
  while (!words.done()) {
    const Result<Given> given = take_option(words);
    if (!given) return given.error();
    if (given->option == Option::component_end && !is_first) {
      if (!layout.is_composite) return wrong(given->name, given->value, "-E comes first");
      const LayoutComponent& last = layout.components.back();
      if (last.end == layout_end_of_file) {
        return wrong(given->name, given->value, "the component before has the rest of the file");
      }
      layout.components.push_back(component_behind(last));
    }
    layout.is_composite = layout.is_composite || given->option == Option::component_end;
    if (Status applied = apply(layout.components.back(), *given); !applied) {
      return std::move(applied).error();
    }
    is_first = false;
  }
  for (LayoutComponent& component : layout.components) {
    if (Status fits = check(component); !fits) return std::move(fits).error();
    finish(component);
  }
  return layout;
}

std::string stripe_options_of(const Layout& layout) {
  std::string text;
  for (const LayoutComponent& component : layout.components) {
    if (component.extends() || layout.mirror_count > 1) return "";
    const bool is_last = component.end == layout_end_of_file;
    if (layout.is_composite) text += " -E " + (is_last ? "-1" : size_text(component.end));
    add_options(text, component.striping);
  }
  return text.empty() ? "" : text.substr(1);
}

}  // namespace nacre::plan
