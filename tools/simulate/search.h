// Settings of a job, and how long its collective calls would take with them by the cost model.
#pragma once

#include <string>

#include "base/result.h"
#include "options.h"

namespace nacre::simulate {

/// A JSON array, fastest first: "hints", "nanoseconds" of all collective calls, and the
/// "bottleneck". Compares numbers of stripes, and for each the plans that the library would
/// compare. The hints of `options` stay. The first collective call with data stands for all.
[[nodiscard]] Result<std::string> search(const Options& options);

}  // namespace nacre::simulate
