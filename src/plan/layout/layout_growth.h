// How the layout of a new file grows. A file that Nacre lays out starts with a head and a tail with
// the file system's default. The first large collective write replaces the tail by components that
// become wider with the offset; writes near the last component append wider components.
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
/// thus do not decide how the file is striped. As long as the shortest stripe.
[[nodiscard]] inline std::int64_t head_bytes(const ExpectedFile& file) {
  return file.stripe_size_min;
}
/// Nacre never gives a file more components. Each component with bytes costs objects, and each
/// change of a layout costs requests to the metadata server.
inline constexpr std::int64_t layout_components_max = 8;

/// The end of the last component; layout_end_of_file if the layout is complete.
[[nodiscard]] std::int64_t end_of(const Layout& layout);

/// The number of components at the end of the layout without objects, i.e. never written. 0 if the
/// layout has mirrors, components that extend, or no objects at all, or if components without
/// objects lie elsewhere too.
[[nodiscard]] std::size_t unwritten_tail_count(const Layout& layout);
/// The argument of a removal that selects all components without objects.
[[nodiscard]] Layout all_unwritten();

/// A change of the layout before a write. Layouts with mirrors or parity are never changed.
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
  std::int64_t bytes_min = 0;  ///< smaller files get the file system's default
  /// Nacre alone lays out the file: it had no layout at the open. Unwritten components are replaced
  /// by components that widen.
  bool is_own = false;
  /// What the tail of a new file gets: the directory's default; 0 stands for the file system's.
  Striping default_striping = {};
  /// One striping does not tell the default: it has mirrors, parity, components that extend or
  /// bytes on the metadata server. A new file that ends in the head gets it as it is.
  bool keeps_default = false;
  bool replaces_unwritten = false;  ///< the chosen layout replaces unwritten components
};

/// Before a collective write that ends at `file.bytes`. A new file gets one plain component if it
/// deserves all OSTs; otherwise a head and a tail with the default striping. If rules.is_own, a
/// call that ends behind the head replaces the tail: call it again after the file system has filled
/// in the default. No new component is narrower than the components that it follows or replaces, so
/// none is narrower than the default. New components of one stripe size differ in their stripe
/// counts by more than a factor of two.
[[nodiscard]] Result<LayoutStep> step_for_all(const std::optional<Layout>& current,
                                              const ExpectedFile& file, const GrowthRules& rules);

/// After a write that ends at or behind this offset, step_to_widen() may append components that are
/// wider than the last; layout_end_of_file: never. `current` is rules.is_own.
[[nodiscard]] std::int64_t widens_from(const Layout& current, const ExpectedFile& file);
/// Replaces the unwritten tail after writes up to `file.bytes`, if wider components come of it.
[[nodiscard]] LayoutStep step_to_widen(const Layout& current, const ExpectedFile& file);

/// Before or after an independent write up to `end`. A new file gets a head, and behind it
/// components that widen with the offset and are never narrower than `default_striping`: ranks do
/// not meet, so one request sets all of them, and the first rank to send it wins. If `file` is
/// unknown, the tail has the default.
[[nodiscard]] LayoutStep step_for_one(const std::optional<Layout>& current, std::int64_t end,
                                      const Striping& default_striping = {},
                                      const std::optional<ExpectedFile>& file = {});

/// Before the close: a layout that covers only a head would fail the next writer of the file.
[[nodiscard]] LayoutStep step_to_complete(const std::optional<Layout>& current);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_GROWTH_H_
