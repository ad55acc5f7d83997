// How the layout of a new file grows: it is left open until it is known what the file is to hold.
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

/// What a first component takes that is there for early small writes, superblocks and headers, so
/// that they do not decide how the file is striped.
inline constexpr std::int64_t layout_head_bytes = 1 << 20;

/// Where a layout ends; layout_end_of_file where it is complete.
[[nodiscard]] std::int64_t end_of(const Layout& layout);

/// How many components at a layout's end have no objects, as nothing was ever written to them. None
/// of layouts with mirrors, with components that extend, or without objects elsewhere.
[[nodiscard]] std::size_t unwritten_tail_count(const Layout& layout);
/// What stands for all components without objects, where some are to be removed.
[[nodiscard]] Layout all_unwritten();

/// What is to be done before something is written.
struct LayoutStep {
  enum class Kind : std::uint8_t {
    none,         ///< there is a layout for it
    set,          ///< the file's, which has none
    add,          ///< behind the components that there are
    set_default,  ///< what a new file of its directory gets, where somebody has set that
  };
  Kind kind = Kind::none;
  bool removes_unwritten = false;         ///< add: first, all components without objects
  Layout layout = {};                     ///< set, add
  std::vector<std::string> reasons = {};  ///< of one that was chosen; as LayoutChoice has them
};

/// When a layout is chosen.
struct GrowthRules {
  std::int64_t bytes_min = 0;       ///< smaller files have what file systems give by themselves
  bool replaces_unwritten = false;  ///< the unwritten tail gives way to what is chosen
};

/// Before all ranks write: `file.bytes` is where what they write ends. A file that is to be no
/// longer than a head gets one; a longer one the layout that suits it, whole or behind its head.
[[nodiscard]] Result<LayoutStep> step_for_all(const std::optional<Layout>& current,
                                              const ExpectedFile& file, const GrowthRules& rules);

/// Before or after one rank alone writes up to `end`, of which nothing more is known.
[[nodiscard]] LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end);

/// Before the file is closed: no more than a head is a trap for whoever writes it next.
[[nodiscard]] LayoutStep step_to_complete(const std::optional<Layout>& current);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_GROWTH_H_
