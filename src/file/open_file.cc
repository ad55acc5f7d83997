// Opening, closing, views and hints.
#include "file/open_file.h"

#include <array>
#include <utility>
#include <vector>

#include "base/bytes_of.h"
#include "base/checked_cast.h"
#include "base/clock.h"
#include "base/fnv_hash.h"
#include "base/hexadecimal.h"
#include "collective/agreement/agreements.h"
#include "file/layout/found_layout.h"
#include "file/layout/layout_hints.h"
#include "file/machine/find_machine.h"
#include "file/report/report.h"
#include "store/file_system.h"
#include "store/system/process.h"
#include "store/system/text_file.h"

namespace nacre::file {
namespace {

Error mode_error(const std::string& what) { return Error{ErrorClass::amode, 0, what}; }

/// MPI-4.1, 14.2.1.
Status check_mode(const AccessMode& mode) {
  if (!mode.read && !mode.write) {
    return mode_error("the access mode allows neither reading nor writing");
  }
  const bool read_only = mode.read && !mode.write;
  if (read_only && (mode.create || mode.exclusive)) {
    return mode_error("MPI_MODE_RDONLY cannot be combined with MPI_MODE_CREATE or MPI_MODE_EXCL");
  }
  if (mode.read && mode.write && mode.sequential) {
    return mode_error("MPI_MODE_RDWR cannot be combined with MPI_MODE_SEQUENTIAL");
  }
  return {};
}

store::OpenOptions plain_options(const AccessMode& mode, const Hints& hints, bool one_node) {
  return {.read = mode.read,
          .write = mode.write,
          .direct_reads = mode.read && hints.get("direct_read") == "true",
          .direct_writes = mode.write && hints.get("direct_write") == "true",
          .one_node = one_node};
}

}  // namespace

OpenFile::OpenFile(OpenRequest request)
    : path_(std::move(request.path)),
      mode_(request.mode),
      transport_(std::move(request.transport)),
      store_(std::move(request.store)),
      copies_(request.copies),
      one_node_(request.one_node),
      file_(*store_, path_, plain_options(mode_, request.hints, request.one_node)),
      shared_pointer_(*store_, {path_, request.id, request.one_node}),
      id_(request.id),
      mpi_(std::move(request.mpi)),
      hints_(std::move(request.hints)),
      settings_(std::make_shared<const AccessSettings>(hints_.access_settings())),
      view_(std::make_shared<const View>()),
      layout_({*transport_, file_, mutex_, hints_, mode_.write, mode_.delete_on_close}) {
  if (request.process_grid.empty()) return;
  plan::InitialGroups rows;
  rows.source = plan::InitialGroups::Source::grid;
  rows.grid = std::move(request.process_grid);
  grid_ = std::make_shared<const plan::InitialGroups>(std::move(rows));
}

Result<OpenFile::OpenedFacts> OpenFile::open_first() {
  store::OpenOptions options = plain_options(mode_, hints_, one_node_);
  options.create = mode_.create;
  options.exclusive = mode_.exclusive;
  options.permissions = hints_.permissions();
  if (mode_.create) {
    options.layout = requested_layout(
        hints_,
        {.ost_count = [this] { return store_->target_count(path_); },
         .check =
             [this](const plan::Layout& layout) { return store_->check_layout(path_, layout); }});
    layout_.expect(options.layout);
  }
  // A file of one rank is usually one of many, which load all OSTs in the default layout. A
  // simulated layout exists already.
  if (transport_->size() > 1 && !simulates_layout()) options.layout_time = layout_time(hints_);
  const Result<store::StoreFile*> file = file_.create(options);
  if (!file) return file.error();
  Result<OpenedFacts> facts = find_facts(**file, options);
  const bool is_new = mode_.create && mode_.exclusive;
  if (!facts && is_new) static_cast<void>(store_->remove(path_));
  return facts;
}

Result<OpenFile::OpenedFacts> OpenFile::find_facts(store::StoreFile& file,
                                                   const store::OpenOptions& options) {
  OpenedFacts facts;
  facts.identity = file.identity();
  facts.file_system = file.facts();
  if ((options.direct_reads || options.direct_writes) && !facts.file_system.has_direct) {
    hints_.note("hints direct_read, direct_write: the file system refuses O_DIRECT");
  }
  if (Status found = find_machine_for(facts); !found) return std::move(found).error();
  if (mode_.append) {
    const Result<std::int64_t> size = file.size();
    if (!size) return size.error();
    facts.size = *size;
  }
  return facts;
}

/// One rank has no plans to compare.
Status OpenFile::find_machine_for(OpenedFacts& facts) {
  if (transport_->size() == 1) return {};
  if (depends_on_drives(facts.file_system, hints_)) {
    facts.file_system.on_flash = store_->has_flash_targets(path_);
  }
  Result<std::optional<FoundMachine>> found = find_machine({path_, facts.file_system}, hints_);
  if (!found) {
    if (hints_.source("nacre_machine") != HintSource::program) return std::move(found).error();
    // By the standard a hint of the program never makes a call fail.
    hints_.note("hint nacre_machine: " + found.error().message);
    facts.ignores_machine_hint = true;
    hints_.set("nacre_machine", "automatic", HintSource::built_in);
    found = find_machine({path_, facts.file_system}, hints_);
    if (!found) return std::move(found).error();
  }
  if (!found->has_value()) return {};
  facts.has_machine = true;
  facts.machine = (*found)->machine;
  if (facts.machine.cores == 0) facts.machine.cores = transport_->core_count();
  machine_origin_ = (*found)->origin;
  if (const std::string& remark = (*found)->remark; !remark.empty()) hints_.note(remark);
  return {};
}

void OpenFile::take_facts(const OpenedFacts& facts) {
  file_.expect(facts.identity, facts.file_system);
  file_system_ = facts.file_system;
  if (facts.ignores_machine_hint) {
    hints_.set("nacre_machine", "automatic", HintSource::built_in);
  }
  if (facts.has_machine) machine_ = std::make_shared<const machine::Machine>(facts.machine);
  if (mode_.append) {
    position_ = facts.size;
    shared_pointer_.set_base(facts.size);
  }
}

collective::Task<Result<std::shared_ptr<OpenFile>>> OpenFile::open(OpenRequest request) {
  // All ranks have the same mode, so all fail here alike.
  if (Status valid = check_mode(request.mode); !valid) co_return std::move(valid).error();
  const std::int64_t asked_nanoseconds = request.asked_nanoseconds;
  std::shared_ptr<OpenFile> opened(new OpenFile(std::move(request)));
  collective::Transport& transport = *opened->transport_;
  OpenedFacts facts;
  Status status;
  if (transport.rank() == 0) {
    Result<OpenedFacts> first = opened->open_first();
    if (first) {
      facts = *first;
      facts.layout = opened->layout_.read(facts.file_system);
    } else {
      facts.failed = true;
      status = std::move(first).error();
    }
  }
  auto spreading = collective::broadcast(transport, bytes_of(facts), 0);
  co_await spreading;
  if (facts.failed) {
    auto spreading_error = collective::broadcast_error(transport, std::move(status), 0);
    Error error = co_await spreading_error;
    co_return error;
  }
  opened->take_facts(facts);
  auto sending =
      opened->layout_.broadcast_at_open(facts.layout, {facts.file_system, opened->machine_});
  co_await sending;
  const std::int64_t opened_nanoseconds = monotonic_nanoseconds();
  opened->profile_.open_nanoseconds = opened_nanoseconds - asked_nanoseconds;
  opened->profile_.timeline.begin(opened_nanoseconds);
  co_return opened;
}

collective::Task<Status> OpenFile::close() {
  const std::int64_t begin = monotonic_nanoseconds();
  auto closing = close_file();
  Status closed = co_await closing;
  profile_.late_open_nanoseconds = file_.open_nanoseconds();
  auto reporting = report(begin);
  co_await reporting;
  co_return closed;
}

/// Closes the file, and removes it with MPI_MODE_DELETE_ON_CLOSE. The ranks agree on the outcome.
collective::Task<Status> OpenFile::close_file() {
  auto completing = layout_.complete_before_close();
  Status completed = co_await completing;
  if (!report_path().empty()) {
    auto reading = layout_.read_before_report();
    co_await reading;
    read_signature();
  }
  // One agreement covers the outcome of the close and whether any rank used the shared pointer.
  std::int64_t unused = shared_pointer_.used() ? 0 : 1;
  Status local = file_.close();
  if (local) local = std::move(completed);
  auto agreement = collective::agree_with_minimum(*transport_, std::move(local), unused);
  Status closed = co_await agreement;
  if (unused == 0 && transport_->rank() == 0) shared_pointer_.forget();
  if (!mode_.delete_on_close) co_return closed;

  Status removed;
  if (transport_->rank() == 0) removed = store_->remove(path_);
  auto removal = collective::agree(*transport_, std::move(removed));
  Status outcome = co_await removal;
  co_return closed ? std::move(outcome) : std::move(closed);
}

/// Reads the first bytes on rank 0, if the program may read the file. Whether it is HDF5's decides
/// what a report advises, and the file may be gone when the report is read.
void OpenFile::read_signature() {
  store::StoreFile* const file = transport_->rank() == 0 && mode_.read ? file_.if_open() : nullptr;
  if (file == nullptr) return;
  std::array<std::byte, 8> bytes{};
  const store::ReadPiece piece{bytes.data(), std::ssize(bytes)};
  const store::Transfer got = file->read({&piece, 1}, 0);
  signature_ = hexadecimal(std::span(bytes).first(static_cast<std::size_t>(got.bytes)));
}

OpenFile::Snapshot OpenFile::snapshot() const {
  const std::lock_guard guard(mutex_);
  return {view_, settings_, layout_.stripes()};
}

std::string OpenFile::report_path() const {
  const std::lock_guard guard(mutex_);
  return hints_.get("nacre_report");
}

Hints OpenFile::hints() const {
  const std::lock_guard guard(mutex_);
  Hints copy = hints_;
  copy.set("filename", path_, HintSource::built_in);
  return copy;
}

/// Broadcasts rank 0's value, which is 0 or more, or its error.
collective::Task<Result<std::int64_t>> OpenFile::broadcast_from_rank_zero(
    Result<std::int64_t> first) {
  std::int64_t value = first ? *first : -1;
  auto spreading = collective::broadcast(*transport_, bytes_of(value), 0);
  co_await spreading;
  if (value >= 0) co_return value;
  Status status;
  if (!first) status = std::move(first).error();
  auto spreading_error = collective::broadcast_error(*transport_, std::move(status), 0);
  Error error = co_await spreading_error;
  co_return error;
}

/// Broadcasts the position of the shared pointer in bytes. Follows a synchronisation of all ranks.
collective::Task<Result<std::int64_t>> OpenFile::find_displacement() {
  Result<std::int64_t> current = 0;
  if (transport_->rank() == 0) current = shared_byte_offset();
  return broadcast_from_rank_zero(std::move(current));
}

Status OpenFile::check_new_view(const View& view) const {
  if (!view.at_shared_pointer || mode_.sequential) return check_view(view, mode_.write);
  return Error{ErrorClass::arg, 0,
               path_ +
                   ": MPI_DISPLACEMENT_CURRENT in the view of a file that was opened without "
                   "MPI_MODE_SEQUENTIAL"};
}

/// Agrees on the validity of the new views and on what they need.
collective::Task<Result<OpenFile::ViewNeeds>> OpenFile::agree_on_view(const View& view,
                                                                      Status local,
                                                                      bool changes_hints) {
  const auto representation = static_cast<std::int64_t>(fnv_hash(view.representation));
  // The minimum over the ranks. ~ reverses the order, so that of the last value belongs to the
  // largest representation.
  std::array common{std::int64_t{shared_pointer_.used() ? 0 : 1},
                    std::int64_t{changes_hints ? 0 : 1}, representation, ~representation};
  auto agreement = collective::agree_with_minima(*transport_, std::move(local), common);
  Status agreed = co_await agreement;
  if (!agreed) co_return std::move(agreed).error();
  if (common[2] != ~common[3]) {
    co_return Error{
        ErrorClass::not_same, 0,
        path_ + ": set_view with data representation \"" + view.representation +
            "\", but another rank passed a different one; all ranks must pass the same"};
  }
  co_return ViewNeeds{.reset = common[0] == 0, .hints = common[1] == 0};
}

collective::Task<Status> OpenFile::set_view(View view, InfoPairs info_pairs,
                                            std::optional<Error> refusal) {
  Status local = refusal ? Status(*std::move(refusal)) : check_new_view(view);
  std::optional<Hints> changed = hints_with(info_pairs);
  auto agreement = agree_on_view(view, std::move(local), changed.has_value());
  const Result<ViewNeeds> needs = co_await agreement;
  if (!needs) co_return needs.error();
  if (mode_.sequential) {
    auto finding = find_displacement();
    const Result<std::int64_t> displacement = co_await finding;
    if (!displacement) co_return displacement.error();
    if (view.at_shared_pointer) view.map.origin = *displacement;
  }
  if (needs->reset) {
    Status reset;
    if (transport_->rank() == 0) reset = shared_pointer_.reset();
    auto resetting = collective::agree(*transport_, std::move(reset));
    Status outcome = co_await resetting;
    if (!outcome) co_return outcome;
  }
  {
    const std::lock_guard guard(mutex_);
    view_ = std::make_shared<const View>(std::move(view));
    position_ = 0;
  }
  shared_pointer_.set_base(0);
  if (needs->hints) {
    auto spreading = spread_hints(std::move(changed));
    co_await spreading;
  }
  co_return Status();
}

/// On rank 0, the hints with those of `info_pairs`, if that changes a value. A library may pass the
/// same info with each view.
std::optional<Hints> OpenFile::hints_with(const InfoPairs& info_pairs) {
  if (transport_->rank() != 0 || info_pairs.empty()) return std::nullopt;
  const std::lock_guard guard(mutex_);
  Hints changed = hints_;
  changed.apply(info_pairs, HintTime::always);
  if (!changed.equals(hints_)) return changed;
  hints_ = std::move(changed);  // the notes
  return std::nullopt;
}

/// Takes rank 0's hints on all ranks, if it has some.
collective::Task<collective::Unit> OpenFile::spread_hints(std::optional<Hints> changed) {
  std::vector<std::byte> bytes;
  if (changed) bytes = changed->serialized();
  auto spreading = collective::broadcast_sized(*transport_, bytes, 0);
  co_await spreading;
  if (bytes.empty()) co_return collective::Unit{};
  const std::lock_guard guard(mutex_);
  hints_ = Hints::deserialized(bytes);
  settings_ = std::make_shared<const AccessSettings>(hints_.access_settings());
  co_return collective::Unit{};
}

collective::Task<Status> OpenFile::update_hints(InfoPairs info_pairs) {
  auto spreading = spread_hints(hints_with(info_pairs));
  co_await spreading;
  co_return Status();
}

collective::Task<collective::Unit> OpenFile::report(std::int64_t close_begin) {
  const std::string path = report_path();
  if (path.empty()) co_return collective::Unit{};
  auto gathering = gather_hosts(*transport_);
  const HostNames hosts = co_await gathering;
  if (layout_.stripes() != nullptr) profile_.resolve_osts(*layout_.stripes());
  auto reducing = reduce_profile(*transport_, profile_, close_begin);
  const ReducedProfile reduced = co_await reducing;
  if (transport_->rank() == 0) {
    const std::int64_t now = wall_clock_nanoseconds();
    const std::int64_t since_open = monotonic_nanoseconds() - profile_.timeline.origin();
    const ReportedFile file{.path = path_,
                            .nodes = transport_->nodes(),
                            .hints = hints(),
                            .machine = machine_origin_,
                            .job = job_name(),
                            .run = run_name(),
                            .mpi = mpi_,
                            .program = store::command_line(),
                            .hosts = hosts.sorted(),
                            .file_system = store::name_of(file_system_),
                            .mode = !mode_.write ? "read"
                                    : mode_.read ? "read-write"
                                                 : "write",
                            .stripes = layout_.stripes(),
                            .layout_origin = name_of(layout_.origin()),
                            .signature = signature_,
                            .opened_at_nanoseconds = now - since_open,
                            .closed_at_nanoseconds = now};
    // A report that cannot be written is no reason to fail the program's close.
    const Status written = store::append_text(path, report_line(file, reduced));
    if (!written) warn_of_lost_report(path_, written.error());
  }
  co_return collective::Unit{};
}

}  // namespace nacre::file
