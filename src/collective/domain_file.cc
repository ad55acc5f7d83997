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

FileJob DomainFile::begin_job(plan::Direction direction, std::int64_t round, std::byte* buffer) {
  profiler_.profile().rounds.add(1);
  plan::round_extents(plan_, aggregator_, round, extents_);
  FileJob job;
  job.direction = direction;
  job.buffer = buffer;
  return job;
}

void DomainFile::add_marked(FileJob& job, const Coverage& marked, std::int64_t bridged_bytes) {
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
      job.ranges.push_back({range, range.offset + origin});
      if (!next.empty()) profiler_.profile().holes.add(1);
      range = next;
    }
  }
  if (!job.ranges.empty()) job.file = file();
}

FileJob DomainFile::write(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  FileJob job = begin_job(plan::Direction::write, round, buffer);
  add_marked(job, marked, 0);
  return job;
}

FileJob DomainFile::read(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  FileJob job = begin_job(plan::Direction::read, round, buffer);
  add_marked(job, marked, bridged_gap_bytes);
  return job;
}

FileJob DomainFile::read_whole(std::int64_t round, std::byte* buffer) {
  FileJob job = begin_job(plan::Direction::read, round, buffer);
  std::int64_t place = 0;
  for (const Extent& extent : extents_) {
    job.ranges.push_back({{place, extent.length}, extent.offset});
    place += extent.length;
  }
  job.file = file();
  return job;
}

void DomainFile::finish(FileJob& job) {
  for (const std::int64_t bytes : job.moved_bytes) profiler_.profile().count_file_call(bytes);
  file_end_seen_ = std::min(file_end_seen_, job.file_end);
  if (job.error && !error_) error_ = std::move(job.error);
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
