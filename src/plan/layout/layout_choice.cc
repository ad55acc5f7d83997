#include "plan/layout/layout_choice.h"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t stripe_size_min = mebibyte;
constexpr std::int64_t stripe_size_max_chosen = 16 * mebibyte;
constexpr std::int64_t stripes_per_ost_min = 16;

Status check_positive(const char* what, std::int64_t value, std::int64_t least) {
  if (value >= least) return {};
  return Error{
      ErrorClass::arg, 0,
      std::string(what) + " " + std::to_string(value) + " is less than " + std::to_string(least)};
}

Status check(const ExpectedFile& file) {
  for (const Status& status :
       {check_positive("size", file.bytes, 0), check_positive("number of nodes", file.nodes, 1),
        check_positive("number of ranks", file.ranks, 1),
        check_positive("number of OSTs", file.osts, 1),
        check_positive("what an OST is worth", file.bytes_per_ost_min, 1)}) {
    if (!status.ok()) return status;
  }
  return {};
}

/// An upper bound of the number of stripes, and what it comes from.
struct Bound {
  std::int64_t count;
  std::string reason;
};

Bound most_stripes(const ExpectedFile& file) {
  const std::int64_t worthwhile = std::max<std::int64_t>(1, file.bytes / file.bytes_per_ost_min);
  const std::string worth = std::to_string(file.bytes_per_ost_min / mebibyte) + " MiB";
  const Bound by_size = worthwhile == 1
                            ? Bound{1, "the file has less than twice " + worth +
                                           ", which is what makes one more OST worth its while"}
                            : Bound{worthwhile, "each OST is to have " + worth + " at least"};
  return std::ranges::min({by_size, Bound{file.ranks, "more OSTs than ranks are no use to them"},
                           Bound{file.osts, "there are no more OSTs"}},
                          {}, &Bound::count);
}

/// Whether nodes and stripes can be dealt to each other without a remainder.
bool shares_evenly(std::int64_t stripes, std::int64_t nodes) {
  return stripes % nodes == 0 || nodes % stripes == 0;
}

std::int64_t stripe_size_for(std::int64_t bytes_each) {
  std::int64_t size = stripe_size_min;
  while (size < stripe_size_max_chosen && bytes_each / (2 * size) >= stripes_per_ost_min) size *= 2;
  return size;
}

}  // namespace

std::string LayoutChoice::options() const {
  return "-c " + std::to_string(stripe_count) + " -S " + std::to_string(stripe_size / mebibyte) +
         "m";
}

Result<LayoutChoice> choose_layout(const ExpectedFile& file) {
  if (Status status = check(file); !status.ok()) return status.error();
  LayoutChoice choice;
  const Bound most = most_stripes(file);
  std::int64_t count = most.count;
  choice.reasons.push_back("at most " + std::to_string(count) + ": " + most.reason);

  const auto root =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(file.bytes) / 1'000'000'000.0));
  const std::int64_t least = std::min<std::int64_t>(file.osts, std::max<std::int64_t>(1, root));
  if (least > count) {
    count = least;
    const bool are_all = root > file.osts;
    choice.reasons.push_back(std::string("but ") + (are_all ? "all " : "at least ") +
                             std::to_string(count) + ": the square root of the size in GB" +
                             (are_all ? " is " + std::to_string(root) : ""));
  }
  const std::int64_t fewest = std::max(least, count - count / 4);
  std::int64_t even = count;
  while (even >= fewest && !shares_evenly(even, file.nodes)) --even;
  if (even >= fewest && even < count) {
    choice.reasons.push_back(std::to_string(even) + " rather than " + std::to_string(count) +
                             ": the " + std::to_string(file.nodes) + " nodes share them evenly");
    count = even;
  }
  if (!shares_evenly(count, file.nodes)) {
    choice.reasons.push_back(
        "the " + std::to_string(file.nodes) +
        " nodes cannot share them evenly: a number that they could is too far");
  }
  choice.stripe_count = checked_cast<std::int32_t>(count);
  choice.stripe_size = stripe_size_for(file.bytes / count);
  if (count > 1) {
    choice.reasons.push_back("stripes of " + std::to_string(choice.stripe_size / mebibyte) +
                             " MiB: large, and each OST has " +
                             std::to_string(file.bytes / count / choice.stripe_size) + " of them");
  }
  return choice;
}

}  // namespace nacre::plan
