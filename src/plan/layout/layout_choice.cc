#include "plan/layout/layout_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/layout/layout.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t kibibyte = 1 << 10;
constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t sizes_apart_max = 16;
constexpr std::int64_t stripes_per_ost_min = 16;
/// Of the time of a request and its lock, for which an OST is to transfer its bytes. Half as many
/// OSTs then make a call longer by a fifth at most.
constexpr double transfer_to_latency = 0.25;
/// Bandwidth of the OSTs to that of the links of the nodes. With 1, a call that loads one OST more
/// than another waits for that OST (24 reads of 1.3 MiB by 8 nodes, emulated tungsten, in virtual
/// time: 1.16 s on 8 OSTs, 0.76 s on 16).
constexpr double osts_to_links = 1.5;

/// As a number of MiB, or of KiB if it is smaller.
std::string in_units(std::int64_t size, std::string_view mebibytes, std::string_view kibibytes) {
  return size % mebibyte == 0 ? std::to_string(size / mebibyte).append(mebibytes)
                              : std::to_string(size / kibibyte).append(kibibytes);
}

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
                                         {"number of OSTs of the links", file.osts_of_links, 0},
                                         {"number of OSTs of the ranks", file.osts_of_ranks, 0},
                                         {"size of a call", file.call_bytes, 0},
                                         {"stripe size", file.stripe_size_min, stripe_size_unit}}) {
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

std::int64_t osts_of_ranks(const ExpectedFile& file) {
  return file.osts_of_ranks == 0 ? file.ranks : file.osts_of_ranks;
}

Bound stripe_count_bound(const ExpectedFile& file) {
  const std::int64_t worthwhile = std::max<std::int64_t>(1, file.bytes / file.bytes_per_ost_min);
  const std::string per_ost = in_units(file.bytes_per_ost_min, " MiB", " KiB");
  const std::int64_t of_links = file.osts_of_links == 0 ? file.osts : file.osts_of_links;
  return std::ranges::min({Bound{worthwhile, "each OST should have at least " + per_ost},
                           Bound{osts_of_ranks(file), "the ranks keep no more OSTs busy"},
                           Bound{file.osts, "there are no more OSTs"},
                           Bound{of_links, "the links of the nodes keep no more OSTs busy"}},
                          {}, &Bound::count);
}

/// Whether each node gets equally many stripes, or each stripe equally many nodes.
bool shares_evenly(std::int64_t stripes, std::int64_t nodes) {
  return stripes % nodes == 0 || nodes % stripes == 0;
}

/// The first count of `from`, `from` + `step` and so on up to `to` that the nodes share evenly; 0:
/// none.
std::int64_t first_even(std::int64_t from, std::int64_t to, std::int64_t step, std::int64_t nodes) {
  for (std::int64_t count = from; (to - count) * step >= 0; count += step) {
    if (shares_evenly(count, nodes)) return count;
  }
  return 0;
}

/// The count nearest to the bound that the nodes share evenly: by a quarter smaller at most,
/// otherwise by a third larger at most, which exceeds what pays a little, but never the OSTs or
/// what the ranks keep busy. 0: there is none.
std::int64_t even_count(const Bound& bound, std::int64_t count_min, const ExpectedFile& file) {
  const std::int64_t count = std::max(bound.count, count_min);
  const std::int64_t least = std::max(count_min, count - count / 4);
  const std::int64_t most =
      std::min({count + count / 3, std::int64_t{file.osts}, osts_of_ranks(file)});
  const std::int64_t less = first_even(count, least, -1, file.nodes);
  return less != 0 ? less : first_even(count, most, 1, file.nodes);
}

std::int64_t stripe_size_for(const ExpectedFile& file, std::int64_t count) {
  std::int64_t most = file.bytes / count / stripes_per_ost_min;
  if (file.call_bytes > 0) most = std::min(most, file.call_bytes / count);
  std::int64_t size = file.stripe_size_min;
  while (size < sizes_apart_max * file.stripe_size_min && 2 * size <= most) size *= 2;
  return size;
}

/// Of one OST alone, through the link of its server; 0: unknown.
double ost_bandwidth(const machine::Machine& machine) {
  const std::int64_t link = machine.osts_per_server > 0 ? machine.server_link.bandwidth : 0;
  const std::int64_t ost = machine.ost.bandwidth;
  return static_cast<double>(ost > 0 && link > 0 ? std::min(ost, link) : ost);
}

}  // namespace

ExpectedFile on_machine(ExpectedFile file, const machine::Machine& machine) {
  constexpr double bytes_max = 32.0 * mebibyte;
  file.stripe_size_min = std::clamp(machine.stripe_size, stripe_size_unit, mebibyte);
  const double ost = ost_bandwidth(machine);
  if (ost == 0) return file;
  const auto cost_us = static_cast<double>(machine.ost_latency_us + 2 * machine.lock_latency_us);
  const double bytes = std::clamp(transfer_to_latency * cost_us * 1e-6 * ost,
                                  static_cast<double>(file.stripe_size_min), bytes_max);
  file.bytes_per_ost_min = round_down(static_cast<std::int64_t>(bytes), file.stripe_size_min);
  const double links = static_cast<double>(machine.node_link.bandwidth) * file.nodes;
  if (links > 0)
    file.osts_of_links = static_cast<std::int64_t>(std::ceil(osts_to_links * links / ost));
  const std::int64_t process = std::max(machine.write_bandwidth, machine.read_bandwidth);
  const double by_ranks = std::ceil(static_cast<double>(process) * file.ranks / ost);
  file.osts_of_ranks = process == 0 ? std::numeric_limits<std::int64_t>::max()
                                    : std::max<std::int64_t>(file.ranks, std::llround(by_ranks));
  return file;
}

std::string LayoutChoice::options() const {
  return "-c " + std::to_string(stripe_count) + " -S " + in_units(stripe_size, "m", "k");
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
  const std::int64_t even = even_count(bound, count_min, file);
  if (even == 0) {
    choice.reasons.push_back(nodes + "cannot share " + std::to_string(count) +
                             " evenly, nor a count near it");
  } else if (even != count) {
    choice.reasons.push_back(std::to_string(even) + " rather than " + std::to_string(count) + ": " +
                             nodes + "share them evenly");
    count = even;
  }
  choice.stripe_count = checked_cast<std::int32_t>(count);
  choice.stripe_size = stripe_size_for(file, count);
  if (count > 1) {
    choice.reasons.push_back("stripes of " + in_units(choice.stripe_size, " MiB", " KiB") +
                             ", of which each OST has " +
                             std::to_string(file.bytes / count / choice.stripe_size));
  }
  return choice;
}

}  // namespace nacre::plan
