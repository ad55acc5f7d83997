// Writes of the program into buffers.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "posix/buffering/buffering.h"
#include "posix/system/clock.h"

namespace nacre::posix {
namespace {

/// Accesses beyond it go to the system: so no sum of an offset and a size overflows.
constexpr std::int64_t offset_max = std::int64_t{1} << 62;

/// A file whose buffers gather only one write each, so many times in a row, is accessed at random.
constexpr int lonely_buffers_max = 64;

/// Bytes of all parts; -1 if they are more than a call can move.
std::int64_t total_bytes(std::span<const iovec> parts) {
  std::int64_t sum = 0;
  for (const iovec& part : parts) {
    if (part.iov_len > static_cast<std::size_t>(offset_max - sum)) return -1;
    sum += static_cast<std::int64_t>(part.iov_len);
  }
  return sum;
}

bool are_readable(std::span<const iovec> parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [](const iovec& part) { return is_readable(part.iov_base, part.iov_len); });
}

std::int64_t block_end(const Buffer& buffer, const Rule& rule) {
  return buffer.offset - buffer.offset % rule.size + rule.size;
}

/// Whether the write at `offset` can go into the buffer that the program fills.
bool continues(const Buffer& buffer, std::int64_t offset, const Rule& rule) {
  return buffer.offset != Buffer::at_end && offset >= buffer.offset &&
         offset <= buffer.offset + buffer.bytes && offset < block_end(buffer, rule);
}

}  // namespace

bool Buffering::can_write(const BufferedFile& written) const {
  return !written.is_left_alone && !is_finished_ && pauses_ == 0;
}

bool Buffering::begin_buffer(BufferedFile& written, int descriptor, std::int64_t offset) {
  const auto buffers = written.write_buffers();
  const auto found = std::find_if(buffers.begin(), buffers.end(), [](const Buffer& one) {
    return one.state == Buffer::State::free;
  });
  if (found == buffers.end() && !buffers.empty()) {
    lock_.wait(event_);
    return true;
  }
  if (buffers.empty() ? !written.allocate_buffers() : !written.allocate(*found)) {
    leave_alone(written);
    return false;
  }
  if (buffers.empty()) return true;
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

void Buffering::write_directly(BufferedFile& written, int descriptor,
                               std::span<const std::byte> from, std::int64_t offset) {
  while (!from.empty()) {
    const ssize_t wrote = system_write(descriptor, from.data(), from.size(), offset);
    if (wrote <= 0) {
      written.note_error(descriptor, wrote < 0 ? errno : EIO);
      return;
    }
    from = from.subspan(static_cast<std::size_t>(wrote));
    offset += wrote;
  }
}

void Buffering::put(BufferedFile& written, int descriptor, std::span<const std::byte> from,
                    std::int64_t offset) {
  const Rule& rule = *written.rule;
  while (!from.empty()) {
    if (written.filling != nullptr && !continues(*written.filling, offset, rule)) submit(written);
    // While a thread waits for a buffer, another may have begun one.
    if (written.filling == nullptr) {
      if (begin_buffer(written, descriptor, offset)) continue;
      return write_directly(written, descriptor, from, offset);
    }
    Buffer& buffer = *written.filling;
    const std::int64_t end = block_end(buffer, rule);
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

bool Buffering::put_all(BufferedFile& written, int descriptor, std::span<const iovec> from,
                        std::int64_t offset) {
  const std::int64_t bytes = total_bytes(from);
  if (offset < 0) offset = system_seek(descriptor, bytes, SEEK_CUR) - bytes;
  if (offset < 0 || offset > offset_max) {
    if (offset > 0) system_seek(descriptor, -bytes, SEEK_CUR);
    return false;
  }
  for (const iovec& part : from) {
    put(written, descriptor, {static_cast<const std::byte*>(part.iov_base), part.iov_len}, offset);
    offset += static_cast<std::int64_t>(part.iov_len);
  }
  return true;
}

bool Buffering::append(BufferedFile& written, int descriptor, std::span<const iovec> from) {
  // One write of the program is never divided: other processes may append too.
  const std::int64_t bytes = total_bytes(from);
  while (true) {
    const Buffer* const filling = written.filling;
    if (filling != nullptr &&
        (filling->offset != Buffer::at_end || filling->descriptor != descriptor ||
         filling->bytes + bytes > written.rule->size))
      submit(written);
    if (written.filling != nullptr) break;
    if (!begin_buffer(written, descriptor, Buffer::at_end)) return false;
  }
  Buffer& buffer = *written.filling;
  for (const iovec& part : from) {
    std::memcpy(buffer.memory + buffer.bytes, part.iov_base, part.iov_len);
    buffer.bytes += static_cast<std::int64_t>(part.iov_len);
  }
  ++buffer.pieces;
  return true;
}

Outcome Buffering::write(std::uint16_t number, int descriptor, std::span<const iovec> from,
                         std::int64_t offset, bool is_append) {
  if (passes_by(number)) return {};
  const std::int64_t bytes = total_bytes(from);
  const Use use(*this, number);
  if (use.file() == nullptr) return {};
  BufferedFile& written = *use.file();
  forget_reads(written);
  if (written.error != 0) {
    drain(written);  // so that a write that the program repeats does not fail for earlier ones
    errno = written.error.exchange(0);
    return {true, -1};
  }
  if (written.lonely_buffers >= lonely_buffers_max) leave_alone(written);
  const bool fits = bytes > 0 && bytes < written.rule->size && offset <= offset_max;
  const bool has_two_ends = is_append && offset >= 0;
  if (!can_write(written) || !fits || has_two_ends || !are_readable(from)) {
    drain(written);
    return {};
  }
  if (is_append) {
    if (!append(written, descriptor, from)) return {};
  } else if (!put_all(written, descriptor, from, offset)) {
    drain(written);
    return {};
  }
  if (!can_write(written)) drain(written);
  forget_reads(written);  // what other threads have read ahead while this one waited for a buffer
  return {true, bytes};
}

}  // namespace nacre::posix
