#include "collective/domain_file.h"

#include <algorithm>
#include <utility>

#include "collective/round_piece_copy.h"

namespace nacre::collective {

std::int64_t DomainFile::round_bytes(std::int64_t round) {
  plan::round_extents(plan_, aggregator_, round, extents_);
  std::int64_t bytes = 0;
  for (const Extent& extent : extents_) bytes += extent.length;
  return bytes;
}

void DomainFile::begin_round(std::int64_t round) {
  profiler_.profile().rounds.add(1);
  plan::round_extents(plan_, aggregator_, round, extents_);
}

/// Calls visit(range of the buffer, what to add to it for the place in the file).
template <class Visit>
void DomainFile::for_each_marked(const Coverage& marked, std::int64_t bridged_bytes, Visit visit) {
  std::int64_t place = 0;
  for (const Extent& extent : extents_) {
    const Extent here{place, extent.length};
    const std::int64_t origin = extent.offset - place;
    place += extent.length;
    Extent range = intersection(marked.next(here.offset), here);
    while (!range.empty()) {
      Extent next = intersection(marked.next(range.end()), here);
      while (!next.empty() && next.offset - range.end() <= bridged_bytes) {
        range.length = next.end() - range.offset;
        next = intersection(marked.next(range.end()), here);
      }
      visit(range, origin);
      if (!next.empty()) profiler_.profile().holes.add(1);
      range = next;
    }
  }
}

void DomainFile::write(std::int64_t round, const std::byte* buffer, const Coverage& marked) {
  const PhaseScope scope(profiler_, Phase::file);
  begin_round(round);
  for_each_marked(marked, 0, [&](const Extent& range, std::int64_t origin) {
    store::StoreFile* const to = file();
    if (to == nullptr) return;
    const store::WritePiece piece{buffer + range.offset, range.length};
    store::Transfer transfer = to->write({&piece, 1}, range.offset + origin);
    profiler_.profile().count_file_call(transfer.bytes);
    if (transfer.error) error_ = std::move(transfer.error);
  });
}

void DomainFile::read(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  const PhaseScope scope(profiler_, Phase::file);
  begin_round(round);
  for_each_marked(marked, bridged_gap_bytes, [&](const Extent& range, std::int64_t origin) {
    read_range(range, origin, buffer);
  });
}

void DomainFile::read_whole(std::int64_t round, std::byte* buffer) {
  const PhaseScope scope(profiler_, Phase::file);
  begin_round(round);
  std::int64_t place = 0;
  for (const Extent& extent : extents_) {
    read_range({place, extent.length}, extent.offset - place, buffer);
    place += extent.length;
  }
}

void DomainFile::read_range(const Extent& range, std::int64_t origin, std::byte* buffer) {
  std::int64_t got = 0;
  if (store::StoreFile* const from = file()) {
    const store::ReadPiece piece{buffer + range.offset, range.length};
    store::Transfer transfer = from->read({&piece, 1}, range.offset + origin);
    profiler_.profile().count_file_call(transfer.bytes);
    got = transfer.bytes;
    if (transfer.error) {
      error_ = std::move(transfer.error);
    } else if (got < range.length) {
      file_end_seen_ = std::min(file_end_seen_, range.offset + origin + got);
    }
  }
  // Whoever asked gets no stray bytes of this process.
  std::fill_n(buffer + range.offset + got, range.length - got, std::byte{0});
}

Status DomainFile::status() const {
  if (error_) return *error_;
  return {};
}

store::StoreFile* DomainFile::file() {
  if (error_) return nullptr;
  Result<store::StoreFile*> file = source_.file();
  if (file) return *file;
  error_ = std::move(file).error();
  return nullptr;
}

}  // namespace nacre::collective
