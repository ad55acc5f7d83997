// OpenFile: what stands behind an MPI_File, without MPI: view, pointers, mode, hints, consistency,
// and the way from a data access to the engine or the store.
#ifndef NACRE_FILE_OPEN_FILE_H_
#define NACRE_FILE_OPEN_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collective/agreement/agreements.h"
#include "collective/engine.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/conversion/converter.h"
#include "file/hints/hints.h"
#include "file/layout/open_layout.h"
#include "file/lazy_file.h"
#include "file/report/file_profile.h"
#include "file/shared_pointer.h"
#include "file/view.h"
#include "plan/direction.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"
#include "store/store.h"

namespace nacre::file {

/// MPI_MODE_* as named flags; src/mpi translates.
struct AccessMode {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;
  bool append = false;
  bool sequential = false;
  bool delete_on_close = false;
  bool unique_open = false;  ///< a promise that changes nothing here
};

enum class Position : std::uint8_t { explicit_offset, individual, shared, ordered };

/// One data access, as a program asks for it.
struct Access {
  plan::Direction direction = plan::Direction::read;
  Position position = Position::individual;
  std::int64_t offset = 0;  ///< explicit_offset: in etypes, relative to the view
  plan::MemoryAccess memory;
  std::shared_ptr<Converter> converter;  ///< null: bytes go as they are
  /// Of a collective one: until it has ended this process does nothing else with the file, by
  /// whatever open.
  bool alone = false;
};

/// What was transferred, in bytes of memory, and why it stopped, if it was an error.
struct Outcome {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};

enum class Whence : std::uint8_t { set, current, end };

/// Everything that open needs.
struct OpenRequest {
  std::string path;  ///< prefix stripped, from the root on
  AccessMode mode;
  Hints hints;                                       ///< the same on all ranks
  std::unique_ptr<collective::Transport> transport;  ///< serves this file alone
  std::shared_ptr<store::Store> store;
  bool one_node = false;  ///< every rank is known to share memory with every other
  /// The lengths of the grid in which the program has put its ranks, row by row; empty: none.
  std::vector<std::int32_t> process_grid = {};
  std::uint64_t id = 0;  ///< the same on all ranks, unlike that of any other open
  /// When the program asked (monotonic_nanoseconds()), for the report.
  std::int64_t asked_nanoseconds = monotonic_nanoseconds();
};

/// Thread-safe: several threads may use one file at once. Functions that return a Task are
/// collective: every rank calls the same ones in the same order and runs the tasks to the end, one
/// after the other. The file outlives its tasks. A `refusal` says why this rank cannot take part as
/// asked; the call then ends with that error on every rank.
class OpenFile {
 public:
  /// Rank 0 makes or opens the file; the others open it when they first touch it.
  static collective::Task<Result<std::shared_ptr<OpenFile>>> open(OpenRequest request);
  /// Ends with an agreed status; the file is closed on every rank all the same.
  collective::Task<Status> close();

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Data access. Pointers move at the call (of transfer_all: before its task runs), by what was
  // asked for (MPI-4.1, 14.4.3). The one exception is what MPICH and Open MPI do too: an
  // independent read by the individual pointer that met the end of the file leaves it there, so
  // that who reads on later reads what has been appended. With a converter only whole basic
  // elements are read (see Converter::whole_part), and the pointer stands behind the last of them,
  // at the next etype.
  /// Independent (explicit, individual, shared). Blocking; no message is sent. A write by the
  /// shared pointer that fails leaves its gap.
  [[nodiscard]] Outcome transfer(const Access& access);
  /// Collective (explicit, individual, ordered).
  collective::Task<Outcome> transfer_all(const Access& access, std::optional<Error> refusal);

