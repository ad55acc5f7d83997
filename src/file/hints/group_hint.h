// The hint nacre_groups: how ranks are grouped for segmentation.
#ifndef NACRE_FILE_HINTS_GROUP_HINT_H_
#define NACRE_FILE_HINTS_GROUP_HINT_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/nodes/grouping.h"

namespace nacre::file {

/// The values that the hint takes, for messages.
[[nodiscard]] std::string_view group_hint_grammar();

/// Parses "automatic", "each", a grid ("4x4x2": row-major, a row along the last dimension is a
/// group) or lists ("0-3/4-7+12": a group of four ranks and one of five). ErrorClass::info_value
/// for any other text, and if lists repeat a rank.
[[nodiscard]] Result<plan::InitialGroups> parse_groups(std::string_view text);

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_GROUP_HINT_H_
