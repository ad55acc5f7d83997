// OpenFile: an open file without MPI: its view, pointers, mode, hints and consistency. Passes data
// accesses to the collective engine or to the store.
#ifndef NACRE_FILE_OPEN_FILE_H_
#define NACRE_FILE_OPEN_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collective/agreement/agreements.h"
#include "collective/engine.h"
#include "collective/rounds/round_copies.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/conversion/converter.h"
#include "file/hints/hints.h"
#include "file/layout/open_layout.h"
#include "file/lazy_file.h"
#include "file/report/file_profile.h"
#include "file/report/job_facts.h"
#include "file/shared_pointer.h"
#include "file/view.h"
#include "machine/machine.h"
#include "plan/direction.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"
#include "store/store.h"

namespace nacre::file {

/// MPI_MODE_* as named flags.
struct AccessMode {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;
  bool append = false;
  bool sequential = false;
  bool delete_on_close = false;
  bool unique_open = false;  ///< has no effect
};

enum class Position : std::uint8_t { explicit_offset, individual, shared, ordered };

/// One data access of a program.
struct Access {
  plan::Direction direction = plan::Direction::read;
  Position position = Position::individual;
  std::int64_t offset = 0;  ///< explicit_offset: in etypes, relative to the view
  plan::MemoryAccess memory;
  std::shared_ptr<Converter> converter;  ///< null: no conversion
  /// Of a collective access: until it ends, this process accesses the file in no other way.
  bool alone = false;
};

/// Bytes of memory that were transferred, and the error that ended the transfer early.
struct Outcome {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};

enum class Whence : std::uint8_t { set, current, end };

/// Arguments of OpenFile::open.
struct OpenRequest {
  std::string path;  ///< absolute, without a prefix
  AccessMode mode;
  Hints hints;                                       ///< the same on all ranks
  std::unique_ptr<collective::Transport> transport;  ///< used by this file only
  std::shared_ptr<store::Store> store;
  collective::RoundCopies& copies = collective::immediate_copies();  ///< outlives the file
  bool one_node = false;                                             ///< all ranks share memory
  /// The dimensions of the cartesian communicator, row-major; empty: not cartesian.
  std::vector<std::int32_t> process_grid = {};
  std::uint64_t id = 0;  ///< the same on all ranks, unique for each open
  /// The time of the program's call (monotonic_nanoseconds()), for the report.
  std::int64_t asked_nanoseconds = monotonic_nanoseconds();
  MpiFacts mpi = {};  ///< for the report; rank 0's count
};

/// Thread-safe. Functions that return a Task are collective: all ranks call them in the same order
/// and run the tasks to the end, one after the other. The file must outlive its tasks. `refusal` is
/// an error in this rank's arguments; the call then fails with that error on all ranks.
class OpenFile {
 public:
  /// Rank 0 creates or opens the file; the other ranks open it at their first access.
  static collective::Task<Result<std::shared_ptr<OpenFile>>> open(OpenRequest request);
  /// Closes the file on all ranks. All ranks return the same status.
  collective::Task<Status> close();

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Data access. Pointers move at the call (in transfer_all before the task runs), by the requested
  // size (MPI-4.1, 14.4.3). One exception, as in MPICH and Open MPI: an independent read by the
  // individual pointer that reaches the end of the file leaves the pointer there, so that a later
  // read returns appended data. With a converter, reads return whole basic elements only (see
  // Converter::whole_part), and the pointer moves to the next etype behind the last of them.
  /// Independent (explicit offset, individual or shared pointer). Blocking; sends no message. The
  /// shared pointer stays advanced if a write fails.
  [[nodiscard]] Outcome transfer(Access access);
  /// Collective (explicit offset, individual pointer, ordered).
  collective::Task<Outcome> transfer_all(Access access, std::optional<Error> refusal);

  // Views and pointers. Offsets and positions count etypes of the view.
  /// `info_pairs`: the hints of the call; rank 0's apply. Sets all pointers to 0. Keeps the old
  /// view after an error. View::at_shared_pointer is valid in sequential mode only.
  collective::Task<Status> set_view(View view, InfoPairs info_pairs, std::optional<Error> refusal);
  /// The displacement of the view, in bytes.
  [[nodiscard]] std::int64_t displacement() const;
  [[nodiscard]] Result<std::int64_t> byte_offset(std::int64_t offset_etypes) const;
  [[nodiscard]] Status seek(std::int64_t offset_etypes, Whence whence);
  [[nodiscard]] Result<std::int64_t> position() const;
  collective::Task<Status> seek_shared(std::int64_t offset_etypes, Whence whence,
                                       std::optional<Error> refusal);
  [[nodiscard]] Result<std::int64_t> position_shared();
  /// The position of the shared pointer in bytes of the file.
  [[nodiscard]] Result<std::int64_t> shared_byte_offset();

