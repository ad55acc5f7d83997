#include "collective/file_job.h"

#include <algorithm>
#include <utility>

namespace nacre::collective {

void FileJob::run() {
  for (const Range& range : ranges) {
    if (direction == plan::Direction::write) {
      write(range);
    } else {
      read(range);
    }
  }
}

void FileJob::write(const Range& range) {
  if (file == nullptr || error) return;
  const store::WritePiece piece{buffer + range.in_buffer.offset, range.in_buffer.length};
  store::Transfer transfer = file->write({&piece, 1}, range.in_file);
  moved_bytes.push_back(transfer.bytes);
  error = std::move(transfer.error);
}

void FileJob::read(const Range& range) {
  std::byte* const place = buffer + range.in_buffer.offset;
  const std::int64_t wanted = range.in_buffer.length;
  std::int64_t got = 0;
  if (file != nullptr && !error) {
    const store::ReadPiece piece{place, wanted};
    store::Transfer transfer = file->read({&piece, 1}, range.in_file);
    moved_bytes.push_back(transfer.bytes);
    got = transfer.bytes;
    if (!transfer.error && got < wanted) file_end = std::min(file_end, range.in_file + got);
    error = std::move(transfer.error);
  }
  std::fill_n(place + got, wanted - got, std::byte{0});
}

}  // namespace nacre::collective
