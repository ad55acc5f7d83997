#include "collective/files/file_job.h"

#include <algorithm>
#include <utility>

#include "collective/rounds/round_piece_copy.h"

namespace nacre::collective {
namespace {

std::int64_t end_in_file(const FileJob::Range& range) {
  return range.in_file + range.in_buffer.length;
}

}  // namespace

void FileJob::run() {
  for (std::size_t first = 0; first < ranges.size();) {
    const std::size_t end = batch_end(first);
    const auto batch = std::span<const Range>(ranges).subspan(first, end - first);
    if (direction == plan::Direction::write) {
      write(batch);
    } else {
      read(batch);
    }
    first = end;
  }
}

std::size_t FileJob::batch_end(std::size_t first) const {
  const std::int64_t bridged = direction == plan::Direction::read ? bridged_gap_bytes : 0;
  std::size_t end = first + 1;
  for (; end < ranges.size(); ++end) {
    const std::int64_t gap = ranges[end].in_file - end_in_file(ranges[end - 1]);
    if (gap < 0 || gap > bridged) break;
  }
  return end;
}

void FileJob::write(std::span<const Range> batch) {
  if (file == nullptr || error) return;
  std::vector<store::WritePiece> pieces;
  pieces.reserve(batch.size());
  for (const Range& range : batch) {
    pieces.push_back({buffer + range.in_buffer.offset, range.in_buffer.length});
  }
  store::Transfer transfer = file->write(pieces, batch.front().in_file);
  moved_bytes.push_back(transfer.bytes);
  error = std::move(transfer.error);
}

void FileJob::read(std::span<const Range> batch) {
  std::vector<std::byte> gap;  // all gaps end up here
  std::vector<store::ReadPiece> pieces;
  const std::int64_t begin = batch.front().in_file;
  std::int64_t end = begin;
  for (const Range& range : batch) {
    if (range.in_file > end) {
      gap.resize(bridged_gap_bytes);
      pieces.push_back({gap.data(), range.in_file - end});
    }
    pieces.push_back({buffer + range.in_buffer.offset, range.in_buffer.length});
    end = end_in_file(range);
  }
  std::int64_t got = 0;
  if (file != nullptr && !error) {
    store::Transfer transfer = file->read(pieces, begin);
    moved_bytes.push_back(transfer.bytes);
    got = transfer.bytes;
    if (!transfer.error && begin + got < end) file_end = std::min(file_end, begin + got);
    error = std::move(transfer.error);
  }
  for (const store::ReadPiece& piece : pieces) {
    const std::int64_t filled = std::clamp<std::int64_t>(got, 0, piece.size);
    std::fill_n(piece.data + filled, piece.size - filled, std::byte{0});
    got -= filled;
  }
}

}  // namespace nacre::collective
