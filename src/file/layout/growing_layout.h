// Extends the layout of a file that is incomplete or missing.
#ifndef NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_
#define NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/layout_choice.h"
#include "plan/layout/layout_growth.h"
#include "store/forwarding.h"
#include "store/store.h"

namespace nacre::file {

enum class LayoutState : std::uint8_t {
  incomplete,   ///< does not cover the whole file
  replaceable,  ///< the rules allow to replace its unwritten tail
  settled,
};
/// `layout`: none if the file has none.
[[nodiscard]] LayoutState state_of(const std::optional<plan::Layout>& layout,
                                   const plan::GrowthRules& rules);

/// The result of extending a layout.
struct GrownLayout {
  std::optional<plan::Layout> layout;  ///< none if it is still incomplete
  std::vector<std::string> reasons;    ///< of the choice, or of a failure
  bool is_new = false;                 ///< the file had no layout before
  bool is_chosen = false;              ///< components that Nacre chose are in force
  /// A write up to this offset or behind it should be followed by widen_after_write().
  std::int64_t widens_from = plan::layout_end_of_file;
};

/// Extends the layout before all ranks write the file up to file.bytes. Called on one rank. Falls
/// back to the file system's default layout.
[[nodiscard]] Result<GrownLayout> grow_for_all(store::FileLayouts& layouts,
                                               const plan::ExpectedFile& file,
                                               const plan::GrowthRules& rules);
/// Replaces the unwritten tail of a file with rules.is_own by wider components, after all ranks
/// wrote the file up to file.bytes. Called on one rank.
[[nodiscard]] Result<GrownLayout> widen_after_write(store::FileLayouts& layouts,
                                                    const plan::ExpectedFile& file);
/// Completes the layout before the file is closed. `current`: its present layout.
[[nodiscard]] Status complete_layout(store::FileLayouts& layouts,
                                     std::optional<plan::Layout> current);

/// A file whose layout may be incomplete or missing. A write that fails for this reason extends the
/// layout and is retried. Safe between threads and processes. Forwards all other calls.
class GrowingFile final : public store::ForwardingFile {
 public:
  /// `expected`: what is known of the file apart from its size and its OSTs; none: a file without a
  /// layout gets the default.
  GrowingFile(std::unique_ptr<store::StoreFile> file,
              const std::optional<plan::ExpectedFile>& expected)
      : ForwardingFile(std::move(file)), expected_(expected) {}
  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override;

 private:
  std::optional<plan::ExpectedFile> expected_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_GROWING_LAYOUT_H_
