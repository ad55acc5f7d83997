#include "collective/files/domain_file.h"

#include "collective/rounds/round_piece_copy.h"

namespace nacre::collective {

void DomainFile::find_parts(std::int64_t round) { domains_.round_parts(domain_, round, parts_); }

std::int64_t DomainFile::round_bytes(std::int64_t round) {
  find_parts(round);
  return parts_.empty() ? 0 : parts_.back().place + parts_.back().file.length;
}

void DomainFile::add_marked(FileJob& job, const Coverage& marked, std::int64_t bridged_bytes) {
  for (const plan::FilePart& part : parts_) {
    const Extent here{part.place, part.file.length};
    const std::int64_t origin = part.file.offset - part.place;
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
  find_parts(round);
  add_marked(job, marked, 0);
  return job;
}

FileJob DomainFile::read_marked(std::int64_t round, std::byte* buffer, const Coverage& marked) {
  FileJob job = begin_job(plan::Direction::read, buffer);
  find_parts(round);
  add_marked(job, marked, bridged_gap_bytes);
  return job;
}

FileJob DomainFile::read(std::int64_t round, std::byte* buffer) {
  FileJob job = begin_job(plan::Direction::read, buffer);
  find_parts(round);
  for (const plan::FilePart& part : parts_) {
    job.ranges.push_back({{part.place, part.file.length}, part.file.offset});
  }
  open_for(job);
  return job;
}

}  // namespace nacre::collective
