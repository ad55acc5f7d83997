#include "collective/domain_file.h"

#include "collective/round_piece_copy.h"

namespace nacre::collective {

void DomainFile::find_extents(std::int64_t round) {
  plan::round_extents(plan_, domain_, round, extents_);
}

std::int64_t DomainFile::round_bytes(std::int64_t round) {
  find_extents(round);
  std::int64_t bytes = 0;
  for (const Extent& extent : extents_) bytes += extent.length;
  return bytes;
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
      if (!next.empty()) profile().holes.add(1);
      range = next;
    }
  }
  open_for(job);
}

FileJob DomainFile::write(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  FileJob job = begin_job(plan::Direction::write, buffer);
  find_extents(round);
  add_marked(job, marked, 0);
  return job;
}

FileJob DomainFile::read_marked(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  FileJob job = begin_job(plan::Direction::read, buffer);
  find_extents(round);
  add_marked(job, marked, bridged_gap_bytes);
  return job;
}

FileJob DomainFile::read(std::int64_t round, std::byte* buffer) {
  FileJob job = begin_job(plan::Direction::read, buffer);
  find_extents(round);
  std::int64_t place = 0;
  for (const Extent& extent : extents_) {
    job.ranges.push_back({{place, extent.length}, extent.offset});
    place += extent.length;
  }
  open_for(job);
  return job;
}

}  // namespace nacre::collective
