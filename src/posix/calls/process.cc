#include "posix/calls/process.h"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "posix/buffering/fatal_signals.h"
#include "posix/report/process_report.h"

namespace nacre::posix {

constinit Process process;
constinit thread_local bool may_be_child_of_vfork = false;

namespace {

void flush_at_signal() {
  if (process.is_on()) process.buffering.finish();
}

/// A copy that stays when the program overwrites its environment. Null if that is empty.
const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return nullptr;
  const std::size_t bytes = std::strlen(value) + 1;
  std::byte* const copy = map_memory(bytes);
  if (copy != nullptr) std::memcpy(copy, value, bytes);
  return reinterpret_cast<const char*>(copy);
}

__attribute__((constructor)) void start_process() { process.start(); }
__attribute__((destructor)) void end_process() {
  if (!process.is_on()) return;
  process.files.count_rests();
  process.end();
}

}  // namespace

void Process::start() {
  note_standard_error();
  note_launch();
  report_ = setting("NACRE_REPORT");
  buffering.start(setting("NACRE_IOBUF"));
  started_ = now_nanoseconds(CLOCK_REALTIME);
  owner_ = system_process();
  is_on_ = report_ != nullptr || buffering.is_on();
  if (!is_on_) return;
  auto* const mark =
      reinterpret_cast<std::atomic<int>*>(map_wiped_memory(sizeof(std::atomic<int>)));
  if (mark != nullptr) *mark = 1;
  own_mark_ = mark;
  pthread_atfork([] { process.before_fork(); }, [] { process.after_fork_in_parent(); },
                 [] { process.after_fork_in_child(); });
  if (buffering.is_on()) catch_fatal_signals(flush_at_signal);
}

void Process::end() {
  buffering.finish();
  report_calls();
}

void Process::before_exec() {
  buffering.before_exec();
  report_calls();
}

void Process::report_calls() {
  if (report_ != nullptr) write_process_report(report_, files, started_);
  files.clear_counts();
}

void Process::after_fork_in_child() {
  started_ = now_nanoseconds(CLOCK_REALTIME);
  files.after_fork_in_child();
  files.clear_counts();
  buffering.after_fork_in_child();
  owner_ = system_process();
  may_be_child_of_vfork = false;
  if (own_mark_ != nullptr) *own_mark_.load() = 1;
}

void Process::begin_process() {
  if (is_on() && buffering.is_on()) buffering.share_all();
}

void Process::before_vfork() {
  if (!is_on()) return;
  begin_process();
  may_be_child_of_vfork = true;
}

void Process::before_shared_clone() {
  begin_process();
  own_mark_ = nullptr;
}

void Process::leave_out_calls_from(const void* begin, const void* end) {
  for (Code& code : left_out_) {
    const char* none = nullptr;
    if (!code.begin.compare_exchange_strong(none, static_cast<const char*>(begin))) continue;
    code.end = static_cast<const char*>(end);
    return;
  }
}

bool Process::is_left_out(const void* caller) const {
  const auto* const at = static_cast<const char*>(caller);
  for (const Code& code : left_out_) {
    if (code.begin == nullptr) return false;
    if (at >= code.begin && at < code.end) return true;
  }
  return false;
}

void Process::opened(int descriptor, const Buffering::Opening& opening, bool is_stream,
                     std::int64_t took) {
  const ErrnoKeeper keeper;
  const int access = opening.flags & O_ACCMODE;
  Descriptor known{.can_read = access == O_RDONLY || access == O_RDWR,
                   .can_write = access == O_WRONLY || access == O_RDWR,
                   .is_append = (opening.flags & O_APPEND) != 0,
                   .is_stream = is_stream};
  if (is_counting())
    known.file =
        static_cast<std::uint16_t>(files.find_or_add(descriptor, opening.path, opening.flags));
  FileCounts* const counts = known.file == 0 ? nullptr : &files.counts(known.file);
  if (buffering.is_on()) {
    Buffering::Opening seen = opening;
    if (descriptor >= Descriptors::capacity) seen.is_hidden = true;  // its calls are not seen
    known.buffered = buffering.opened(descriptor, seen, counts);
  }
  descriptors.set(descriptor, known);
  count(known, CallKind::open, took);
}

void Process::opened(int descriptor, const char* path, int flags, std::int64_t took) {
  opened(descriptor, {.path = path, .flags = flags}, false, took);
}

void Process::opened_stream(int descriptor, const char* path, int flags, std::int64_t took) {
  opened(descriptor, {.path = path, .flags = flags, .is_hidden = true}, true, took);
}

void Process::opened_cxx_stream(int descriptor, const char* path, int flags, std::int64_t took) {
  has_buffered_streams_ = true;
  opened(descriptor, {.path = path, .flags = flags}, true, took);
}

void Process::duplicated(int descriptor, int copy) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.duplicated(known.buffered);
  descriptors.set(copy, known);
  // stdio and children write to standard descriptors; calls on those above are not seen.
  if (copy <= STDERR_FILENO || copy >= Descriptors::capacity) leave_alone(descriptor);
}

Descriptor Process::closing(int descriptor, int& error) {
  const Descriptor known = descriptors.get(descriptor);
  if (!known.is_known()) return known;
  descriptors.take(descriptor);  // first, so that other threads begin no buffer with it
  if (known.buffered != 0) error = buffering.closing(known.buffered, true);
  return known;
}

void Process::closing(int descriptor) {
  const Descriptor known = descriptors.take(descriptor);
  if (known.buffered != 0) (void)buffering.closing(known.buffered, false);
}

void Process::leave_alone(int descriptor) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.leave_alone(known.buffered);
}

void Process::leave_alone_for_good(int descriptor) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.leave_alone_for_good(known.buffered);
}

void Process::flush(int descriptor) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.flush_and_forget(known.buffered);
}

void Process::flush(int directory, const char* path) {
  if (!buffering.is_on()) return;
  if (const auto found = regular_file(directory, path)) buffering.flush_and_forget(*found);
}

void Process::changed(const Descriptor& descriptor) {
  if (descriptor.buffered == 0) return;
  const ErrnoKeeper keeper;
  buffering.forget(descriptor.buffered);
}

void Process::count(const Descriptor& descriptor, AccessKind kind, std::int64_t bytes,
                    std::int64_t took, bool is_direct) {
  if (descriptor.file == 0) return;
  AccessCounts& counts = files.counts(descriptor.file)[kind];
  counts.calls.add(1);
  counts.nanoseconds.add(took);
  if (bytes <= 0) return;
  counts.bytes.add(bytes);
  if (is_direct) counts.add_file_call(bytes);
}

}  // namespace nacre::posix
