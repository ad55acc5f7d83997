// GrowingLayout: the layout of a file that may still get one, or more of it.
#ifndef NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_
#define NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/layout_choice.h"
#include "plan/layout/layout_growth.h"
#include "store/forwarding_file.h"
#include "store/store.h"

namespace nacre::file {

enum class LayoutState : std::uint8_t {
  incomplete,    ///< leaves a part of the file without a layout
  may_give_way,  ///< by the rules: nothing is written to its tail
  settled,
};
/// `layout`: none where the file has none.
[[nodiscard]] LayoutState state_of(const std::optional<plan::Layout>& layout,
                                   const plan::GrowthRules& rules);

/// What growing came to.
struct GrownLayout {
  std::optional<plan::Layout> layout;  ///< none where it is still open
  std::vector<std::string> reasons;    ///< of one that was chosen now, or why it could not be had
};

/// Before all ranks write a file up to file.bytes; on one of them. What cannot be set is left to
/// the file system's default.
[[nodiscard]] Result<GrownLayout> grow_for_all(store::FileLayouts& layouts,
                                               const plan::ExpectedFile& file,
                                               const plan::GrowthRules& rules);
/// Before the file is closed. `current`: its layout now.
[[nodiscard]] Status complete_layout(store::FileLayouts& layouts,
                                     std::optional<plan::Layout> current);

/// A file whose layout may end before it does, or be missing: a write that finds none gets it one.
/// Thread-safe, and between processes. All else is the inner file's.
class GrowingFile final : public store::ForwardingFile {
 public:
  using ForwardingFile::ForwardingFile;
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_