  // Views and pointers. Offsets and positions count etypes of the view.
  /// `info_pairs`: hints that came with the view; rank 0's are taken. All pointers go to 0. After
  /// an error the old view stays. With View::at_shared_pointer in sequential mode only.
  collective::Task<Status> set_view(View view, InfoPairs info_pairs, std::optional<Error> refusal);
  /// The displacement of the view, in bytes.
  [[nodiscard]] std::int64_t displacement() const;
  [[nodiscard]] Result<std::int64_t> byte_offset(std::int64_t offset_etypes) const;
  [[nodiscard]] Status seek(std::int64_t offset_etypes, Whence whence);
  [[nodiscard]] Result<std::int64_t> position() const;
  collective::Task<Status> seek_shared(std::int64_t offset_etypes, Whence whence,
                                       std::optional<Error> refusal);
  [[nodiscard]] Result<std::int64_t> position_shared();
  /// Where the shared pointer is, in bytes of the file.
  [[nodiscard]] Result<std::int64_t> shared_byte_offset();

  // Size, consistency, hints.
  [[nodiscard]] Result<std::int64_t> size();
  /// All ranks pass the same, else ErrorClass::not_same.
  collective::Task<Status> resize(std::int64_t size_bytes);
  collective::Task<Status> preallocate(std::int64_t size_bytes);
  /// Every rank that has written, for itself or for others, syncs.
  collective::Task<Status> sync();
  collective::Task<Status> set_atomicity(bool atomic);
  [[nodiscard]] bool atomicity() const { return atomic_.load(); }
  [[nodiscard]] Hints hints() const;
  /// Rank 0's pairs change the hints on all ranks. Never fails.
  collective::Task<Status> update_hints(InfoPairs info_pairs);
  [[nodiscard]] const AccessMode& mode() const { return mode_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] collective::Transport& transport() { return *transport_; }

 private:
  /// What rank 0 tells the others of the file that it opened.
  struct OpenedFacts {
    bool failed = false;
    store::FileIdentity identity;
    std::int64_t size = 0;
    store::FileSystemFacts file_system;
    OpenLayout::AtOpen layout;
  };
  /// What an access goes by, whatever other threads change meanwhile.
  struct Snapshot {
    std::shared_ptr<const View> view;
    std::shared_ptr<const AccessSettings> settings;
  };
  /// An access with its place in the file.
  struct PlacedAccess {
    Access access;
    std::shared_ptr<const View> view;
    std::shared_ptr<const AccessSettings> settings;
    plan::FileAccess file;
    std::int64_t offset_etypes = 0;  ///< in the view
    std::int64_t file_bytes = 0;
    std::int64_t element_file_bytes = 0;  ///< with a converter: of one element of the memory type

