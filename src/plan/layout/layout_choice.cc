#include "plan/layout/layout_choice.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t stripe_size_min = mebibyte;
constexpr std::int64_t stripe_size_max_chosen = 16 * mebibyte;
constexpr std::int64_t stripes_per_ost_min = 16;

Status check(const ExpectedFile& file) {
  struct Number {
    std::string_view name;
    std::int64_t value;
    std::int64_t min;
  };
  for (const auto& [name, value, min] : {Number{"size", file.bytes, 0},
                                         {"number of nodes", file.nodes, 1},
                                         {"number of ranks", file.ranks, 1},
                                         {"number of OSTs", file.osts, 1},
                                         {"bytes per OST", file.bytes_per_ost_min, 1},
                                         {"number of OSTs kept busy", file.osts_loaded_max, 0}}) {
    if (value >= min) continue;
    return Error{
        ErrorClass::arg, 0,
        std::string(name) + " " + std::to_string(value) + " is less than " + std::to_string(min)};
  }
  return {};
}

/// An upper bound of the stripe count, and its reason.
struct Bound {
  std::int64_t count;
  std::string reason;
};

Bound stripe_count_bound(const ExpectedFile& file) {
  const std::int64_t worthwhile = std::max<std::int64_t>(1, file.bytes / file.bytes_per_ost_min);
  const std::string per_ost = std::to_string(file.bytes_per_ost_min / mebibyte) + " MiB";
  const std::int64_t loaded = file.osts_loaded_max == 0 ? file.osts : file.osts_loaded_max;
  return std::ranges::min({Bound{worthwhile, "each OST should have at least " + per_ost},
                           Bound{file.ranks, "more OSTs than ranks bring no gain"},
                           Bound{file.osts, "there are no more OSTs"},
                           Bound{loaded, "the links of the nodes keep no more OSTs busy"}},
                          {}, &Bound::count);
}

/// Whether each node gets equally many stripes, or each stripe equally many nodes.
bool shares_evenly(std::int64_t stripes, std::int64_t nodes) {
  return stripes % nodes == 0 || nodes % stripes == 0;
}

/// The count nearest to `count` that the nodes share evenly: by a quarter smaller at most,
/// otherwise by a third larger at most, which exceeds what pays a little, but never the OSTs or the
/// ranks. 0: there is none.
std::int64_t even_count(std::int64_t count, std::int64_t count_min, const ExpectedFile& file) {
  for (std::int64_t less = count; less >= std::max(count_min, count - count / 4); --less) {
    if (shares_evenly(less, file.nodes)) return less;
  }
  const std::int64_t most = std::min<std::int64_t>({count + count / 3, file.osts, file.ranks});
  for (std::int64_t more = count + 1; more <= most; ++more) {
    if (shares_evenly(more, file.nodes)) return more;
  }
  return 0;
}

std::int64_t stripe_size_for(std::int64_t bytes_each) {
  std::int64_t size = stripe_size_min;
  while (size < stripe_size_max_chosen && bytes_each / (2 * size) >= stripes_per_ost_min) size *= 2;
  return size;
}

}  // namespace

ExpectedFile on_machine(ExpectedFile file, const machine::Machine& machine) {
  constexpr double times_longer = 8;
  constexpr double bytes_min = stripe_size_min;
  constexpr double bytes_max = 32.0 * mebibyte;
  const auto ost = static_cast<double>(machine.ost.bandwidth);
  if (ost == 0) return file;
  const auto cost_us = static_cast<double>(machine.ost_latency_us + 2 * machine.lock_latency_us);
  if (cost_us > 0) {
    const double bytes = std::clamp(times_longer * cost_us * 1e-6 * ost, bytes_min, bytes_max);
    file.bytes_per_ost_min = round_down(static_cast<std::int64_t>(bytes), mebibyte);
  }
  const double links = static_cast<double>(machine.node_link.bandwidth) * file.nodes;
  if (links > 0) file.osts_loaded_max = static_cast<std::int64_t>(std::ceil(links / ost));
  return file;
}

std::string LayoutChoice::options() const {
  return "-c " + std::to_string(stripe_count) + " -S " + std::to_string(stripe_size / mebibyte) +
         "m";
}

Result<LayoutChoice> choose_layout(const ExpectedFile& file) {
  if (Status status = check(file); !status) return std::move(status).error();
  LayoutChoice choice;
  const Bound bound = stripe_count_bound(file);
  std::int64_t count = bound.count;
  choice.reasons.push_back("at most " + std::to_string(count) + ": " + bound.reason);

  const auto root =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(file.bytes) / 1'000'000'000.0));
  const std::int64_t count_min = std::clamp<std::int64_t>(root, 1, file.osts);
  if (count_min > count) {
    count = count_min;
    choice.reasons.push_back(
        root > file.osts
            ? "but all " + std::to_string(count) + ": the square root of the size in GB is " +
                  std::to_string(root)
            : "but at least " + std::to_string(count) + ": the square root of the size in GB");
  }
  const std::string nodes = "the " + std::to_string(file.nodes) + " nodes ";
  const std::int64_t even = even_count(count, count_min, file);
  if (even == 0) {
    choice.reasons.push_back(nodes + "cannot share " + std::to_string(count) +
                             " evenly, nor a count near it");
  } else if (even != count) {
    choice.reasons.push_back(std::to_string(even) + " rather than " + std::to_string(count) + ": " +
                             nodes + "share them evenly");
    count = even;
  }
  choice.stripe_count = checked_cast<std::int32_t>(count);
  choice.stripe_size = stripe_size_for(file.bytes / count);
  if (count > 1) {
    choice.reasons.push_back("stripes of " + std::to_string(choice.stripe_size / mebibyte) +
                             " MiB, of which each OST has " +
                             std::to_string(file.bytes / count / choice.stripe_size));
  }
  return choice;
}

}  // namespace nacre::plan
