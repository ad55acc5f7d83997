// The queue of buffers, and the thread that writes and reads them.
#include <algorithm>
#include <cerrno>

#include <pthread.h>

#include "posix/buffering/buffering.h"
#include "posix/system/clock.h"

namespace nacre::posix {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// A call that is not seen (io_uring) may have closed the descriptor, and opened another file.
bool has_descriptor(const Buffer& buffer) {
  return regular_file(buffer.descriptor) == buffer.file->identity;
}

/// Writes the buffer. Returns errno, or 0.
int write_out(const Buffer& buffer) {
  if (!has_descriptor(buffer)) return EBADF;
  std::int64_t done = 0;
  while (done < buffer.bytes) {
    const auto rest = static_cast<std::size_t>(buffer.bytes - done);
    const ssize_t wrote =
        buffer.offset == Buffer::at_end
            ? system_append(buffer.descriptor, buffer.memory + done, rest)
            : system_write(buffer.descriptor, buffer.memory + done, rest, buffer.offset + done);
    if (wrote <= 0) return wrote < 0 ? errno : EIO;
    done += wrote;
  }
  return 0;
}

/// Fills the buffer up to the end of its block, or of the file. What fails is read again, and
/// reported, when the program comes there.
void read_in(Buffer& buffer, std::int64_t bytes) {
  buffer.bytes = 0;
  if (!has_descriptor(buffer)) return;
  while (buffer.bytes < bytes) {
    const ssize_t got =
        system_read(buffer.descriptor, buffer.memory + buffer.bytes,
                    static_cast<std::size_t>(bytes - buffer.bytes), buffer.offset + buffer.bytes);
    if (got <= 0) return;
    buffer.bytes += got;
  }
}

}  // namespace

void* run_helper(void* buffering) {
  static_cast<Buffering*>(buffering)->help();
  return nullptr;
}

void Buffering::start_helper() {
  {
    const Locked locked(lock_);
    if (helper_ != Helper::none || is_finished_) return;
    helper_ = Helper::starts;
  }
  // Not under the lock: the C library allocates, and an allocator may write a log. The thread
  // inherits that all signals are blocked.
  bool is_started = false;
  {
    const SignalsBlocked blocked;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    is_started = pthread_create(&thread, &attributes, run_helper, this) == 0;
    pthread_attr_destroy(&attributes);
  }
  const Locked locked(lock_);
  helper_ = is_started ? Helper::runs : Helper::failed;
  event_.raise();
}

// Buffers are settled in the order in which they were queued: by the helper thread, or at once.

void Buffering::carry_out(Buffer& buffer) {
  BufferedFile& accessed = *buffer.file;
  if (buffer.is_for_reading) {
    read_in(buffer, accessed.rule->size);
    if (accessed.reads != nullptr) accessed.reads->add_file_call(buffer.bytes);
    return;
  }
  const int error = write_out(buffer);
  if (error != 0 && accessed.error == 0) accessed.note_error(buffer.descriptor, error);
  if (accessed.writes != nullptr) accessed.writes->add_file_call(buffer.bytes);
}

void Buffering::settle(Buffer& buffer) {
  const bool is_filled = buffer.is_for_reading && !buffer.is_stale;
  buffer.state = is_filled ? Buffer::State::filled : Buffer::State::free;
  if (is_filled) buffer.since = now_nanoseconds();
  if (buffer.is_for_reading) buffer.file->fetched_bytes += buffer.bytes;
  ++settled_;
  event_.raise();
}

void Buffering::enqueue(Buffer& buffer) {
  buffer.state = Buffer::State::queued;
  ++submitted_;
  buffer.file->last_queued = submitted_;
  if (!buffer.is_for_reading) buffer.file->last_write = submitted_;
  if (helper_ != Helper::runs && helper_ != Helper::stops) {
    carry_out(buffer);
    settle(buffer);
    return;
  }
  buffer.next = nullptr;
  Buffer** last = &queue_;
  while (*last != nullptr) last = &(*last)->next;
  *last = &buffer;
  event_.raise();
}

bool Buffering::has_filling_buffers() const {
  const auto files = all_files();
  return std::any_of(files.begin(), files.end(),
                     [](const BufferedFile& one) { return one.filling != nullptr; });
}

void Buffering::submit_old_buffers() {
  const std::int64_t now = now_nanoseconds();
  for (BufferedFile& one : all_files()) {
    if (one.filling != nullptr && now - one.filling->since >= second) submit(one);
  }
}

void Buffering::help() {
  lock_.acquire();
  while (true) {
    submit_old_buffers();
    if (queue_ == nullptr && helper_ == Helper::stops) break;
    if (queue_ == nullptr) {
      lock_.wait(event_, has_filling_buffers() ? 1 : 0);
      continue;
    }
    Buffer& first = *queue_;
    queue_ = first.next;
    lock_.release();
    carry_out(first);
    lock_.acquire();
    settle(first);
  }
  helper_ = Helper::none;
  event_.raise();
  lock_.release();
}

void Buffering::submit(BufferedFile& written) {
  Buffer& buffer = *written.filling;
  written.filling = nullptr;
  const bool is_lonely = buffer.pieces < 2 && buffer.bytes < written.rule->size;
  written.lonely_buffers = is_lonely ? written.lonely_buffers + 1 : 0;
  enqueue(buffer);
}

void Buffering::wait_for(std::uint64_t number) {
  while (settled_ < number) lock_.wait(event_);
}

void Buffering::drain(BufferedFile& drained) {
  if (drained.filling != nullptr) submit(drained);
  wait_for(drained.last_write);
}

void Buffering::drain_all() {
  for (BufferedFile& one : all_files()) {
    if (one.filling != nullptr) submit(one);
  }
  wait_for(submitted_);
}

}  // namespace nacre::posix
