// File: an open file of Nacre behind an MPI_File, and the table of handles that finds it.
#ifndef NACRE_MPI_HANDLES_FILE_HANDLE_H_
#define NACRE_MPI_HANDLES_FILE_HANDLE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "file/open_file.h"
#include "mpi/abi/native.h"
#include "mpi/datatypes/datarep.h"
#include "mpi/datatypes/datatype.h"
#include "mpi/handles/errhandlers.h"
#include "mpi/progress/operation_queue.h"
#include "mpi/transport/comm_state.h"

namespace nacre::mpi {

/// The view as the program set it, for MPI_File_get_view and for conversion.
struct ViewTypes {
  MPI_Offset displacement;
  KeptDatatype etype;
  KeptDatatype filetype;
  std::shared_ptr<const Representation> representation;
};

enum class Timing : std::uint8_t { blocking, nonblocking, split_begin, split_end };

/// Names a data-access routine: one of the 34 of MPI-4.1, table 14.1, in either width of count.
struct AccessCall {
  plan::Direction direction;
  file::Position position;
  bool collective;
  Timing timing;
};

/// A split collective that has begun and not ended.
struct SplitAccess {
  AccessCall call;
  std::shared_ptr<PendingAccess> access;
};

class File : public std::enable_shared_from_this<File> {
 public:
  File(std::shared_ptr<file::OpenFile> open_file, std::shared_ptr<CommState> comm, int amode);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() = default;

  [[nodiscard]] file::OpenFile& open_file() { return *open_file_; }
  [[nodiscard]] OperationQueue& queue() { return queue_; }
  /// The queue, as a reference that keeps the file alive.
  [[nodiscard]] std::shared_ptr<OperationQueue> shared_queue() {
    return {shared_from_this(), &queue_};
  }
  [[nodiscard]] CommState& comm() { return *comm_; }
  [[nodiscard]] int amode() const { return amode_; }

  /// The MPI_File that the program holds.
  [[nodiscard]] MPI_File handle() const { return handle_; }
  void set_handle(MPI_File handle) { handle_ = handle; }

  void set_view_types(ViewTypes types);
  [[nodiscard]] ViewTypes view_types();
  /// That of view_types(), without a copy of the types.
  [[nodiscard]] std::shared_ptr<const Representation> representation();
  /// Whether the bytes in the file may differ from those in memory.
  [[nodiscard]] bool converts() const { return converts_.load(std::memory_order_relaxed); }

  /// The split collective in progress; a file has at most one (MPI-4.1, 14.4.5).
  std::mutex split_mutex;
  std::optional<SplitAccess> split;

 private:
  std::shared_ptr<file::OpenFile> open_file_;
  std::shared_ptr<CommState> comm_;
  int amode_;
  MPI_File handle_;
  OperationQueue queue_;
  std::mutex view_mutex_;
  ViewTypes view_types_;
  std::atomic<bool> converts_ = false;
};

/// Returns a handle that no file has taken to the pool of native handles.
struct ReturnHandle {
  void operator()(MPI_File handle) const;
};
using FreeHandle = std::unique_ptr<std::remove_pointer_t<MPI_File>, ReturnHandle>;

/// A handle for a file that is being opened: the MPI's own if the MPI can make one, else one of
/// Nacre's (see ARCHITECTURE.md, Handles). Made before the ranks agree on an open, as it may fail
/// on some ranks.
[[nodiscard]] Result<FreeHandle> make_handle();
/// A handle of the MPI's own.
[[nodiscard]] Result<FreeHandle> make_native_handle();

/// Gives `file` the handle, by which find_file() finds it.
void assign_handle(FreeHandle handle, const std::shared_ptr<File>& file);
/// Removes the handle's file from the table. The pool keeps a native handle for the next open.
void release_handle(MPI_File handle);

/// The files that are open, in no order.
[[nodiscard]] std::vector<std::shared_ptr<File>> open_files();

/// The file of `handle`, or nullptr: the entry point then passes the call to the MPI, unless the
/// handle is_closed(). Thread-safe, fast.
[[nodiscard]] File* find_file(MPI_File handle);

/// `handle` belonged to a file of Nacre that has been closed. (The MPI knows the handle as a file
/// on /dev/null, or not at all.) Thread-safe.
[[nodiscard]] bool is_closed(MPI_File handle);

/// The error handler of one of Nacre's own handles; null for native handles, whose error handlers
/// the MPI keeps.
[[nodiscard]] OwnErrhandler* own_errhandler(MPI_File handle);

/// At MPI_Finalize: closes the native handles of the pool.
void release_pooled_handles();

// As the MPI's calls, for every file: the MPI converts its own handles.
int file_toint(MPI_File fh);
MPI_File file_fromint(int handle);
#if !defined(MPI_ABI_VERSION)  // the standard ABI has no MPI_Fint
MPI_Fint file_c2f(MPI_File fh);
MPI_File file_f2c(MPI_Fint handle);
#endif

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_FILE_HANDLE_H_
