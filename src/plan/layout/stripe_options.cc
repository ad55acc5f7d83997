#include "plan/layout/stripe_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/split.h"

namespace nacre::plan {
namespace {

constexpr std::size_t pool_letters_max = 15;

struct Option;

/// An option of the text.
struct Given {
  const Option* option = nullptr;
  std::string_view name;  ///< as the text has it
  std::string_view value;
};

struct Option {
  char letter;
  std::string_view name;
  Status (*set)(LayoutComponent& component, const Given& given);
};

Error wrong(std::string_view option, std::string_view value, std::string_view right) {
  std::string message = "layout option";
  for (const std::string_view word : {option, value}) {
    if (!word.empty()) message += ' ' + std::string(word);
  }
  return Error{ErrorClass::info_value, 0, message + ": " + std::string(right)};
}

Error wrong(const Given& given, std::string_view right) {
  return wrong(given.name, given.value, right);
}

/// Bytes; nothing if `text` is no size.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const auto bytes = parse_scaled_number<std::int64_t>(text);
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

Status set_end(LayoutComponent& component, const Given& given) {
  component.end = layout_end_of_file;
  if (given.value == "-1" || given.value == "eof" || given.value == "EOF") return {};
  const auto end = parse_bytes(given.value);
  if (!end || *end <= component.begin || *end % stripe_size_unit != 0) {
    return wrong(given, "a component ends at a multiple of 64k behind its beginning at " +
                            std::to_string(component.begin) + ", or at -1, the end of the file");
  }
  component.end = *end;
  return {};
}

Status set_size(LayoutComponent& component, const Given& given) {
  const auto size = parse_bytes(given.value);
  if (!size || *size % stripe_size_unit != 0 || *size > stripe_size_max) {
    return wrong(given, "a stripe size is a multiple of 64k and less than 4g; 0 is the default");
  }
  component.striping.stripe_size = *size;
  return {};
}

Status set_count(LayoutComponent& component, const Given& given) {
  const auto count = parse_number<std::int32_t>(given.value);
  if (!count || *count < -1 || *count > stripe_count_max) {
    return wrong(given, "a stripe count is 1 to 2000; 0 is the default, -1 one stripe per OST");
  }
  component.striping.overstriped = false;
  component.striping.stripe_count = *count == -1 ? stripes_on_all_osts : *count;
  return {};
}

/// -2 is two stripes per OST, and so on.
Status set_overstripe_count(LayoutComponent& component, const Given& given) {
  const auto count = parse_number<std::int32_t>(given.value);
  if (!count || *count < -stripes_on_ost_max || *count == 0 || *count > stripe_count_max) {
    return wrong(given, "a stripe count is 1 to 2000, or -1 to -32 for 1 to 32 stripes per OST");
  }
  component.striping.overstriped = true;
  component.striping.stripe_count = *count < 0 ? stripes_on_all_osts + 1 + *count : *count;
  return {};
}

Status set_first_ost(LayoutComponent& component, const Given& given) {
  const auto ost = parse_number<std::int32_t>(given.value);
  if (!ost || *ost < -1 || *ost > first_ost_max) {
    return wrong(given, "the first OST is a number from 0 to 65534; -1 is any OST");
  }
  component.striping.first_ost = *ost >= 0 ? ost : std::nullopt;
  return {};
}

/// Appends OSTs `from` to `to`. False if one is not a number of an OST.
bool append_osts(std::vector<OstObject>& objects, std::string_view from, std::string_view to) {
  const auto first = parse_number<std::int32_t>(from);
  const auto last = parse_number<std::int32_t>(to);
  if (!first || !last || *first < 0 || *first > *last || *last > first_ost_max) return false;
  if (std::ssize(objects) + *last - *first >= stripe_count_max) return false;
  for (std::int32_t ost = *first; ost <= *last; ++ost) objects.push_back({.ost = ost});
  return true;
}

/// As with lfs, a second list continues the first one.
Status set_osts(LayoutComponent& component, const Given& given) {
  for (const std::string_view word : split(given.value, ',')) {
    const std::size_t hyphen = word.find('-');
    const bool is_range = hyphen != std::string_view::npos;
    const std::string_view last = is_range ? word.substr(hyphen + 1) : word;
    if (!append_osts(component.striping.objects, word.substr(0, hyphen), last)) {
      return wrong(
          given, "a list of OSTs has up to 2000 numbers from 0 to 65534, or ranges, as in 0,2,4-6");
    }
  }
  component.striping.lists_osts = true;
  return {};
}

/// Nacre leaves the layouts of files alone that extend themselves, and sets none.
Status refuse_extension(LayoutComponent& /*component*/, const Given& given) {
  return wrong(given,
               "Nacre does not set self-extending layouts; make one the default of the directory "
               "with lfs setstripe, and request no layout");
}

Status set_pool(LayoutComponent& component, const Given& given) {
  if (given.value.empty() || given.value.size() > pool_letters_max) {
    return wrong(given, "the name of a pool has 1 to 15 letters");
  }
  component.striping.pool = given.value;
  return {};
}

Status set_pattern(LayoutComponent& component, const Given& given) {
  const bool is_mdt = given.value == "mdt";
  if (!is_mdt && given.value != "raid0") return wrong(given, "the patterns are raid0 and mdt");
  component.striping.pattern = is_mdt ? StripePattern::mdt : StripePattern::raid0;
  return {};
}

constexpr std::array<Option, 9> options{{
    {'E', "component-end", set_end},
    {'c', "stripe-count", set_count},
    {'S', "stripe-size", set_size},
    {'i', "stripe-index", set_first_ost},
    {'o', "ost", set_osts},
    {'p', "pool", set_pool},
    {'C', "overstripe-count", set_overstripe_count},
    {'L', "layout", set_pattern},
    {'z', "extension-size", refuse_extension},
}};

/// Takes the first option of `words`, and its value, which may be the next word.
Result<Given> take_option(std::span<const std::string_view>& words) {
  const std::string_view word = words.front();
  words = words.subspan(1);
  Given given;
  std::optional<std::string_view> value;
  const Option* found = options.end();
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    given.name = word.substr(0, equals);
    found = std::ranges::find(options, given.name.substr(2), &Option::name);
    if (equals != std::string_view::npos) value = word.substr(equals + 1);
  } else if (word.size() > 1 && word[0] == '-') {
    given.name = word.substr(0, 2);
    found = std::ranges::find(options, word[1], &Option::letter);
    if (word.size() > 2) value = word.substr(2);
  } else {
    return wrong(word, "", "an option begins with -, as in -c 4 -S 1m");
  }
  if (found == options.end()) {
    return wrong(given, "unknown; the options are -E, -c, -S, -i, -o, -p, -C and -L");
  }
  if (!value && words.empty()) return wrong(given, "needs a value");
  given.option = found;
  given.value = value ? *value : words.front();
  if (!value) words = words.subspan(1);
  return given;
}

bool sets_count(const Option& option) {
  return option.set == set_count || option.set == set_overstripe_count;
}

/// The list of OSTs of a component tells its count.
void forget_count(LayoutComponent& component) {
  component.striping.stripe_count = 0;
  component.striping.overstriped = false;
}

/// The component that follows `last` and inherits its striping.
LayoutComponent component_behind(const LayoutComponent& last) {
  LayoutComponent next{.begin = last.end};
  if (last.striping.pattern == StripePattern::mdt) return next;
  next.striping.stripe_size = last.striping.stripe_size;
  next.striping.stripe_count = last.striping.lists_osts
                                   ? static_cast<std::int32_t>(last.striping.objects.size())
                                   : last.striping.stripe_count;
  next.striping.overstriped = last.striping.overstriped;
  next.striping.pool = last.striping.pool;
  return next;
}

/// In the largest unit that divides `bytes`.
std::string size_text(std::int64_t bytes) {
  constexpr std::string_view units = "kmgt";
  std::string unit;
  for (std::size_t i = 0; i < units.size() && bytes != 0 && bytes % 1024 == 0; ++i) {
    bytes /= 1024;
    unit = units[i];
  }
  return std::to_string(bytes) + unit;
}

/// Checks a list of OSTs, and sets the stripe count to its length.
Status complete_list(Striping& striping) {
  const std::string listed = std::to_string(striping.objects.size());
  const auto length = static_cast<std::int32_t>(striping.objects.size());
  if (striping.first_ost || striping.pattern == StripePattern::mdt) {
    return wrong("-o", "", "goes neither with -i nor with -L mdt");
  }
  if (striping.stripe_count != 0 && striping.stripe_count != length) {
    return wrong("-o", "",
                 "lists " + listed + " OSTs, but the stripe count is " +
                     std::to_string(stripe_count_in_words(striping.stripe_count)) +
                     "; give the same number, or only the list");
  }
  std::vector<OstObject> sorted = striping.objects;
  std::ranges::sort(sorted, {}, &OstObject::ost);
  const auto twice = std::ranges::adjacent_find(sorted, {}, &OstObject::ost);
  if (twice != sorted.end() && !striping.overstriped) {
    return wrong("-o", "",
                 "lists OST " + std::to_string(twice->ost) +
                     " twice; this needs overstriping: -C " + listed);
  }
  striping.stripe_count = length;
  return {};
}

/// Checks a component of which all options are known, and sets the stripe size of data on the MDT
/// and the stripe count of listed OSTs.
Status complete(LayoutComponent& component) {
  Striping& striping = component.striping;
  if (striping.lists_osts) {
    if (Status fits = complete_list(striping); !fits) return fits;
  }
  const bool has_end = component.end != layout_end_of_file;
  if (striping.pattern == StripePattern::mdt) {
    if (component.begin != 0 || !has_end || striping.stripe_count != 0) {
      return wrong("-L", "mdt", "is for the first of several components, without a stripe count");
    }
    striping.stripe_size = component.end;
  } else if (has_end && striping.stripe_size != 0 && component.end % striping.stripe_size != 0) {
    return wrong("-E", size_text(component.end),
                 "a component ends at a multiple of its stripe size, which is " +
                     size_text(striping.stripe_size));
  }
  return {};
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
  const std::vector<std::string_view> all = split_filled(text, ' ');
  if (all.empty()) return wrong("", "", "there are no options; for example -c 4 -S 1m");
  Layout layout = plain_layout({});
  bool has_count = false;  // of the last component; otherwise it inherits its count
  for (std::span<const std::string_view> words(all); !words.empty();) {
    const bool is_first = words.size() == all.size();
    const Result<Given> given = take_option(words);
    if (!given) return given.error();
    const bool ends_component = given->option->set == set_end;
    if (ends_component && !is_first) {
      if (!layout.is_composite) return wrong(*given, "the first option must be -E");
      const LayoutComponent& last = layout.components.back();
      if (last.end == layout_end_of_file) {
        return wrong(*given, "the component before ends at the end of the file");
      }
      layout.components.push_back(component_behind(last));
      has_count = false;
    }
    layout.is_composite = layout.is_composite || ends_component;
    has_count = has_count || sets_count(*given->option);
    if (given->option->set == set_osts && !has_count) forget_count(layout.components.back());
    if (Status set = given->option->set(layout.components.back(), *given); !set) {
      return std::move(set).error();
    }
  }
  for (LayoutComponent& component : layout.components) {
    if (Status fits = complete(component); !fits) return std::move(fits).error();
  }
  return layout;
}

std::string stripe_options_of(const Layout& layout) {
  std::string text;
  for (const LayoutComponent& component : layout.components) {
    if (component.extends() || is_redundant(layout)) return "";
    const bool is_last = component.end == layout_end_of_file;
    if (layout.is_composite) text += " -E " + (is_last ? "-1" : size_text(component.end));
    add_options(text, component.striping);
  }
  return text.empty() ? "" : text.substr(1);
}

}  // namespace nacre::plan
