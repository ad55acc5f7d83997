// Layouts asked for in words: the common options of `lfs setstripe`.
#ifndef NACRE_PLAN_STRIPE_OPTIONS_H_
#define NACRE_PLAN_STRIPE_OPTIONS_H_

#include <string_view>

#include "base/result.h"
#include "plan/layout.h"

namespace nacre::plan {

// What Lustre takes. Stripes are in units of stripe_size_unit.
inline constexpr std::int64_t stripe_size_unit = 64 << 10;
inline constexpr std::int64_t stripe_size_max = (std::int64_t{4} << 30) - stripe_size_unit;
inline constexpr std::int32_t stripe_count_max = 2000;
inline constexpr std::int32_t stripes_on_ost_max = 32;
inline constexpr std::int32_t first_ost_max = 0xfffe;

/// Options apart by blanks, each with its value, apart or not: -c COUNT, -S SIZE, -i OST, -p POOL,
/// -C COUNT (overstriped), -L raid0 or mdt, or their long names. With -E END, for each component of
/// a composite layout, from the beginning of the file on: -E first, then the component's own;
/// count, size and pool are those of the component before where they are not given. SIZE and END
/// are bytes, or with k, m, g or t multiples of 1024; COUNT -1 is all OSTs; END -1 or eof the end
/// of the file. Error: names the option, its value and what would be right.
[[nodiscard]] Result<Layout> parse_stripe_options(std::string_view text);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_STRIPE_OPTIONS_H_
