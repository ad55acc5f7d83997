// OpenLayout: reads, extends and completes the layout of an open file.
#ifndef NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_
#define NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/agreement/agreements.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hints.h"
#include "file/layout/growing_layout.h"
#include "file/lazy_file.h"
#include "machine/machine.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// What the layout of a file comes from, for the report.
enum class LayoutOrigin : std::uint8_t {
  unknown,         ///< the file was not written, or is not striped
  hints,           ///< striping hints requested it
  default_layout,  ///< the default of the directory or of the file system
  nacre,           ///< Nacre chose it, or extended it
  file,            ///< the file had it when it was opened; also an unknown default of a new file
};
/// Its word in the report; "" for unknown.
[[nodiscard]] const char* name_of(LayoutOrigin origin);

/// Rank 0 reads the layout at the open and after each change, and broadcasts it, so that all ranks
/// know the same layout. If the layout of a new file is incomplete, rank 0 extends it before ranks
/// write and completes it before they close. Once it is complete, calls send no messages about
/// layouts. If rank 0 cannot read or change a layout, it adds a note to the hints, and the file is
/// treated as not striped. Functions that return a Task are collective.
class OpenLayout {
 public:
  /// Parts of the open file, which must outlive this object.
  struct File {
    collective::Transport& transport;
    LazyFile& file;
    std::mutex& hints_mutex;
    Hints& hints;
    bool is_written;           ///< the access mode allows writing
    bool is_deleted_at_close;  ///< MPI_MODE_DELETE_ON_CLOSE
  };
  /// Broadcast by rank 0 at the open, before the layout itself.
  struct AtOpen {
    std::int64_t encoded_bytes = 0;  ///< of the layout; 0: not striped, or unknown
    bool grows = false;
  };

  explicit OpenLayout(const File& file) : file_(file) {}

  /// Called on rank 0 before read(): the layout that hints request for a new file.
  void expect(std::optional<plan::Layout> requested) { requested_ = std::move(requested); }
  /// Reads the layout on rank 0 after the open.
  [[nodiscard]] AtOpen read(const store::FileSystemFacts& file_system);
  /// What is known of the storage when the file is open. `machine`: null if none is known.
  struct Storage {
    store::FileSystemFacts file_system;
    std::shared_ptr<const machine::Machine> machine;
  };
  /// Broadcasts the layout that rank 0 has read.
  collective::Task<collective::Unit> broadcast_at_open(AtOpen at_open, Storage storage);

  /// The stripes of the file; null: not striped, or unknown. Changes in collective tasks, under
  /// File::hints_mutex.
  [[nodiscard]] const std::shared_ptr<const plan::StripeMap>& stripes() const { return stripes_; }
  /// Whether the next write may extend or replace the layout. The same on all ranks.
  [[nodiscard]] bool grows() const { return grows_; }

  /// How far this rank writes.
  struct Reach {
    std::int64_t end = 0;       ///< of its write; 0: it writes nothing
    std::int64_t file_end = 0;  ///< of the file, as far as its write tells; at least `end`
  };
  /// If grows(), extends the layout before ranks write.
  collective::Task<collective::Unit> grow_before_write(Reach reach);
  /// Reads the layout again if the write made the file system choose the OSTs of a component, and
  /// widens it if the write came near its last component. `written` is the same on all ranks.
  collective::Task<collective::Unit> refresh_after_write(Extent written);
  /// If grows(), completes the layout after all ranks have written. Returns the status of rank 0.
  collective::Task<Status> complete_before_close();
  /// Reads the layout of a written file once more: the file system has chosen OSTs meanwhile. Adds
  /// a note if an independent write set the layout and it has grown.
  collective::Task<collective::Unit> read_before_report();
  /// On rank 0 after read_before_report().
  [[nodiscard]] LayoutOrigin origin() const { return origin_; }

 private:
  collective::Task<collective::Unit> broadcast_encoded(std::int64_t bytes);
  collective::Task<bool> broadcast(GrownLayout grown);
  [[nodiscard]] plan::ExpectedFile expected_file(Extent written, std::int64_t file_end = 0);
  [[nodiscard]] GrownLayout grow_on_rank_zero(Reach reach);
  [[nodiscard]] GrownLayout read_on_rank_zero(Extent written);
  /// Adds the reasons to the notes. Returns the layout if Nacre can use it.
  [[nodiscard]] GrownLayout checked(GrownLayout grown, store::FileLayouts& layouts);
  [[nodiscard]] Status complete_on_rank_zero();
  [[nodiscard]] LayoutOrigin origin_of(const plan::Layout& layout, store::FileLayouts& layouts);
  void keep(std::optional<plan::Layout> layout);
  void note(const std::string& text);

  File file_;
  Storage storage_;
  std::optional<plan::Layout> layout_;  // on rank 0 between reading and broadcasting
  std::vector<std::byte> encoded_;      // the same layout
  std::shared_ptr<const plan::StripeMap> stripes_;
  bool grows_ = false;
  // On rank 0: the layout that hints request; whether the file had no layout at the open; whether
  // collective calls set the layout or chose components.
  std::optional<plan::Layout> requested_;
  bool is_own_ = false;
  bool is_set_by_all_ = false;
  bool is_chosen_ = false;
  LayoutOrigin origin_ = LayoutOrigin::unknown;
  // A write up to this offset or behind it widens the layout. The same on all ranks.
  std::int64_t widens_from_ = plan::layout_end_of_file;
  bool may_name_osts_ = false;  // the file system may yet choose OSTs for some of its components
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_OPEN_LAYOUT_H_