  // Size, consistency, hints.
  [[nodiscard]] Result<std::int64_t> size();
  /// ErrorClass::not_same if ranks pass different sizes.
  collective::Task<Status> resize(std::int64_t size_bytes);
  collective::Task<Status> preallocate(std::int64_t size_bytes);
  /// Each rank that has written to the file system calls fsync.
  collective::Task<Status> sync();
  collective::Task<Status> set_atomicity(bool atomic);
  [[nodiscard]] bool atomicity() const { return atomic_.load(); }
  [[nodiscard]] Hints hints() const;
  /// Of the report that the close appends to; empty: none.
  [[nodiscard]] std::string report_path() const;
  /// Applies rank 0's pairs on all ranks. Never fails.
  collective::Task<Status> update_hints(InfoPairs info_pairs);
  [[nodiscard]] const AccessMode& mode() const { return mode_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] collective::Transport& transport() { return *transport_; }
  [[nodiscard]] FileProfile& profile() { return profile_; }

 private:
  /// Broadcast by rank 0 after it opened the file.
  struct OpenedFacts {
    bool failed = false;
    store::FileIdentity identity;
    std::int64_t size = 0;
    store::FileSystemFacts file_system;
    bool has_machine = false;
    bool ignores_machine_hint = false;  ///< the machine file that the program names is bad
    machine::Machine machine;
    OpenLayout::AtOpen layout;
  };
  /// A snapshot of the view and settings for one access; other threads may change them meanwhile.
  struct Snapshot {
    std::shared_ptr<const View> view;
    std::shared_ptr<const AccessSettings> settings;
    std::shared_ptr<const plan::StripeMap> stripes;  ///< OpenLayout::stripes()
  };
  /// An access and its range of the file.
  struct PlacedAccess {
    explicit PlacedAccess(Access of) : access(std::move(of)) {}

    Access access;
    std::shared_ptr<const View> view;
    std::shared_ptr<const AccessSettings> settings;
    std::shared_ptr<const plan::StripeMap> stripes;
    plan::FileAccess file;
    std::int64_t offset_etypes = 0;  ///< in the view
    std::int64_t file_bytes = 0;
    std::int64_t element_file_bytes =
        0;  ///< with a converter: bytes in the file of one element of the memory type

