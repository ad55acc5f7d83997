// Reads of the program from buffers, which are read ahead of it.
#include <algorithm>
#include <cstring>

#include "posix/buffering/buffering.h"
#include "posix/system/clock.h"

namespace nacre::posix {
namespace {

constexpr std::int64_t second = 1'000'000'000;
/// Accesses beyond it go to the system: so no sum of an offset and sizes overflows.
constexpr std::int64_t offset_max = std::int64_t{1} << 62;
/// A file of which more than four times the bytes are read that the program takes, and so many
/// buffers beyond that, is not read sequentially.
constexpr std::int64_t excess_max = 4;
constexpr std::int64_t excess_buffers_max = 16;
/// How often a call waits for buffers before it reads by itself: threads that read in different
/// places take them from each other.
constexpr int waits_max = 8;

std::int64_t block_of(std::int64_t offset, const Rule& rule) { return offset - offset % rule.size; }

}  // namespace

bool Buffering::can_read(const BufferedFile& read) const {
  const std::int64_t excess = read.fetched_bytes - excess_max * read.served_bytes;
  return !read.is_left_alone && !read.is_shared && !is_finished_ && pauses_ == 0 &&
         !is_dirty(read) && excess <= excess_buffers_max * read.rule->size;
}

Buffer* Buffering::find_read_buffer(BufferedFile& read, std::int64_t offset) {
  const std::int64_t block = block_of(offset, *read.rule);
  const std::int64_t now = now_nanoseconds();
  for (Buffer& buffer : read.read_buffers()) {
    if (buffer.state == Buffer::State::free || buffer.offset != block || buffer.is_stale) continue;
    if (buffer.state == Buffer::State::queued || now - buffer.since < second) return &buffer;
    buffer.state = Buffer::State::free;  // another process may have written meanwhile
  }
  return nullptr;
}

/// A buffer that the program needs no more: it reads at `current`. Null if there is none.
Buffer* Buffering::victim(BufferedFile& read, std::int64_t current) {
  const std::int64_t end = current + (read.rule->prefetch + 1) * read.rule->size;
  Buffer* found = nullptr;
  for (Buffer& buffer : read.read_buffers()) {
    if (buffer.state == Buffer::State::free) return &buffer;
    const bool is_needed = buffer.offset >= current && buffer.offset < end;
    if (buffer.state == Buffer::State::queued || is_needed) continue;
    if (found == nullptr || buffer.used < found->used) found = &buffer;
  }
  return found;
}

Buffer* Buffering::read_ahead(BufferedFile& read, int descriptor, std::int64_t block,
                              std::int64_t current) {
  if (Buffer* const found = find_read_buffer(read, block)) return found;
  if (read.buffers == nullptr && !read.allocate_buffers()) return nullptr;
  Buffer* const taken = victim(read, current);
  if (taken == nullptr || !read.allocate(*taken)) return nullptr;
  taken->file = &read;
  taken->descriptor = descriptor;
  taken->offset = block;
  taken->is_for_reading = true;
  taken->is_stale = false;
  taken->used = ++read.uses;
  enqueue(*taken);
  return taken;
}

std::int64_t Buffering::copy_from_buffers(BufferedFile& read, int descriptor,
                                          std::span<std::byte> to, std::int64_t offset) {
  std::int64_t done = 0;
  int waits = 0;
  while (done < std::ssize(to)) {
    const std::int64_t at = offset + done;
    const std::int64_t block = block_of(at, *read.rule);
    Buffer* const buffer = can_read(read) ? read_ahead(read, descriptor, block, block) : nullptr;
    if (buffer != nullptr && buffer->state == Buffer::State::queued && waits < waits_max) {
      ++waits;
      lock_.wait(event_);
      continue;
    }
    if (buffer == nullptr || buffer->state != Buffer::State::filled) {
      const auto rest = to.subspan(static_cast<std::size_t>(done));
      return done + std::max<ssize_t>(system_read(descriptor, rest.data(), rest.size(), at), 0);
    }
    const std::int64_t bytes = std::min(std::ssize(to) - done, buffer->offset + buffer->bytes - at);
    if (bytes <= 0) break;
    std::memcpy(to.data() + done, buffer->memory + (at - buffer->offset),
                static_cast<std::size_t>(bytes));
    done += bytes;
    buffer->used = ++read.uses;
    read.served_bytes += bytes;
    const bool is_last = buffer->bytes < read.rule->size;
    for (int i = 1; i <= read.rule->prefetch && !is_last && helper_ == Helper::runs; ++i)
      (void)read_ahead(read, descriptor, block + i * read.rule->size, block);
  }
  return done;
}

Outcome Buffering::read(std::uint16_t number, int descriptor, std::span<std::byte> to,
                        std::int64_t offset) {
  if (passes_by(number)) return {};
  const Use use(*this, number);
  if (use.file() == nullptr) return {};
  BufferedFile& read = *use.file();
  drain(read);
  const auto bytes = std::ssize(to);
  if (!can_read(read) || bytes == 0 || bytes >= read.rule->size) return {};
  // As a write does, a read reserves its range, and gives back what it did not read.
  const std::int64_t at = offset >= 0 ? offset : system_seek(descriptor, bytes, SEEK_CUR) - bytes;
  if (at < 0) return {};
  const bool is_sequential = at == read.read_end || find_read_buffer(read, at) != nullptr;
  read.read_end = at + bytes;
  std::int64_t done = 0;
  if (is_sequential && at <= offset_max && is_writable(to.data(), to.size()))
    done = copy_from_buffers(read, descriptor, to, at);
  if (offset < 0 && done < bytes) system_seek(descriptor, done - bytes, SEEK_CUR);
  if (done == 0) return {};  // the end of the file, or an error: the system says which
  read.read_end = at + done;
  return {true, done};
}

}  // namespace nacre::posix
