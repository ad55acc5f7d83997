#include "posix/buffering/buffering.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <pthread.h>

#include "posix/report/line_text.h"
#include "posix/report/process_report.h"
#include "posix/system/clock.h"

namespace nacre::posix {
namespace {

constexpr std::int64_t second = 1'000'000'000;
/// A file whose buffers gather only one write each, so many times in a row, is accessed at random.
constexpr int lonely_buffers_max = 64;

std::int64_t total_bytes(std::span<const iovec> parts) {
  std::int64_t sum = 0;
  for (const iovec& part : parts) sum += static_cast<std::int64_t>(part.iov_len);
  return sum;
}

std::int64_t block_of(std::int64_t offset, const Rule& rule) { return offset - offset % rule.size; }

std::span<Buffer> write_buffers(BufferedFile& file) {
  return std::span{file.write_buffers}.first(static_cast<std::size_t>(file.rule->count));
}

std::span<Buffer> read_buffers(BufferedFile& file) {
  return std::span{file.read_buffers}.first(static_cast<std::size_t>(file.rule->prefetch) + 1);
}

bool has_memory(Buffer& buffer, const Rule& rule) {
  if (buffer.memory == nullptr) buffer.memory = map_memory(static_cast<std::size_t>(rule.size));
  return buffer.memory != nullptr;
}

bool is_dirty(const BufferedFile& file) {
  return file.filling != nullptr || file.queued_writes > 0;
}

/// Whether the write at `offset` can go into the buffer that the program fills.
bool continues(const Buffer& buffer, std::int64_t offset, const Rule& rule) {
  return buffer.offset != Buffer::at_end && offset >= buffer.offset &&
         offset <= buffer.offset + buffer.bytes &&
         offset < block_of(buffer.offset, rule) + rule.size;
}

/// Writes the buffer. Returns errno, or 0.
int write_out(const Buffer& buffer) {
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

/// What an error is called on every system: strerror() is for no signal handler.
std::string_view name_of_error(int error) {
  switch (error) {
    case EFBIG:
      return "the file is too large (EFBIG)";
    case ENOSPC:
      return "no space is left on the device (ENOSPC)";
    case EDQUOT:
      return "the quota is exceeded (EDQUOT)";
    case EIO:
      return "the device failed (EIO)";
    default:
      return {};
  }
}

void note_error(BufferedFile& file, int descriptor, int error) {
  file.error = error;
  file.failed_name_bytes = path_of(descriptor, file.failed_name).size();
}

/// Warns of an error that no call of the program has returned.
void warn_of_error(const BufferedFile& file) {
  if (file.error == 0) return;
  std::array<char, 512> room;  // NOLINT: filled next
  LineText line(room);
  line.add("nacre: bytes of the buffered file ");
  line.add_string({file.failed_name.data(), file.failed_name_bytes});
  line.add(" (NACRE_IOBUF) are lost: ");
  const std::string_view name = name_of_error(file.error);
  if (name.empty()) {
    line.add("errno ").add(file.error);
  } else {
    line.add(name);
  }
  line.add("\n");
  print_warning(line.text());
}

/// Fills the buffer up to the end of its block, or of the file. What fails is read again, and
/// reported, when the program comes there.
void read_in(Buffer& buffer, std::int64_t bytes) {
  buffer.bytes = 0;
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

void Buffering::start(const char* rules) {
  if (rules == nullptr || rules_.parse(rules) || launched_rank() > 0) return;
  print_warning("nacre: ");
  print_warning(rules_.problem());
  print_warning("; no file is buffered\n");
}

bool Buffering::allocate() {
  if (files_ == nullptr)
    files_ = reinterpret_cast<BufferedFile*>(map_memory(file_count_max * sizeof(BufferedFile)));
  return files_ != nullptr;
}

void Buffering::start_helper() {
  if (helper_ != Helper::none || is_finished_) return;
  // All signals are blocked while the lock is held: the new thread inherits that.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int failed = pthread_create(&thread, &attributes, run_helper, this);
  pthread_attr_destroy(&attributes);
  helper_ = failed == 0 ? Helper::runs : Helper::failed;
}

BufferedFile* Buffering::find(const FileIdentity& identity) {
  for (std::uint16_t i = 0; i < count_; ++i) {
    if (files_[i].descriptors > 0 && files_[i].identity == identity) return &files_[i];
  }
  return nullptr;
}

std::uint16_t Buffering::add(const FileIdentity& identity, const Rule& rule, FileCounts* counts) {
  std::uint16_t at = 0;
  while (at < count_ && files_[at].descriptors > 0) ++at;
  if (at == file_count_max) return 0;
  count_ = std::max<std::uint16_t>(count_, at + 1);
  BufferedFile& made = files_[at];
  made = BufferedFile{};
  made.identity = identity;
  made.rule = &rule;
  if (counts != nullptr) {
    made.writes = &(*counts)[AccessKind::write];
    made.reads = &(*counts)[AccessKind::read];
  }
  return at + 1;
}

std::uint16_t Buffering::opened(int descriptor, const char* path, int flags, FileCounts* counts) {
  constexpr int unbuffered = O_SYNC | O_DSYNC | O_DIRECT | O_PATH;
  const Rule* const rule = rules_.find(path);
  if (rule == nullptr) return 0;
  const auto identity = regular_file(descriptor);
  if (!identity) return 0;
  const Locked locked(lock_);
  if (is_finished_ || !allocate()) return 0;
  BufferedFile* const known = find(*identity);
  auto number =
      known == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(known - files_ + 1);
  if (known != nullptr) {
    drain(*known);
    forget_reads(*known);
  } else {
    number = add(*identity, *rule, counts);
  }
  if (number == 0) return 0;
  BufferedFile& opened = file(number);
  ++opened.descriptors;
  if ((flags & unbuffered) != 0) opened.is_left_alone = true;
  start_helper();
  return number;
}

void Buffering::duplicated(std::uint16_t number) {
  const Locked locked(lock_);
  ++file(number).descriptors;
}

int Buffering::closing(std::uint16_t number, bool can_report) {
  const Locked locked(lock_);
  BufferedFile& closed = file(number);
  drain(closed);
  forget_reads(closed);
  const int error = closed.error;
  if (can_report) closed.error = 0;
  if (--closed.descriptors == 0) release(closed);
  return error;
}

void Buffering::release(BufferedFile& released) {
  warn_of_error(released);
  const auto size = static_cast<std::size_t>(released.rule->size);
  for (Buffer& buffer : write_buffers(released)) unmap_memory(buffer.memory, size);
  for (Buffer& buffer : read_buffers(released)) unmap_memory(buffer.memory, size);
  released = BufferedFile{};
}

// The queue.

void Buffering::carry_out(Buffer& buffer) {
  BufferedFile& accessed = *buffer.file;
  if (buffer.is_for_reading) {
    read_in(buffer, accessed.rule->size);
    if (accessed.reads != nullptr) accessed.reads->add_file_call(buffer.bytes);
    return;
  }
  const int error = write_out(buffer);
  if (error != 0 && accessed.error == 0) note_error(accessed, buffer.descriptor, error);
  if (accessed.writes != nullptr) accessed.writes->add_file_call(buffer.bytes);
}

void Buffering::settle(Buffer& buffer) {
  if (buffer.is_for_reading) {
    buffer.state = Buffer::State::filled;
    buffer.since = now_nanoseconds();
  } else {
    buffer.state = Buffer::State::free;
    --buffer.file->queued_writes;
  }
  event_.raise();
}

void Buffering::enqueue(Buffer& buffer) {
  buffer.state = Buffer::State::queued;
  if (!buffer.is_for_reading) ++buffer.file->queued_writes;
  if (helper_ != Helper::runs) {
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
  return std::any_of(files_, files_ + count_,
                     [](const BufferedFile& one) { return one.filling != nullptr; });
}

void Buffering::submit_old_buffers() {
  const std::int64_t now = now_nanoseconds();
  for (std::uint16_t i = 0; i < count_; ++i) {
    const Buffer* const filling = files_[i].filling;
    if (filling != nullptr && now - filling->since >= second) submit(files_[i]);
  }
}

void Buffering::help() {
  lock_.acquire();
  while (true) {
    if (queue_ == nullptr) submit_old_buffers();
    if (queue_ == nullptr && helper_ == Helper::stops) break;
    if (queue_ == nullptr) {
      lock_.wait(event_, has_filling_buffers() ? 1 : 0);
      continue;
    }
    Buffer& first = *queue_;
    queue_ = first.next;
    is_helping_ = true;
    lock_.release();
    carry_out(first);
    lock_.acquire();
    is_helping_ = false;
    settle(first);
  }
  helper_ = Helper::none;
  event_.raise();
  lock_.release();
}

// Writes.

void Buffering::submit(BufferedFile& written) {
  Buffer& buffer = *written.filling;
  written.filling = nullptr;
  const bool is_lonely = buffer.pieces < 2 && buffer.bytes < written.rule->size;
  written.lonely_buffers = is_lonely ? written.lonely_buffers + 1 : 0;
  if (written.lonely_buffers >= lonely_buffers_max) written.is_left_alone = true;
  enqueue(buffer);
}

void Buffering::drain(BufferedFile& drained) {
  if (drained.filling != nullptr) submit(drained);
  while (drained.queued_writes > 0) lock_.wait(event_);
}

bool Buffering::begin_buffer(BufferedFile& written, int descriptor, std::int64_t offset) {
  const auto buffers = write_buffers(written);
  const auto found = std::find_if(buffers.begin(), buffers.end(), [](const Buffer& one) {
    return one.state == Buffer::State::free;
  });
  if (found == buffers.end()) {
    lock_.wait(event_);
    return false;
  }
  if (!has_memory(*found, *written.rule)) {
    written.error = ENOMEM;
    return false;
  }
  found->file = &written;
  found->state = Buffer::State::filling;
  found->offset = offset;
  found->descriptor = descriptor;
  found->bytes = 0;
  found->pieces = 0;
  found->is_for_reading = false;
  found->since = now_nanoseconds();
  written.filling = &*found;
  event_.raise();  // from now on the helper looks at it once a second
  return true;
}

void Buffering::put(BufferedFile& written, int descriptor, std::span<const std::byte> from,
                    std::int64_t offset) {
  const Rule& rule = *written.rule;
  while (!from.empty() && written.error == 0) {
    if (written.filling != nullptr && !continues(*written.filling, offset, rule)) submit(written);
    // While a thread waits for a buffer, another may have begun one.
    if (written.filling == nullptr) {
      (void)begin_buffer(written, descriptor, offset);
      continue;
    }
    Buffer& buffer = *written.filling;
    const std::int64_t end = block_of(buffer.offset, rule) + rule.size;
    const std::int64_t bytes = std::min<std::int64_t>(std::ssize(from), end - offset);
    const std::int64_t at = offset - buffer.offset;
    std::memcpy(buffer.memory + at, from.data(), static_cast<std::size_t>(bytes));
    buffer.bytes = std::max(buffer.bytes, at + bytes);
    ++buffer.pieces;
    from = from.subspan(static_cast<std::size_t>(bytes));
    offset += bytes;
    if (offset == end) submit(written);
  }
}

void Buffering::append(BufferedFile& written, int descriptor, std::span<const iovec> from) {
  // One write of the program is never divided: other processes may append too.
  const std::int64_t bytes = total_bytes(from);
  while (written.error == 0) {
    const Buffer* const filling = written.filling;
    if (filling != nullptr &&
        (filling->offset != Buffer::at_end || filling->descriptor != descriptor ||
         filling->bytes + bytes > written.rule->size))
      submit(written);
    if (written.filling != nullptr) break;
    (void)begin_buffer(written, descriptor, Buffer::at_end);
  }
  if (written.error != 0) return;
  Buffer& buffer = *written.filling;
  for (const iovec& part : from) {
    std::memcpy(buffer.memory + buffer.bytes, part.iov_base, part.iov_len);
    buffer.bytes += static_cast<std::int64_t>(part.iov_len);
  }
  ++buffer.pieces;
}

Outcome Buffering::write(std::uint16_t number, int descriptor, std::span<const iovec> from,
                         std::int64_t offset, bool is_append) {
  const std::int64_t bytes = total_bytes(from);
  const Locked locked(lock_);
  BufferedFile& written = file(number);
  forget_reads(written);
  start_helper();
  if (written.error != 0) {
    errno = std::exchange(written.error, 0);
    return {true, -1};
  }
  const bool passes = written.is_left_alone || is_finished_ || bytes == 0 ||
                      bytes >= written.rule->size || (is_append && offset >= 0);
  if (passes) {
    drain(written);
    return {};
  }
  if (is_append) {
    append(written, descriptor, from);
  } else {
    if (offset < 0) offset = system_seek(descriptor, bytes, SEEK_CUR) - bytes;
    if (offset < 0) return {};
    for (const iovec& part : from) {
      put(written, descriptor, {static_cast<const std::byte*>(part.iov_base), part.iov_len},
          offset);
      offset += static_cast<std::int64_t>(part.iov_len);
    }
  }
  if (written.is_left_alone || is_finished_) drain(written);
  if (written.error == 0) return {true, bytes};
  errno = std::exchange(written.error, 0);
  return {true, -1};
}

// Reads.

void Buffering::forget_reads(BufferedFile& forgotten) {
  for (Buffer& buffer : read_buffers(forgotten)) {
    while (buffer.state == Buffer::State::queued) lock_.wait(event_);
    buffer.state = Buffer::State::free;
  }
}

Buffer* Buffering::find_read_buffer(BufferedFile& read, std::int64_t offset) {
  const std::int64_t block = block_of(offset, *read.rule);
  const std::int64_t now = now_nanoseconds();
  for (Buffer& buffer : read_buffers(read)) {
    if (buffer.state == Buffer::State::free || buffer.offset != block) continue;
    if (buffer.state == Buffer::State::queued || now - buffer.since < second) return &buffer;
    buffer.state = Buffer::State::free;  // another process may have written meanwhile
  }
  return nullptr;
}

Buffer* Buffering::read_ahead(BufferedFile& read, int descriptor, std::int64_t block) {
  if (Buffer* const found = find_read_buffer(read, block)) return found;
  // The one that is farthest behind the program.
  Buffer* oldest = nullptr;
  for (Buffer& buffer : read_buffers(read)) {
    if (buffer.state == Buffer::State::queued) continue;
    if (buffer.state == Buffer::State::free) buffer.offset = -1;
    if (oldest == nullptr || buffer.offset < oldest->offset) oldest = &buffer;
  }
  if (oldest == nullptr || !has_memory(*oldest, *read.rule)) return nullptr;
  oldest->file = &read;
  oldest->descriptor = descriptor;
  oldest->offset = block;
  oldest->is_for_reading = true;
  enqueue(*oldest);
  return oldest;
}

std::int64_t Buffering::copy_from_buffers(BufferedFile& read, int descriptor,
                                          std::span<std::byte> to, std::int64_t offset) {
  std::int64_t done = 0;
  while (done < std::ssize(to)) {
    const std::int64_t at = offset + done;
    const std::int64_t block = block_of(at, *read.rule);
    Buffer* const buffer = read_ahead(read, descriptor, block);
    if (buffer == nullptr) break;
    if (buffer->state == Buffer::State::queued) {
      lock_.wait(event_);
      continue;
    }
    const std::int64_t bytes = std::min(std::ssize(to) - done, buffer->offset + buffer->bytes - at);
    if (bytes <= 0) break;
    std::memcpy(to.data() + done, buffer->memory + (at - buffer->offset),
                static_cast<std::size_t>(bytes));
    done += bytes;
    const bool is_last = buffer->bytes < read.rule->size;
    for (int i = 1; i <= read.rule->prefetch && !is_last && helper_ == Helper::runs; ++i)
      (void)read_ahead(read, descriptor, block + i * read.rule->size);
  }
  return done;
}

Outcome Buffering::read(std::uint16_t number, int descriptor, void* to, std::int64_t bytes,
                        std::int64_t offset) {
  const Locked locked(lock_);
  BufferedFile& read = file(number);
  drain(read);
  const bool has_own_position = offset >= 0 || !read.is_position_shared;
  if (read.is_left_alone || is_finished_ || bytes >= read.rule->size || !has_own_position)
    return {};
  const std::int64_t at = offset >= 0 ? offset : system_seek(descriptor, 0, SEEK_CUR);
  if (at < 0) return {};
  const bool is_sequential = at == read.read_end || find_read_buffer(read, at) != nullptr;
  read.read_end = at + bytes;
  if (!is_sequential) return {};
  const std::int64_t done = copy_from_buffers(
      read, descriptor, {static_cast<std::byte*>(to), static_cast<std::size_t>(bytes)}, at);
  if (done == 0) return {};  // the end of the file, or an error: the system says which
  read.read_end = at + done;
  if (offset < 0) system_seek(descriptor, at + done, SEEK_SET);
  return {true, done};
}

// Flushes.

void Buffering::flush(std::uint16_t number) {
  const Locked locked(lock_);
  drain(file(number));
}

void Buffering::flush_and_forget(std::uint16_t number) {
  const Locked locked(lock_);
  drain(file(number));
  forget_reads(file(number));
}

int Buffering::take_error(std::uint16_t number) {
  const Locked locked(lock_);
  return std::exchange(file(number).error, 0);
}

void Buffering::leave_alone(std::uint16_t number) {
  const Locked locked(lock_);
  file(number).is_left_alone = true;
  drain(file(number));
  forget_reads(file(number));
}

void Buffering::leave_alone(const FileIdentity& identity) {
  const Locked locked(lock_);
  BufferedFile* const found = find(identity);
  if (found == nullptr) return;
  found->is_left_alone = true;
  drain(*found);
  forget_reads(*found);
}

bool Buffering::flush(const FileIdentity& identity) {
  const Locked locked(lock_);
  BufferedFile* const found = find(identity);
  if (found == nullptr || !is_dirty(*found)) return false;
  drain(*found);
  forget_reads(*found);
  return true;
}

void Buffering::drain_all() {
  const auto is_any_dirty = [this] { return std::any_of(files_, files_ + count_, is_dirty); };
  while (is_any_dirty()) {
    for (std::uint16_t i = 0; i < count_; ++i) drain(files_[i]);
  }
}

void Buffering::flush_all() {
  const Locked locked(lock_);
  drain_all();
}

void Buffering::warn_of_errors() { std::for_each(files_, files_ + count_, warn_of_error); }

void Buffering::flush_and_warn() {
  const Locked locked(lock_);
  drain_all();
  warn_of_errors();
}

void Buffering::finish() {
  const Locked locked(lock_);
  is_finished_ = true;
  drain_all();
  warn_of_errors();
}

void Buffering::stop() {
  const Locked locked(lock_);
  is_finished_ = true;
  drain_all();
  if (helper_ != Helper::runs) return;
  helper_ = Helper::stops;
  event_.raise();
  while (helper_ == Helper::stops) lock_.wait(event_);
}

void Buffering::before_fork() {
  lock_.acquire();
  do {
    drain_all();
    while (queue_ != nullptr || is_helping_) lock_.wait(event_);
  } while (std::any_of(files_, files_ + count_, is_dirty));
  for (std::uint16_t i = 0; i < count_; ++i) {
    if (files_[i].descriptors == 0) continue;
    forget_reads(files_[i]);
    files_[i].is_position_shared = true;
  }
}

void Buffering::after_fork(bool is_child) {
  if (is_child && helper_ == Helper::runs) helper_ = Helper::none;
  lock_.release();
}

}  // namespace nacre::posix
