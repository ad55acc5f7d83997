#include "collective/cycle_buffer.h"

#include <algorithm>
#include <utility>

#include "base/checked_cast.h"
#include "collective/sieve_windows.h"

namespace nacre::collective {
namespace {

// Reads need no exact holes: a page is what the page cache reads anyway.
constexpr std::int64_t read_granule_bytes = 4096;

bool reads(plan::Direction direction) { return direction == plan::Direction::read; }

}  // namespace

CycleBuffer::CycleBuffer(const plan::CollectivePlan& plan, int aggregator,
                         plan::Direction direction, FileSource& source, Profiler& profiler)
    : plan_(plan),
      aggregator_(aggregator),
      source_(source),
      profiler_(profiler),
      bridged_bytes_(reads(direction) ? bridged_gap_bytes : 0),
      data_(std::make_unique_for_overwrite<std::byte[]>(
          checked_cast<std::size_t>(plan::round_bytes_max(plan)))),
      coverage_(plan::round_bytes_max(plan), reads(direction) ? read_granule_bytes : 1) {}

void CycleBuffer::mark(const plan::TiledMap& view, const plan::RoundPiece& piece) {
  plan::RunCursor cursor({view.type, view.origin - piece.origin}, piece.first_byte,
                         piece.byte_count);
  for (plan::RunGroup group = cursor.next(); group.count > 0; group = cursor.next()) {
    coverage_.mark(group, bridged_bytes_);
  }
}

template <class Visit>
void CycleBuffer::for_each_range(std::int64_t round, std::int64_t bridged_bytes, Visit visit) {
  plan::round_extents(plan_, aggregator_, round, extents_);
  const Extent& marked = coverage_.bounds();
  std::int64_t place = 0;
  for (const Extent& extent : extents_) {
    const Extent here = intersection({place, extent.length}, marked);
    const std::int64_t origin = extent.offset - place;
    place += extent.length;
    Extent range = intersection(coverage_.next(here.offset), here);
    while (!range.empty()) {
      Extent next = intersection(coverage_.next(range.end()), here);
      while (!next.empty() && next.offset - range.end() <= bridged_bytes) {
        range.length = next.end() - range.offset;
        next = intersection(coverage_.next(range.end()), here);
      }
      visit(range, origin);
      if (!next.empty()) profiler_.profile().holes.add(1);
      range = next;
    }
  }
}

void CycleBuffer::write_round(std::int64_t round) {
  const PhaseScope scope(profiler_, Phase::file);
  for_each_range(round, 0, [this](const Extent& range, std::int64_t origin) {
    store::StoreFile* const to = file();
    if (to == nullptr) return;
    const store::WritePiece piece{data_.get() + range.offset, range.length};
    store::Transfer transfer = to->write({&piece, 1}, range.offset + origin);
    profiler_.profile().count_file_call(transfer.bytes);
    if (transfer.error) error_ = std::move(transfer.error);
  });
  coverage_.clear();
}

void CycleBuffer::read_round(std::int64_t round) {
  const PhaseScope scope(profiler_, Phase::file);
  for_each_range(round, bridged_bytes_, [this](const Extent& range, std::int64_t origin) {
    std::int64_t got = 0;
    if (store::StoreFile* const from = file()) {
      const store::ReadPiece piece{data_.get() + range.offset, range.length};
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
    std::fill_n(data_.get() + range.offset + got, range.length - got, std::byte{0});
  });
  coverage_.clear();
}

Status CycleBuffer::status() const {
  if (error_) return *error_;
  return {};
}

store::StoreFile* CycleBuffer::file() {
  if (error_) return nullptr;
  Result<store::StoreFile*> file = source_.file();
  if (file) return *file;
  error_ = std::move(file).error();
  return nullptr;
}

}  // namespace nacre::collective
