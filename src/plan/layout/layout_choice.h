// Which layout suits a file whose size and writers are known.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nacre::plan {

/// What is known. All at least 1, but bytes at least 0.
struct ExpectedFile {
  std::int64_t bytes = 0;
  std::int32_t nodes = 1;  ///< that write it, or read it, together
  std::int32_t ranks = 1;  ///< on all of them
  std::int32_t osts = 1;   ///< that the file may lie on
  /// What makes one more OST worth its connections, locks and objects.
  std::int64_t bytes_per_ost_min = 32 << 20;
};

struct LayoutChoice {
  std::int32_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;
  std::vector<std::string> reasons;  ///< for people: a sentence each, without its full stop

  /// As `lfs setstripe` takes it: "-c 8 -S 4m".
  [[nodiscard]] std::string options() const;
};

/// As many stripes as there are OSTs or ranks, or as get bytes_per_ost_min each, whichever is
/// least; fewer, by a quarter at most, where the nodes then share them evenly; but at least the
/// square root of the size in GB (Markomanolis, "Lustre best practices", KAUST 2016). Stripes of 1
/// to 16 MiB, so large that each OST has 16 of them. Error: what is said of the file cannot be.
[[nodiscard]] Result<LayoutChoice> choose_layout(const ExpectedFile& file);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_
