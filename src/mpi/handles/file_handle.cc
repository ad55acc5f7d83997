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

/// A handle where the MPI can make none. Its address is the MPI_File; never freed, so that a stale
/// handle is still known to be one.
struct OwnHandle {
  OwnErrhandler errhandler;
  int number = 0;
};

/// Numbers of own handles in Fortran and in MPI_File_toint: out of the way of those that MPIs give.
constexpr int own_number_first = 1 << 30;

/// Never destroyed: programs close files in their exit handlers.
struct HandleTable {
  std::shared_mutex mutex;
  std::unordered_map<MPI_File, std::shared_ptr<File>> files;
  std::unordered_map<MPI_File, OwnHandle*> own;
  /// Native handles that stand for no file now: of closed files, until an open needs one.
  std::unordered_set<MPI_File> pooled;
  /// Grows whenever the table changes, so that a thread knows whether what it remembers still
  /// holds.
  std::atomic<std::uint64_t> generation = 1;
};

HandleTable& table() {
  static auto* instance = new HandleTable;
  return *instance;
}

/// A native handle: an open of /dev/null by this rank alone. Costs 25 to 500 us, hence the pool.
Result<MPI_File> open_native_handle() {
  // Tried first: the MPI would tell its own error to the program's handler, of another class.
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
    return Error{
        ErrorClass::internal, 0,
        std::string("the MPI could not open /dev/null to make a file handle: ") + why.data()};
  }
  return handle;
}

/// A pooled handle has the error handler of its last file; an opened file inherits MPI_FILE_NULL's.
void inherit_errhandler(MPI_File handle) {
  MPI_Errhandler errhandler = native().ERRHANDLER_NULL;
  if (native().File_get_errhandler(native().FILE_NULL, &errhandler) != MPI_SUCCESS) return;
  native().File_set_errhandler(handle, errhandler);  // not freed: see errhandlers.cc
}

Result<MPI_File> native_handle() {
  HandleTable& handles = table();
  {
    const std::unique_lock guard(handles.mutex);
    if (!handles.pooled.empty()) {
      const MPI_File handle = *handles.pooled.begin();
      handles.pooled.erase(handle);
      inherit_errhandler(handle);
      return handle;
    }
  }
  return open_native_handle();
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

std::optional<int> own_handle_number(MPI_File handle) {
  const OwnHandle* own = find_own(handle);
  if (own == nullptr) return std::nullopt;
  return own->number;
}

std::optional<MPI_File> own_handle_of(int number) {
  HandleTable& handles = table();
  const std::shared_lock guard(handles.mutex);
  for (const auto& [handle, own] : handles.own) {
    if (own->number == number) return handle;
  }
  return std::nullopt;
}

void return_to_pool(MPI_File handle) {
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  handles.pooled.insert(handle);
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
}

ViewTypes File::view_types() {
  const std::lock_guard guard(view_mutex_);
  return view_types_;
}

std::shared_ptr<const Representation> File::representation() {
  const std::lock_guard guard(view_mutex_);
  return view_types_.representation;
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

Result<HandleForFile> HandleForFile::make() {
  if (!world_model_active()) return HandleForFile(own_handle());
  const Result<MPI_File> handle = native_handle();
  if (!handle) return handle.error();
  return HandleForFile(*handle);
}

HandleForFile::HandleForFile(HandleForFile&& other) noexcept
    : handle_(std::exchange(other.handle_, native().FILE_NULL)) {}

HandleForFile::~HandleForFile() {
  if (handle_ != native().FILE_NULL && find_own(handle_) == nullptr) return_to_pool(handle_);
}

void HandleForFile::assign_to(const std::shared_ptr<File>& file) {
  file->set_handle(std::exchange(handle_, native().FILE_NULL));
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

std::shared_ptr<File> acquire_handle(MPI_File handle) {
  HandleTable& handles = table();
  const std::unique_lock guard(handles.mutex);
  const auto found = handles.files.find(handle);
  if (found == handles.files.end()) return nullptr;
  std::shared_ptr<File> file = std::move(found->second);
  handles.files.erase(found);
  if (!handles.own.contains(handle)) handles.pooled.insert(handle);
  handles.generation.fetch_add(1, std::memory_order_release);
  return file;
}

OwnErrhandler* own_errhandler(MPI_File handle) {
  OwnHandle* own = find_own(handle);
  return own == nullptr ? nullptr : &own->errhandler;
}

void with_native_handle(const std::function<void(MPI_File)>& action) {
  const Result<MPI_File> handle = native_handle();
  if (!handle) return;
  action(*handle);
  return_to_pool(*handle);
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
  if (const auto number = own_handle_number(fh)) return *number;
  if (native().File_toint != nullptr) return native().File_toint(fh);
#if defined(MPI_ABI_VERSION)
  return 0;
#else
  return native().File_c2f(fh);
#endif
}

MPI_File file_fromint(int handle) {
  if (const auto own = own_handle_of(handle)) return *own;
  if (native().File_fromint != nullptr) return native().File_fromint(handle);
#if defined(MPI_ABI_VERSION)
  return native().FILE_NULL;
#else
  return native().File_f2c(handle);
#endif
}

#if !defined(MPI_ABI_VERSION)
MPI_Fint file_c2f(MPI_File fh) {
  if (const auto number = own_handle_number(fh)) return *number;
  return native().File_c2f(fh);
}

MPI_File file_f2c(MPI_Fint handle) {
  if (const auto own = own_handle_of(handle)) return *own;
  return native().File_f2c(handle);
}
#endif

}  // namespace nacre::mpi
