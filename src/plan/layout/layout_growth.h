// How the layout of a new file grows: it stays incomplete until the size of the file is known.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_GROWTH_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_GROWTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/layout_choice.h"

namespace nacre::plan {

/// The size of the head: a first component for early small writes, superblocks and headers, which
/// thus do not decide how the file is striped.
inline constexpr std::int64_t layout_head_bytes = 1 << 20;

/// The end of the last component; layout_end_of_file if the layout is complete.
[[nodiscard]] std::int64_t end_of(const Layout& layout);

/// The number of components at the end of the layout without objects, i.e. never written. 0 if the
/// layout has mirrors, components that extend, or no objects at all, or if components without
/// objects lie elsewhere too.
[[nodiscard]] std::size_t unwritten_tail_count(const Layout& layout);
/// The argument of a removal that selects all components without objects.
[[nodiscard]] Layout all_unwritten();

/// A change of the layout before a write.
struct LayoutStep {
  enum class Kind : std::uint8_t {
    none,         ///< the layout covers the write
    set,          ///< set the layout of a file without one
    add,          ///< append components
    set_default,  ///< set the directory's default, if it has one
  };
  Kind kind = Kind::none;
  bool removes_unwritten = false;         ///< add: remove components without objects first
  Layout layout = {};                     ///< set, add
  std::vector<std::string> reasons = {};  ///< of a chosen layout: LayoutChoice::reasons
};

/// When Nacre chooses a layout.
struct GrowthRules {
  std::int64_t bytes_min = 0;       ///< smaller files get the file system's default
  bool replaces_unwritten = false;  ///< the chosen layout replaces unwritten components
};

/// Before a collective write that ends at `file.bytes`. A new file that fits the head gets a head;
/// a longer file gets the chosen layout, as a whole or behind its head.
[[nodiscard]] Result<LayoutStep> step_for_all(const std::optional<Layout>& current,
                                              const ExpectedFile& file, const GrowthRules& rules);

/// Before or after an independent write up to `end`.
[[nodiscard]] LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end);

/// Before the close: a layout that covers only a head would fail the next writer of the file.
[[nodiscard]] LayoutStep step_to_complete(const std::optional<Layout>& current);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_GROWTH_H_
