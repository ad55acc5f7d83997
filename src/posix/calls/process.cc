#include "posix/calls/process.h"

#include <cstdlib>

#include <fcntl.h>
#include <pthread.h>

#include "posix/buffering/fatal_signals.h"
#include "posix/report/process_report.h"

namespace nacre::posix {

constinit Process process;

namespace {

void flush_at_signal() {
  if (process.is_on()) process.buffering.flush_and_warn();
}

__attribute__((constructor)) void start_process() { process.start(); }
__attribute__((destructor)) void end_process() {
  if (process.is_on()) process.end(true);
}

}  // namespace

void Process::start() {
  const char* const report = std::getenv("NACRE_REPORT");
  if (report != nullptr && *report != '\0') report_ = report;
  buffering.start(std::getenv("NACRE_IOBUF"));
  started_ = now_nanoseconds(CLOCK_REALTIME);
  owner_ = system_process();
  is_on_ = report_ != nullptr || buffering.is_on();
  if (!is_on_) return;
  pthread_atfork([] { process.before_fork(); }, [] { process.after_fork(false); },
                 [] { process.after_fork(true); });
  if (buffering.is_on()) catch_fatal_signals(flush_at_signal);
}

void Process::end(bool is_final) {
  if (is_final) {
    buffering.finish();
  } else {
    buffering.flush_and_warn();
  }
  if (report_ != nullptr) write_process_report(report_, files, started_);
  files.clear_counts();
}

void Process::after_fork(bool is_child) {
  if (is_child) {
    owner_ = system_process();
    started_ = now_nanoseconds(CLOCK_REALTIME);
    files.clear_counts();
  }
  buffering.after_fork(is_child);
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

void Process::opened(int descriptor, const char* path, int flags, std::int64_t took) {
  const ErrnoKeeper keeper;
  Descriptor known{.is_append = (flags & O_APPEND) != 0};
  if (is_counting()) known.file = files.find_or_add(descriptor, path);
  FileCounts* const counts = known.file == 0 ? nullptr : &files.counts(known.file);
  if (buffering.is_on()) known.buffered = buffering.opened(descriptor, path, flags, counts);
  if (known.is_known()) descriptors.set(descriptor, known);
  count(known, CallKind::open, took);
}

void Process::opened_stream(int descriptor, const char* path, std::int64_t took) {
  const ErrnoKeeper keeper;
  Descriptor known{.is_stream = true};
  if (is_counting()) known.file = files.find_or_add(descriptor, path);
  descriptors.set(descriptor, known);
  count(known, CallKind::open, took);
  if (!buffering.is_on()) return;
  if (const auto identity = regular_file(descriptor)) buffering.leave_alone(*identity);
}

void Process::duplicated(int descriptor, int copy) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.duplicated(known.buffered);
  descriptors.set(copy, known);
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

void Process::flush(int descriptor) {
  const Descriptor known = descriptors.get(descriptor);
  if (known.buffered != 0) buffering.flush_and_forget(known.buffered);
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
