// Which way bytes go.
#ifndef NACRE_PLAN_DIRECTION_H_
#define NACRE_PLAN_DIRECTION_H_

#include <cstdint>

namespace nacre::plan {

/// Of the file.
enum class Direction : std::uint8_t { read, write };

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DIRECTION_H_