    [[nodiscard]] std::int64_t etypes() const { return file_bytes / view->etype_size; }
    /// Bytes of memory that `bytes` of the file are; with a converter in whole basic elements.
    [[nodiscard]] std::int64_t memory_bytes(std::int64_t bytes) const;
  };
  /// Keeps other accesses away while it lives: the threads of this process, the other processes.
  struct Exclusion {
    std::unique_lock<std::mutex> threads;
    std::unique_ptr<store::FileLock> processes;
  };
  /// What a collective access is; but for `alone` the same on all ranks.
  struct Routine {
    plan::Direction direction;
    Position position;
    bool alone;
  };
  /// What all ranks pass alike, with what else is not shown in the message.
  struct Argument {
    std::int64_t value = 0;
    std::int64_t kind = 0;
  };
  /// What a set_view needs beside the agreement; the least of the ranks' counts.
  enum class ViewNeeds : std::int64_t { hints = 0, reset_of_shared_pointer = 1, nothing = 2 };
  explicit OpenFile(OpenRequest request);
  [[nodiscard]] Result<OpenedFacts> open_first();
  void take_facts(const OpenedFacts& facts);
  [[nodiscard]] Status check_access(const Access& access) const;
  [[nodiscard]] Status check_mode_for_pointers(const char* what) const;
  [[nodiscard]] Result<PlacedAccess> measure(const Access& access) const;
  [[nodiscard]] Status place(PlacedAccess& placed, std::int64_t offset_etypes) const;
  [[nodiscard]] Status place_individual(PlacedAccess& placed);
  [[nodiscard]] Status place_shared(PlacedAccess& placed);
  [[nodiscard]] Result<PlacedAccess> place_now(const Access& access);
  void rewind_unread(const PlacedAccess& placed, std::int64_t file_bytes_read);
  [[nodiscard]] bool locks_accesses(const AccessSettings& settings) const;
  [[nodiscard]] plan::CollectiveSettings collective_settings(plan::Direction direction,
                                                             const AccessSettings& settings) const;
  [[nodiscard]] Result<Exclusion> exclude_others(store::StoreFile& file, const PlacedAccess& placed,
                                                 bool locked, collective::Profiler& profiler);
  [[nodiscard]] store::Transfer move_independent(const PlacedAccess& placed, bool locked,
                                                 collective::Profiler& profiler);
  void note_plan(const PlanUse& call, const plan::CollectiveSettings& settings);
  [[nodiscard]] int io_thread_count(const AccessSettings& settings) const;
  collective::Task<Outcome> run_all(Routine routine, Result<PlacedAccess> placed);
  collective::Task<Result<PlacedAccess>> place_ordered(Result<PlacedAccess> placed);
  collective::Task<Outcome> move_all_locked(plan::Direction direction,
                                            const Result<PlacedAccess>& placed,
                                            collective::Profiler& profiler);
  collective::Task<Outcome> move_all_by_engine(Routine routine, const Result<PlacedAccess>& placed,
                                               collective::Profiler& profiler);
  [[nodiscard]] collective::CollectiveCall call_of(Routine routine,
                                                   const Result<PlacedAccess>& placed,
                                                   Result<plan::MemoryAccess> memory,
                                                   const AccessSettings& settings) const;
  void note_refused_locks(const collective::Outcome& moved);
  collective::Task<Status> close_file();
  collective::Task<collective::Unit> report();

  // Pointers and size.
  [[nodiscard]] Result<std::int64_t> seek_target(std::int64_t offset_etypes,
                                                 const Result<std::int64_t>& from) const;
  [[nodiscard]] Result<std::int64_t> end_of_file();
  [[nodiscard]] Status check_new_view(const View& view) const;
  collective::Task<Result<ViewNeeds>> agree_on_view(const View& view, Status local,
                                                    bool brings_hints);
  collective::Task<Result<std::int64_t>> broadcast_from_rank_zero(Result<std::int64_t> first);
  collective::Task<Result<std::int64_t>> find_displacement();
  collective::Task<Status> agree_on_same(Argument argument, Status local, const char* what);
  collective::Task<Status> change_size(std::int64_t size_bytes, const char* what,
                                       Status (store::StoreFile::*change)(std::int64_t));
  [[nodiscard]] Snapshot snapshot() const;

  std::string path_;
  AccessMode mode_;
  std::unique_ptr<collective::Transport> transport_;
  std::shared_ptr<store::Store> store_;
  bool one_node_;
  LazyFile file_;
  SharedPointer shared_pointer_;
  // Of the collective tasks, which run one after the other:
  collective::ViewMemory views_;
  collective::NodeRounds rounds_;
  collective::RankGroupCache groups_;
  store::FileSystemFacts file_system_;
  std::shared_ptr<const plan::InitialGroups> grid_;  // of the program's ranks; null: none
  std::atomic<bool> atomic_ = false;
  std::atomic<bool> wrote_ = false;
  const std::uint64_t id_;            // as OpenRequest has it
  std::int64_t locked_calls_ = 0;     // that could take a group lock; the same on all ranks
  bool refuses_write_locks_ = false;  // those that a hint asked for
  FileProfile profile_;

  mutable std::mutex mutex_;  // of what follows
  Hints hints_;
  std::shared_ptr<const AccessSettings> settings_;  // what hints_ says of data access
  std::shared_ptr<const View> view_;
  std::int64_t position_ = 0;  // the individual pointer, in etypes

  OpenLayout layout_;  // uses hints_ under mutex_; else of the collective tasks

  /// Held over an access that needs a lock: range locks do not hold between threads of one open
  /// file.
  std::mutex locked_access_mutex_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_OPEN_FILE_H_
