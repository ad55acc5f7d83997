#include "file/layout/layout_hints.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"

namespace nacre::file {
namespace {

/// Returns the number of OSTs.
using OstCount = std::function<Result<std::int32_t>()>;

/// The smaller of `value` and `maximum`, with a note if `value` is larger.
std::int64_t limited(Hints& hints, std::string_view name, std::int64_t value,
                     std::int64_t maximum) {
  if (value <= maximum) return value;
  hints.note("hint " + std::string(name) + ": " + std::to_string(value) +
             " exceeds the maximum; Nacre uses " + std::to_string(maximum));
  return maximum;
}

std::int64_t stripes_on_each(const Hints& hints) {
  return std::max<std::int64_t>(
      {hints.number("overstriping_ratio"), hints.number("overstriping_factor"), 1});
}

void set_count(plan::Striping& striping, Hints& hints, const OstCount& ost_count) {
  const std::int64_t each =
      limited(hints, "overstriping_ratio", stripes_on_each(hints), plan::stripes_on_ost_max);
  std::int64_t osts = hints.number("striping_factor");
  if (osts == 0 && each > 1)
    hints.note("hint overstriping_ratio has no effect without striping_factor");
  if (osts == 0) return;
  striping.overstriped = each > 1;
  if (striping.overstriped) {
    // Lustre limits the stripe count by the number of OSTs only if the file is not overstriped.
    if (const auto total = ost_count()) {
      osts = limited(hints, "striping_factor", osts, *total);
    }
  }
  const std::int64_t count =
      osts == -1 ? plan::stripes_on_all_osts + 1 - each
                 : limited(hints, "striping_factor", osts * each, plan::stripe_count_max);
  striping.stripe_count = checked_cast<std::int32_t>(count);
}

void set_size(plan::Striping& striping, Hints& hints) {
  const std::int64_t asked = hints.number("striping_unit");
  const std::int64_t size = limited(hints, "striping_unit", asked, plan::stripe_size_max);
  striping.stripe_size = round_up(size, plan::stripe_size_unit);
  if (striping.stripe_size == size) return;
  hints.note("hint striping_unit: " + std::to_string(size) +
             " is not a multiple of 64k; Nacre uses " + std::to_string(striping.stripe_size));
  hints.set("striping_unit", std::to_string(striping.stripe_size), hints.source("striping_unit"));
}

void set_first_ost(plan::Striping& striping, Hints& hints) {
  const std::string asked = hints.get("start_iodevice");
  if (asked.empty() || asked == "-1") return;
  striping.first_ost = checked_cast<std::int32_t>(
      limited(hints, "start_iodevice", hints.number("start_iodevice"), plan::first_ost_max));
}

/// The layout that nacre_layout describes, otherwise the layout of the single striping hints.
plan::Layout layout_of_hints(Hints& hints, const OstCount& ost_count) {
  if (const std::string words = hints.get("nacre_layout"); !words.empty()) {
    return plan::parse_stripe_options(words).value();
  }
  plan::Striping striping;
  set_count(striping, hints, ost_count);
  set_size(striping, hints);
  set_first_ost(striping, hints);
  return plan::plain_layout(std::move(striping));
}

/// The value that a program or user requested; "" if the value is that of the open file.
std::string requested(const Hints& hints, std::string_view name) {
  return hints.source(name) == HintSource::open_file ? "" : hints.get(name);
}

/// Sets the hint to the actual value, with a note if it differs from the requested value.
void set_actual(Hints& hints, std::string_view name, const std::string& asked,
                const std::string& has) {
  if (!asked.empty() && asked != has) {
    const std::string found = has.empty() ? "another one or none" : has;
    hints.note(
        "hint " + std::string(name) + ": requested " + asked + ", but the file has " + found +
        "; striping hints set the layout of new files, and the file system may choose another");
  }
  hints.set(name, has, HintSource::open_file);
}

/// The file system chooses the value for -1 and, except for start_iodevice, for 0.
void set_actual_number(Hints& hints, std::string_view name, std::int64_t value) {
  std::string asked = requested(hints, name);
  if (asked == "-1" || (asked == "0" && name != "start_iodevice")) asked.clear();
  if (!asked.empty()) asked = std::to_string(hints.number(name));
  set_actual(hints, name, asked, std::to_string(value));
}

void set_actual_overstriping(Hints& hints, std::int64_t each) {
  for (const char* const name : {"overstriping_ratio", "overstriping_factor"}) {
    if (!requested(hints, name).empty()) set_actual_number(hints, name, each);
  }
  if (each > 1) set_actual_number(hints, "overstriping_ratio", each);
}

void set_actual_pool(Hints& hints, const plan::Layout& layout) {
  const std::string asked = requested(hints, "nacre_pool");
  const std::string has = layout.components.back().striping.pool.value_or("");
  if (!asked.empty() || !has.empty()) set_actual(hints, "nacre_pool", asked, has);
}

/// Whether a file that has these objects is on the OSTs that a list requests.
bool fits_list(const plan::Striping& asked, const plan::Striping& has) {
  return !asked.lists_osts || has.objects.empty() ||
         std::ranges::equal(asked.objects, has.objects, {}, &plan::OstObject::ost,
                            &plan::OstObject::ost);
}

/// Whether `has` satisfies each property that `asked` specifies.
bool striping_fits(const plan::Striping& asked, const plan::Striping& has) {
  const bool any_count = asked.stripe_count == 0 || plan::stands_for_osts(asked.stripe_count);
  const bool any_ost = !asked.first_ost || has.objects.empty();
  return asked.pattern == has.pattern && fits_list(asked, has) &&
         (any_count || asked.stripe_count == has.stripe_count) &&
         (asked.stripe_size == 0 || asked.stripe_size == has.stripe_size) &&
         (!asked.pool || *asked.pool == has.pool.value_or("")) &&
         (any_ost || *asked.first_ost == has.objects.front().ost);
}

void set_actual_words(Hints& hints, const plan::Layout& layout) {
  const std::string asked = requested(hints, "nacre_layout");
  if (asked.empty() || fits(plan::parse_stripe_options(asked).value(), layout)) return;
  set_actual(hints, "nacre_layout", asked, plan::stripe_options_of(layout));
}

}  // namespace

bool fits(const plan::Layout& asked, const plan::Layout& has) {
  return std::ranges::equal(asked.components, has.components,
                            [](const plan::LayoutComponent& one, const plan::LayoutComponent& two) {
                              return one.end == two.end &&
                                     striping_fits(one.striping, two.striping);
                            });
}

std::optional<plan::Layout> requested_layout(Hints& hints, const LayoutLimits& limits) {
  std::optional<Result<std::int32_t>> answer;
  const OstCount ask_once = [&] { return answer ? *answer : answer.emplace(limits.ost_count()); };
  plan::Layout layout = layout_of_hints(hints, ask_once);
  const std::string pool = hints.get("nacre_pool");
  for (plan::LayoutComponent& component : layout.components) {
    const bool has_osts = component.striping.pattern != plan::StripePattern::mdt;
    if (!pool.empty() && has_osts && !component.striping.pool) component.striping.pool = pool;
  }
  layout = plan::lov_request(std::move(layout), ask_once);
  if (layout == plan::plain_layout({})) return std::nullopt;
  const Status possible = limits.check(layout);
  if (possible) return layout;
  hints.note(possible.error().message + "; the file gets the default layout of its directory");
  return std::nullopt;
}

plan::GrowthRules growth_rules(const Hints& hints) {
  return {.bytes_min = hints.number("nacre_choose_layout_from"),
          .replaces_unwritten = hints.get("nacre_choose_layout") == "replace"};
}

store::LayoutTime layout_time(const Hints& hints) {
  const std::string chosen = hints.get("nacre_choose_layout");
  if (chosen == "disable") return store::LayoutTime::at_once;
  const bool may_choose_later = chosen != "automatic" || growth_rules(hints).bytes_min > 0;
  return may_choose_later ? store::LayoutTime::later_below_roots : store::LayoutTime::later;
}

void set_actual_layout(Hints& hints, const plan::Layout& layout, const plan::StripeMap& stripes) {
  set_actual_words(hints, layout);
  const plan::StripedRegion& region = stripes.regions().back();
  const int first = region.osts.front();
  if (first == plan::on_mdt) return;
  // As long as the file system has not chosen OSTs, each stripe counts as one OST.
  const std::set<std::int32_t> osts(region.osts.begin(), region.osts.end());
  const bool are_known = first >= 0;
  const std::int64_t count = are_known ? std::ssize(osts) : std::ssize(region.osts);
  set_actual_number(hints, "striping_factor", count);
  set_actual_number(hints, "striping_unit", region.stripe_size);
  set_actual_overstriping(hints, divide_up(std::ssize(region.osts), count));
  if (are_known) set_actual_number(hints, "start_iodevice", first);
  set_actual_pool(hints, layout);
}

}  // namespace nacre::file
