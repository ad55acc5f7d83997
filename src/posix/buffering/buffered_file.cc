#include "posix/buffering/buffered_file.h"

#include <cerrno>
#include <new>

namespace nacre::posix {

std::size_t BufferedFile::buffers_bytes() const {
  return (write_buffer_count() + read_buffer_count()) * sizeof(Buffer);
}

bool BufferedFile::allocate_buffers() {
  std::byte* const memory = map_own_memory(buffers_bytes());
  if (memory == nullptr) return false;
  buffers = reinterpret_cast<Buffer*>(memory);
  for (std::size_t i = 0; i < write_buffer_count() + read_buffer_count(); ++i)
    new (buffers + i) Buffer;
  return true;
}

bool BufferedFile::allocate(Buffer& buffer) const {
  if (buffer.memory == nullptr)
    buffer.memory = map_own_memory(static_cast<std::size_t>(rule->size));
  return buffer.memory != nullptr;
}

void BufferedFile::note_error(int descriptor, int failed) {
  failed_name_bytes = failed == EBADF ? 0 : path_of(descriptor, failed_name).size();
  error = failed;
}

void BufferedFile::clear() {
  const std::uint8_t next = generation + 1;
  new (this) BufferedFile;
  generation = next;
}

}  // namespace nacre::posix
