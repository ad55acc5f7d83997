// OpenLayout: what an open file does about its layout, from open to close.
#ifndef NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_
#define NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/agreement/agreements.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hints.h"
#include "file/lazy_file.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// All ranks know the same layout: the one that rank 0 has read and broadcast, at open and each
/// time that it has changed. Where the layout of a new file is still incomplete, rank 0 extends it
/// before ranks write and completes it before they close. Ranks agree on these points, so no
/// message about layouts goes with a call once the layout is complete. Failures to read or to
/// change a layout are notes in the hints; accesses then go by no layout. Functions that return a
/// Task are collective.
class OpenLayout {
 public:
  /// What it uses of the open file, which outlives it.
  struct File {
    collective::Transport& transport;
    LazyFile& file;
    std::mutex& hints_mutex;
    Hints& hints;
    bool is_written;           ///< by its access mode
    bool is_deleted_at_close;  ///< the same
  };
  /// What rank 0 broadcasts at open, before the layout itself.
  struct AtOpen {
    std::int64_t encoded_bytes =
        0;  ///< of the layout; 0: the file is not striped, or not known to be
    bool grows = false;
  };

  explicit OpenLayout(const File& file) : file_(file) {}

  /// On rank 0, which has opened the file.
  [[nodiscard]] AtOpen read(const store::FileSystemFacts& file_system);
  /// Broadcasts the layout that rank 0 has read.
  collective::Task<collective::Unit> broadcast_at_open(AtOpen at_open,
                                                       store::FileSystemFacts file_system);

  /// How the file is striped; null: it is not, or not known to be.
  [[nodiscard]] const std::shared_ptr<const plan::StripeMap>& stripes() const { return stripes_; }
  /// Whether the layout is incomplete, or is to be replaced before the next write. The same on all
  /// ranks.
  [[nodiscard]] bool grows() const { return grows_; }

  /// Extends the layout, where it grows, before ranks write up to `end` (this rank's; 0: nothing).
  collective::Task<collective::Unit> grow_before_write(std::int64_t end);
  /// Reads the layout again where the file system has now chosen the OSTs of components that had
  /// none. `written` is the same on all ranks.
  collective::Task<collective::Unit> refresh_after_write(Extent written);
  /// Completes the layout, where it grows, once all ranks have written. The status is rank 0's.
  collective::Task<Status> complete_before_close();

 private:
  collective::Task<collective::Unit> broadcast_encoded(std::int64_t bytes);
  collective::Task<bool> broadcast(std::optional<plan::Layout> layout);
  [[nodiscard]] std::optional<plan::Layout> grow_on_rank_zero(std::int64_t end);
  [[nodiscard]] Status complete_on_rank_zero();
  void keep(std::optional<plan::Layout> layout);
  void note(const std::string& text);

  File file_;
  store::FileSystemFacts file_system_;
  std::optional<plan::Layout> layout_;  // on rank 0 between reading and broadcasting
  std::vector<std::byte> encoded_;      // the same layout
  std::shared_ptr<const plan::StripeMap> stripes_;
  bool grows_ = false;
  bool may_name_osts_ = false;  // the file system may yet choose OSTs for some of its components
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_
