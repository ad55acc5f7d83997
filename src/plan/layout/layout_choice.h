// The layout for a file whose size and writers are known.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"

namespace nacre::plan {

/// All numbers are at least 1, bytes at least 0.
struct ExpectedFile {
  std::int64_t bytes = 0;
  std::int32_t nodes = 1;  ///< that write or read the file together
  std::int32_t ranks = 1;  ///< on all nodes
  std::int32_t osts = 1;   ///< that the file may lie on
  /// Fewer bytes do not justify the connections, locks and objects of one more OST.
  std::int64_t bytes_per_ost_min = 32 << 20;
  std::int64_t osts_of_links = 0;          ///< beyond which the links are the limit; 0: unknown
  std::int64_t osts_of_ranks = 0;          ///< that the ranks can keep busy; 0: unknown
  std::int64_t call_bytes = 0;             ///< of the range of a collective call; 0: unknown
  std::int64_t stripe_size_min = 1 << 20;  ///< a multiple of stripe_size_unit
};

/// `file` with the limits that follow from the machine, where it has the figures: an OST is worth
/// its cost if it transfers its bytes for at least a quarter of the time that a request and its
/// lock take, and no more OSTs are worthwhile than the ranks can keep busy, or have 1.5 times the
/// bandwidth of the links of the nodes. Each rank keeps at least one busy. stripe_size_min is the
/// file system's own, where that is shorter.
[[nodiscard]] ExpectedFile on_machine(ExpectedFile file, const machine::Machine& machine);

struct LayoutChoice {
  std::int32_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;
  std::vector<std::string> reasons;  ///< for users: sentences without full stops

  /// As `lfs setstripe` takes it: "-c 8 -S 4m".
  [[nodiscard]] std::string options() const;
};

/// The stripe count is the smallest of: the OSTs, osts_of_links, osts_of_ranks (unknown: as many as
/// ranks), and the stripes that get bytes_per_ost_min each. It becomes smaller, by a quarter at
/// most, or larger, by a third at most, if the nodes then share the stripes evenly. It is at least
/// the square root of the size in GB (Markomanolis, "Lustre best practices", KAUST 2016). The
/// stripe size is 1 to 16 times stripe_size_min: the largest with which each OST has 16 stripes of
/// the file, and one of each collective call. Error: a number of `file` is out of its range.
[[nodiscard]] Result<LayoutChoice> choose_layout(const ExpectedFile& file);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_CHOICE_H_
