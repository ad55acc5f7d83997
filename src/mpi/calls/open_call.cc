// MPI_File_open, close and delete.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "collective/agreement/agreements.h"
#include "file/hints/hints.h"
#include "file/report/report.h"
#include "mpi/calls/calls.h"
#include "mpi/calls/served_calls.h"
#include "mpi/datatypes/device_memory.h"
#include "mpi/handles/errors.h"
#include "mpi/handles/file_handle.h"
#include "mpi/handles/info.h"
#include "mpi/progress/progress.h"
#include "mpi/transport/comm_state.h"
#include "mpi/transport/mpi_transport.h"
#include "store/default_store.h"
#include "store/memory/shared_memory.h"
#include "store/path.h"
#include "testing/faults/faulty_store.h"

namespace nacre::mpi {
namespace {

/// What rank 0 decides about an open before any rank touches the file.
struct OpenTicket {
  std::uint64_t id = 0;  ///< unique to this open
  std::int32_t amode = 0;
  std::int32_t tag = 0;
};

/// Messages still travel here: pending accesses of other ranks may need those of this rank.
int finalize_begins(MPI_Comm, int, void*, void*) {
  finish_all_pending();
  release_pooled_handles();
  note_finalizing();
  return MPI_SUCCESS;
}

/// Has MPI_Finalize call finalize_begins(), by an attribute of MPI_COMM_SELF: the standard deletes
/// it before anything else ends. Does nothing in programs that use only Sessions, which have no
/// MPI_COMM_SELF.
void watch_finalize() {
  static std::once_flag once;
  if (!world_model_active()) return;
  std::call_once(once, [] {
    // MPI_Finalize deletes attributes in reverse order. ROMIO's first open sets an attribute that
    // ends ROMIO; ours must be set after it, while native handles still need ROMIO.
    const Result<FreeHandle> opened = make_native_handle();
    int key = create_comm_key(finalize_begins);
    native().Comm_set_attr(native().COMM_SELF, key, nullptr);
    native().Comm_free_keyval(&key);  // the attribute keeps it
  });
}

std::uint64_t unique_id() {
  static const std::uint64_t process = store::random_id();
  static std::atomic<std::uint64_t> count = 0;
  return process + ++count;
}

/// Collective: broadcasts rank 0's ticket. ErrorClass::not_same if the access modes differ; the
/// error of `own` on any rank is the error of all.
collective::Task<Result<OpenTicket>> agree_on_ticket(collective::Transport& transport,
                                                     Result<OpenTicket> own) {
  OpenTicket ticket;
  if (own) ticket = *own;
  const int amode = ticket.amode;
  auto broadcast =
      collective::broadcast(transport, std::as_writable_bytes(std::span(&ticket, 1)), 0);
  co_await broadcast;
  Status status;
  if (!own) {
    status = own.error();
  } else if (amode != ticket.amode) {
    status =
        Error{ErrorClass::not_same, 0,
              "MPI_File_open: the access mode is " + std::to_string(amode) + " on this rank and " +
                  std::to_string(ticket.amode) + " on rank 0; pass the same on all ranks"};
  }
  auto agreement = collective::agree(transport, std::move(status));
  Status agreed = co_await agreement;
  if (!agreed) co_return std::move(agreed).error();
  co_return ticket;
}

file::AccessMode mode_of(int amode) {
  const auto has = [amode](int flag) { return (amode & flag) != 0; };
  return {.read = has(MPI_MODE_RDONLY) || has(MPI_MODE_RDWR),
          .write = has(MPI_MODE_WRONLY) || has(MPI_MODE_RDWR),
          .create = has(MPI_MODE_CREATE),
          .exclusive = has(MPI_MODE_EXCL),
          .append = has(MPI_MODE_APPEND),
          .sequential = has(MPI_MODE_SEQUENTIAL),
          .delete_on_close = has(MPI_MODE_DELETE_ON_CLOSE),
          .unique_open = has(MPI_MODE_UNIQUE_OPEN)};
}

Status check_access_mode(int amode) {
  const auto kinds =
      std::ranges::count_if(std::array{MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR},
                            [amode](int kind) { return (amode & kind) != 0; });
  if (kinds == 1) return {};
  return Error{ErrorClass::amode, 0,
               "MPI_File_open: access mode " + std::to_string(amode) + " has " +
                   std::to_string(kinds) +
                   " of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR; pass exactly one"};
}

/// What a rank may fail to acquire, and so acquires before the ranks agree.
struct OpenResources {
  FreeHandle handle;
  std::shared_ptr<store::Store> store;
};

Result<OpenResources> acquire_resources(const CommState& comm) {
  Result<std::shared_ptr<store::Store>> store =
      testing::with_environment_faults(store::default_store(), comm.rank());
  if (!store) return std::move(store).error();
  Result<FreeHandle> handle = make_handle();
  if (!handle) return std::move(handle).error();
  return OpenResources{*std::move(handle), *std::move(store)};
}

/// This rank's ticket, or why it cannot open the file.
Result<OpenTicket> own_ticket(CommState& comm, int amode, const Result<std::string>& path,
                              const Result<OpenResources>& resources) {
  if (!path) return path.error();
  if (!resources) return resources.error();
  if (Status valid = check_access_mode(amode); !valid) return valid.error();
  OpenTicket ticket{.id = unique_id(), .amode = amode};
  if (comm.rank() == 0) {
    const Result<int> tag = comm.choose_tag();
    if (!tag) return tag.error();
    ticket.tag = *tag;
  }
  return ticket;
}

Result<std::string> path_of(const std::string& call, const char* filename) {
  if (filename == nullptr || *filename == '\0') {
    return Error{ErrorClass::bad_file, 0, call + ": the file name is empty"};
  }
  return store::strip_prefix(filename);
}

struct OpenArguments {
  std::int64_t asked_nanoseconds;  ///< when the program called
  MPI_Comm program_comm;
  std::shared_ptr<CommState> comm;
  Result<std::string> path;
  int amode;
  InfoPairs info;
};

/// The dimensions of the Cartesian topology of `comm`, whose ranks are in row-major order (MPI-4.1,
/// 8.2); empty if it has none.
std::vector<std::int32_t> process_grid(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  if (native().Topo_test(comm, &topology) != MPI_SUCCESS || topology != MPI_CART) return {};
  int dimensions = 0;
  if (native().Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions < 1) return {};
  const auto count = static_cast<std::size_t>(dimensions);
  std::vector<int> lengths(count);
  std::vector<int> periods(count);
  std::vector<int> coordinates(count);
  if (native().Cart_get(comm, dimensions, lengths.data(), periods.data(), coordinates.data()) !=
      MPI_SUCCESS) {
    return {};
  }
  return {lengths.begin(), lengths.end()};
}

file::MpiFacts mpi_facts() {
  file::MpiFacts facts;
  facts.version = NACRE_VERSION;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (native().Get_library_version(text.data(), &length) == MPI_SUCCESS) {
    const std::string whole(text.data());
    facts.mpi = whole.substr(0, whole.find_first_of("\n,"));
  }
  if (!world_model_active()) return facts;
  int number = 0;
  native().Comm_rank(native().COMM_WORLD, &number);
  facts.world_rank = number;
  native().Comm_size(native().COMM_WORLD, &number);
  facts.world_rank_count = number;
  return facts;
}

/// The open file; null if the settings leave the file to the MPI.
Result<std::shared_ptr<File>> open_with_nacre(const OpenArguments& arguments) {
  MpiTransport control(arguments.comm, CommState::control_tag);
  Result<OpenResources> resources = acquire_resources(*arguments.comm);
  Result<OpenTicket> own = own_ticket(*arguments.comm, arguments.amode, arguments.path, resources);
  Result<OpenTicket> ticket =
      collective::run_to_end(agree_on_ticket(control, std::move(own)), control);
  if (!ticket) return std::move(ticket).error();
  Result<file::Hints> hints =
      collective::run_to_end(file::agree_hints(control, *arguments.path, arguments.info), control);
  if (!hints) return std::move(hints).error();
  if (hints->bypass()) return std::shared_ptr<File>();

  file::OpenRequest request{
      .path = store::absolute_path(*arguments.path),
      .mode = mode_of(arguments.amode),
      .hints = *std::move(hints),
      .transport = std::make_unique<MpiTransport>(arguments.comm, ticket->tag),
      .store = std::move(resources->store),
      .one_node = arguments.comm->nodes().node_count() == 1,
      .process_grid = process_grid(arguments.program_comm),
      .id = ticket->id,
      .asked_nanoseconds = arguments.asked_nanoseconds,
      .mpi = arguments.comm->rank() == 0 ? mpi_facts() : file::MpiFacts{}};
  collective::Transport& transport = *request.transport;
  auto opened = collective::run_to_end(file::OpenFile::open(std::move(request)), transport);
  if (!opened) return std::move(opened).error();
  auto file = std::make_shared<File>(*std::move(opened), arguments.comm, arguments.amode);
  assign_handle(std::move(resources->handle), file);
  return file;
}

}  // namespace

int refuse_closed() {
  return raise(native().FILE_NULL,
               {ErrorClass::file, 0,
                "the file of this handle has been closed; use a handle from MPI_File_open to "
                "MPI_File_close only"});
}

int file_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  const std::int64_t asked_nanoseconds = monotonic_nanoseconds();
  const MPI_File null_file = native().FILE_NULL;
  *fh = null_file;
  watch_finalize();
  find_device_runtimes();
  Result<std::shared_ptr<CommState>> state = CommState::of(comm);
  if (!state) return raise(null_file, state.error());
  const OpenArguments arguments{
      asked_nanoseconds, comm, *std::move(state), path_of("MPI_File_open", filename), amode,
      info_pairs(info)};
  const Result<std::shared_ptr<File>> file = open_with_nacre(arguments);
  if (file && *file == nullptr) return native().File_open(comm, filename, amode, info, fh);
  count_served_call();
  if (!file) return raise(null_file, file.error());
  *fh = (*file)->handle();
  return MPI_SUCCESS;
}

