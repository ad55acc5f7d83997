#include "mpi/handles/file_handle.h"

#include <array>
#include <atomic>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mpi/handles/errors.h"
#include "store/default_store.h"

namespace nacre::mpi {
namespace {

/// A handle of Nacre's own, used if the MPI cannot make one. Its address is the MPI_File. Never
/// freed, so that Nacre recognises a closed handle.
struct OwnHandle {
  OwnErrhandler errhandler;
  int number = 0;
};

/// The first number of own handles in Fortran and MPI_File_toint: above the numbers of any MPI.
constexpr int own_number_first = 1 << 30;

/// Never destroyed: programs close files in their exit handlers.
struct HandleTable {
  std::shared_mutex mutex;
  std::unordered_map<MPI_File, std::shared_ptr<File>> files;
  std::unordered_map<MPI_File, OwnHandle*> own;
  /// Native handles of closed files, until an open needs one.
  std::unordered_set<MPI_File> pooled;
  /// Grows with each change of `files`: a thread that sees the same value may use what it has
  /// remembered.
  std::atomic<std::uint64_t> generation = 1;
};

HandleTable& table() {
  static auto* instance = new HandleTable;
  return *instance;
}

/// Has the MPI open /dev/null on this rank alone. Takes 25 to 500 us, hence the pool.
Result<FreeHandle> open_native_handle() {
  // A failing MPI_File_open would call the program's error handler, with another class.
  if (const auto tried = store::default_store()->open("/dev/null", {.read = true, .write = true});
      !tried) {
    return tried.error();
  }
  MPI_File handle = native().FILE_NULL;
  const int status = native().File_open(native().COMM_SELF, "/dev/null", MPI_MODE_RDWR,
                                        native().INFO_NULL, &handle);
  if (status != MPI_SUCCESS) {
    std::array<char, MPI_MAX_ERROR_STRING> why{};
    int length = 0;
    error_string(status, why.data(), &length);
    return Error{ErrorClass::internal, 0,
                 std::string("MPI_File_open: the MPI could not open /dev/null, which Nacre needs "
                             "for a file handle: ") +
                     why.data()};
  }
  return FreeHandle(handle);
}

/// A native handle of a closed file; none if the pool is empty.
FreeHandle pooled_handle() {
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  if (handles.pooled.empty()) return FreeHandle();
  return FreeHandle(handles.pooled.extract(handles.pooled.begin()).value());
}

/// Replaces the error handler of a pooled handle's last file by MPI_FILE_NULL's.
void inherit_errhandler(MPI_File handle) {
  MPI_Errhandler errhandler = native().ERRHANDLER_NULL;
  if (native().File_get_errhandler(native().FILE_NULL, &errhandler) != MPI_SUCCESS) return;
  native().File_set_errhandler(handle, errhandler);  // not freed: see errhandlers.cc
}

MPI_File own_handle() {
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  auto* own = new OwnHandle{inherited_errhandler(),
                            own_number_first + static_cast<int>(handles.own.size())};
  const auto handle = reinterpret_cast<MPI_File>(own);
  handles.own.emplace(handle, own);
  return handle;
}

OwnHandle* find_own(MPI_File handle) {
  HandleTable& handles = table();
  const std::shared_lock guard(handles.mutex);
  const auto found = handles.own.find(handle);
  return found == handles.own.end() ? nullptr : found->second;
}

/// Null if no handle of Nacre's own has this number.
MPI_File own_handle_of(int number) {
  HandleTable& handles = table();
  const std::shared_lock guard(handles.mutex);
  for (const auto& [handle, own] : handles.own) {
    if (own->number == number) return handle;
  }
  return nullptr;
}

}  // namespace

File::File(std::shared_ptr<file::OpenFile> open_file, std::shared_ptr<CommState> comm, int amode)
    : open_file_(std::move(open_file)),
      comm_(std::move(comm)),
      amode_(amode),
      handle_(native().FILE_NULL),
      view_types_{0, KeptDatatype(native().BYTE), KeptDatatype(native().BYTE),
                  native_representation()} {}

void File::set_view_types(ViewTypes types) {
  const std::lock_guard guard(view_mutex_);
  std::swap(view_types_, types);
  const Representation& representation = *view_types_.representation;
  converts_.store(representation.kind != Representation::Kind::as_in_memory,
                  std::memory_order_relaxed);
}

ViewTypes File::view_types() {
  const std::lock_guard guard(view_mutex_);
  return view_types_;
}

std::shared_ptr<const Representation> File::representation() {
  const std::lock_guard guard(view_mutex_);
  return view_types_.representation;
}

std::vector<std::shared_ptr<File>> open_files() {
  HandleTable& handles = table();
  const std::shared_lock guard(handles.mutex);
  std::vector<std::shared_ptr<File>> files;
  files.reserve(handles.files.size());
  for (const auto& [handle, file] : handles.files) files.push_back(file);
  return files;
}

File* find_file(MPI_File handle) {
  struct Remembered {
    std::uint64_t generation = 0;
    MPI_File handle{};
    File* file = nullptr;
  };
  thread_local Remembered remembered;
  HandleTable& handles = table();
  const std::uint64_t generation = handles.generation.load(std::memory_order_acquire);
  if (remembered.generation == generation && remembered.handle == handle) return remembered.file;

  const std::shared_lock guard(handles.mutex);
  const auto found = handles.files.find(handle);
  File* file = found == handles.files.end() ? nullptr : found->second.get();
  remembered = {generation, handle, file};
  return file;
}

void ReturnHandle::operator()(MPI_File handle) const {
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  if (!handles.own.contains(handle)) handles.pooled.insert(handle);
}

Result<FreeHandle> make_native_handle() {
  FreeHandle pooled = pooled_handle();
  if (!pooled) return open_native_handle();
  // Without the lock: MPICH may wait here for a thread that closes a file of its own, and asks for
  // Nacre's lock meanwhile (ROMIO sets the error handler of a file that it closes).
  inherit_errhandler(pooled.get());
  return pooled;
}

Result<FreeHandle> make_handle() {
  if (!world_model_active()) return FreeHandle(own_handle());
  return make_native_handle();
}

void assign_handle(FreeHandle handle, const std::shared_ptr<File>& file) {
  file->set_handle(handle.release());
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  handles.files[file->handle()] = file;
  handles.generation.fetch_add(1, std::memory_order_release);
}

bool is_closed(MPI_File handle) {
  HandleTable& handles = table();
  const std::shared_lock guard(handles.mutex);
  return handles.pooled.contains(handle) || handles.own.contains(handle);
}

void release_handle(MPI_File handle) {
  std::shared_ptr<File> file;  // freed after the lock is released
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  const auto found = handles.files.find(handle);
  if (found == handles.files.end()) return;
  file = std::move(found->second);
  handles.files.erase(found);
  if (!handles.own.contains(handle)) handles.pooled.insert(handle);
  handles.generation.fetch_add(1, std::memory_order_release);
}

OwnErrhandler* own_errhandler(MPI_File handle) {
  OwnHandle* own = find_own(handle);
  return own == nullptr ? nullptr : &own->errhandler;
}

void release_pooled_handles() {
  HandleTable& handles = table();
  std::unordered_set<MPI_File> pooled;
  {
    const std::unique_lock guard(handles.mutex);
    pooled.swap(handles.pooled);
  }
  for (MPI_File handle : pooled) native().File_close(&handle);
}

int file_toint(MPI_File fh) {
  if (const OwnHandle* own = find_own(fh)) return own->number;
  if (native().File_toint != nullptr) return native().File_toint(fh);
#if defined(MPI_ABI_VERSION)
  return 0;
#else
  return native().File_c2f(fh);
#endif
}

MPI_File file_fromint(int handle) {
  if (const MPI_File own = own_handle_of(handle)) return own;
  if (native().File_fromint != nullptr) return native().File_fromint(handle);
#if defined(MPI_ABI_VERSION)
  return native().FILE_NULL;
#else
  return native().File_f2c(handle);
#endif
}

#if !defined(MPI_ABI_VERSION)
MPI_Fint file_c2f(MPI_File fh) {
  if (const OwnHandle* own = find_own(fh)) return own->number;
  return native().File_c2f(fh);
}

MPI_File file_f2c(MPI_Fint handle) {
  if (const MPI_File own = own_handle_of(handle)) return own;
  return native().File_f2c(handle);
}
#endif

}  // namespace nacre::mpi