    [[nodiscard]] std::int64_t etypes() const { return file_bytes / view->etype_size; }
    /// The bytes of memory for `bytes` of the file; with a converter, of whole basic elements.
    [[nodiscard]] std::int64_t memory_bytes(std::int64_t bytes) const;
  };
  /// Excludes accesses of other threads and processes during its lifetime.
  struct Exclusion {
    std::unique_lock<std::mutex> threads;
    std::unique_ptr<store::FileLock> processes;
  };
  /// The kind of a collective access; the same on all ranks except for `alone`.
  struct Routine {
    plan::Direction direction;
    Position position;
    bool alone;
  };
  /// An argument that all ranks must pass alike; `value` is shown in messages.
  struct Argument {
    std::int64_t value = 0;
    std::int64_t kind = 0;
  };
  /// What a new view needs on all ranks, beside the view itself.
  struct ViewNeeds {
    bool reset = false;  ///< of the shared pointer
    bool hints = false;  ///< rank 0's, which changed
  };
  explicit OpenFile(OpenRequest request);
  [[nodiscard]] Result<OpenedFacts> open_first();
  [[nodiscard]] Result<OpenedFacts> find_facts(store::StoreFile& file,
                                               const store::OpenOptions& options);
  [[nodiscard]] Status find_machine_for(OpenedFacts& facts);
  void take_facts(const OpenedFacts& facts);
  [[nodiscard]] Status check_access(const Access& access) const;
  [[nodiscard]] Status check_mode_for_pointers(const char* what) const;
  [[nodiscard]] Status measure(PlacedAccess& placed) const;
  [[nodiscard]] Status place(PlacedAccess& placed, std::int64_t offset_etypes) const;
  [[nodiscard]] Status place_individual(PlacedAccess& placed);
  [[nodiscard]] Status place_shared(PlacedAccess& placed);
  [[nodiscard]] Status place_now(PlacedAccess& placed);
  void rewind_unread(const PlacedAccess& placed, std::int64_t file_bytes_read);
  [[nodiscard]] std::int64_t block_bytes(const plan::StripeMap* stripes) const;
  /// `stripes`: null if there are none, or they are unknown.
  [[nodiscard]] collective::FileTraits traits_of(const plan::StripeMap* stripes,
                                                 std::int64_t block_bytes) const;
  [[nodiscard]] bool locks_accesses(const AccessSettings& settings) const;
  [[nodiscard]] plan::CollectiveSettings collective_settings(plan::Direction direction,
                                                             const AccessSettings& settings) const;
  [[nodiscard]] Result<Exclusion> exclude_others(store::StoreFile& file, const PlacedAccess& placed,
                                                 bool locked, collective::Profiler& profiler);
  [[nodiscard]] store::Transfer move_independent(const PlacedAccess& placed, bool locked,
                                                 collective::Profiler& profiler);
  void note_plan(const PlannedCall& call, const plan::CollectiveSettings& settings);
  [[nodiscard]] int io_thread_count(plan::Direction direction,
                                    const AccessSettings& settings) const;
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
  [[nodiscard]] collective::CollectiveFile file_for_engine(plan::Direction direction,
                                                           const AccessSettings& settings,
                                                           collective::Profiler& profiler);
  void note_refused_locks(const collective::Outcome& moved);
  void forget_outdated_choices(plan::Direction direction,
                               const std::shared_ptr<const AccessSettings>& settings);
  collective::Task<Status> close_file();
  void read_signature();
  collective::Task<collective::Unit> report(std::int64_t close_begin);

  // Pointers and size.
  [[nodiscard]] Result<std::int64_t> seek_target(std::int64_t offset_etypes,
                                                 const Result<std::int64_t>& from) const;
  [[nodiscard]] Result<std::int64_t> end_of_file();
  [[nodiscard]] Status check_new_view(const View& view) const;
  collective::Task<Result<ViewNeeds>> agree_on_view(const View& view, Status local,
                                                    bool changes_hints);
  [[nodiscard]] std::optional<Hints> hints_with(const InfoPairs& info_pairs);
  collective::Task<collective::Unit> spread_hints(std::optional<Hints> changed);
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
  collective::RoundCopies& copies_;
  bool one_node_;
  LazyFile file_;
  SharedPointer shared_pointer_;
  // Used by the collective tasks only, which run one after the other:
  collective::ViewMemory views_;
  collective::NodeRounds rounds_;
  collective::RankGroupCache groups_;
  plan::ChoiceMemory choices_;
  collective::RepeatedAccess repeated_;
  std::shared_ptr<const AccessSettings> decided_with_;  // choices_, repeated_
  store::FileSystemFacts file_system_;
  std::shared_ptr<const machine::Machine> machine_;  // null: plans are not compared
  std::string machine_origin_;                       // on rank 0: FoundMachine::origin
  std::shared_ptr<const plan::InitialGroups> grid_;  // of the cartesian communicator; null: none
  std::atomic<bool> atomic_ = false;
  std::atomic<bool> wrote_ = false;
  std::atomic<bool> read_alone_ = false;  // since the last collective read
  const std::uint64_t id_;                // OpenRequest::id
  std::int64_t locked_calls_ = 0;         // calls that may use a group lock; the same on all ranks
  std::optional<plan::WriteLocks> left_write_locks_;  // those of nacre_write_locks were refused
  FileProfile profile_;
  std::string signature_;  // on rank 0: ReportedFile::signature
  const MpiFacts mpi_;

  mutable std::mutex mutex_;  // protects the members below
  Hints hints_;
  std::shared_ptr<const AccessSettings> settings_;  // derived from hints_
  std::shared_ptr<const View> view_;
  std::int64_t position_ = 0;  // the individual pointer, in etypes

  OpenLayout layout_;  // uses hints_ under mutex_; otherwise used by the collective tasks only

  /// Held during an access under a range lock, which does not exclude threads of the same open
  /// file.
  std::mutex locked_access_mutex_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_OPEN_FILE_H_