int file_close(MPI_File* fh) {
  File* file = find_file(*fh);
  if (file == nullptr) return is_closed(*fh) ? refuse_closed() : native().File_close(fh);
  count_served_call();
  file::OpenFile& open_file = file->open_file();
  const Status status = file->queue().run(open_file.close(), open_file.transport());
  const int code = raise_if_failed(*fh, status);
  release_handle(*fh);
  *fh = native().FILE_NULL;
  return code;
}

void warn_of_unreported_files() {
  std::vector<std::string> files;
  for (const std::shared_ptr<File>& file : open_files()) {
    file::OpenFile& open_file = file->open_file();
    const bool is_first = open_file.transport().rank() == 0;
    if (is_first && !open_file.report_path().empty()) files.push_back(open_file.path());
  }
  std::ranges::sort(files);
  file::warn_of_open_files(files);
}

int file_delete(const char* filename, MPI_Info info) {
  const Result<std::string> path = path_of("MPI_File_delete", filename);
  if (!path) return raise(native().FILE_NULL, path.error());
  const Result<file::Hints> hints = file::resolve_hints(*path, info_pairs(info));
  if (!hints) return raise(native().FILE_NULL, hints.error());
  if (hints->bypass()) return native().File_delete(filename, info);
  count_served_call();
  return raise_if_failed(native().FILE_NULL, store::default_store()->remove(*path));
}

}  // namespace nacre::mpi
