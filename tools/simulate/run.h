// One run of a workload in virtual time.
#pragma once

#include <string>

#include "base/result.h"
#include "options.h"

namespace nacre::simulate {

/// Runs the job of `options` without data. Returns what it did, as a JSON object.
[[nodiscard]] Result<std::string> run(const Options& options);

}  // namespace nacre::simulate
