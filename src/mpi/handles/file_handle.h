// File: what Nacre keeps behind an MPI_File that it handed out, and the way from the handle to it.
#ifndef NACRE_MPI_HANDLES_FILE_HANDLE_H_
#define NACRE_MPI_HANDLES_FILE_HANDLE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "file/open_file.h"
#include "mpi/abi/native.h"
#include "mpi/datatypes/datarep.h"
#include "mpi/datatypes/datatype.h"
#include "mpi/handles/errhandlers.h"
#include "mpi/progress/operation_queue.h"
#include "mpi/transport/comm_state.h"

namespace nacre::mpi {

/// The view as the program gave it, for MPI_File_get_view and for conversion.
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

/// A split collective between its begin and its end.
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
  /// The queue, as a reference that keeps the file.
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
  /// The one of view_types(), for every access.
  [[nodiscard]] std::shared_ptr<const Representation> representation();

  /// The split collective under way, if any; a file has at most one (MPI-4.1, 14.4.5).
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
};

/// The handle under which the program is to know a file, of the MPI's own kind where that is
/// possible. Made before the ranks agree on an open, as it may fail on some of them; goes back
/// where no file takes it.
class HandleForFile {
 public:
  [[nodiscard]] static Result<HandleForFile> make();
  HandleForFile(HandleForFile&& other) noexcept;
  HandleForFile(const HandleForFile&) = delete;
  HandleForFile& operator=(const HandleForFile&) = delete;
  HandleForFile& operator=(HandleForFile&&) = delete;
  ~HandleForFile();

  /// Enters `file` into the table.
  void assign_to(const std::shared_ptr<File>& file);

 private:
  explicit HandleForFile(MPI_File handle) : handle_(handle) {}
  MPI_File handle_;
};

/// The file behind `handle`, or nullptr: then the entry point hands the call to the MPI unless the
/// handle is_closed(). Thread-safe, fast.
[[nodiscard]] File* find_file(MPI_File handle);

/// `handle` belonged to a file of Nacre that has been closed. (The MPI knows the handle as a file
/// on /dev/null, or not at all.) Thread-safe.
[[nodiscard]] bool is_closed(MPI_File handle);

/// Takes `handle` out of the table; the native handle is kept for the next open.
std::shared_ptr<File> acquire_handle(MPI_File handle);

/// For handles that are our own (see ARCHITECTURE.md, Handles); the MPI serves its own. Null
/// where the handle is the MPI's.
[[nodiscard]] OwnErrhandler* own_errhandler(MPI_File handle);

/// Lends a native handle that stands for no file.
void with_native_handle(const std::function<void(MPI_File)>& action);

/// At MPI_Finalize: gives native handles that are kept back to the MPI.
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
