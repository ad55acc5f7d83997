#include "collective/files/round_file.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace nacre::collective {
namespace {

class DomainFile final : public RoundFile {
 public:
  DomainFile(const plan::FileDomains& domains, int domain, std::int64_t first_byte,
             FileSource& source, Profiler& profiler)
      : RoundFile(source, profiler),
        domains_(domains),
        domain_(domain),
        first_byte_(first_byte),
        round_count_(domains.round_count_of(domain)) {}

  [[nodiscard]] bool has_round(std::int64_t round) override { return round < round_count_; }
  [[nodiscard]] std::int64_t round_bytes(std::int64_t round) override {
    domains_.round_parts(domain_, round, parts_);
    return parts_.empty() ? 0 : parts_.back().place + parts_.back().file.length;
  }

 private:
  void add_ranges(FileJob& job, std::int64_t round, const Coverage* marked) override {
    domains_.round_parts(domain_, round, parts_);
    for (const plan::FilePart& part : parts_) {
      if (marked != nullptr) {
        add_marked(job, part, *marked);
      } else {
        add_whole(job, part);
      }
    }
  }

  /// Without the bytes before the first that is accessed: a read that began inside the read of the
  /// call before it would end the read-ahead of the node.
  void add_whole(FileJob& job, const plan::FilePart& part) const {
    const std::int64_t unused =
        std::clamp<std::int64_t>(first_byte_ - part.file.offset, 0, part.file.length);
    if (unused == part.file.length) return;
    job.ranges.push_back(
        {{part.place + unused, part.file.length - unused}, part.file.offset + unused});
  }

  void add_marked(FileJob& job, const plan::FilePart& part, const Coverage& marked) {
    const Extent here{part.place, part.file.length};
    const std::int64_t origin = part.file.offset - part.place;
    Extent range = intersection(marked.next(here.offset), here);
    while (!range.empty()) {
      Extent next = intersection(marked.next(range.end()), here);
      while (!next.empty() && next.offset - range.end() <= job.bridged_bytes()) {
        range.length = next.end() - range.offset;
        next = intersection(marked.next(range.end()), here);
      }
      job.ranges.push_back({range, range.offset + origin});
      if (!next.empty()) profile().holes.add(1);
      range = next;
    }
  }

  const plan::FileDomains& domains_;
  int domain_;
  std::int64_t first_byte_;
  std::int64_t round_count_;
  std::vector<plan::FilePart> parts_;  // of the round at hand
};

/// The number of bytes of `segment` in `round`.
std::int64_t bytes_in(const Segment& segment, std::int64_t round) {
  const std::int64_t whole_rounds = segment.access.byte_count / segment.in_buffer.length;
  if (round < whole_rounds) return segment.in_buffer.length;
  return round == whole_rounds ? segment.access.byte_count % segment.in_buffer.length : 0;
}

class SegmentFile final : public RoundFile {
 public:
  SegmentFile(std::vector<Segment> segments, FileSource& source, Profiler& profiler)
      : RoundFile(source, profiler), segments_(std::move(segments)) {}

  [[nodiscard]] bool has_round(std::int64_t round) override { return round_bytes(round) > 0; }
  [[nodiscard]] std::int64_t round_bytes(std::int64_t round) override {
    std::int64_t end = 0;
    for (const Segment& segment : segments_) {
      const std::int64_t bytes = bytes_in(segment, round);
      if (bytes > 0) end = std::max(end, segment.in_buffer.offset + bytes);
    }
    return end;
  }

 private:
  void add_ranges(FileJob& job, std::int64_t round, const Coverage* /*marked*/) override {
    for (const Segment& segment : segments_) {
      const std::int64_t bytes = bytes_in(segment, round);
      if (bytes == 0) continue;
      const std::int64_t first_byte = segment.access.first_byte + round * segment.in_buffer.length;
      std::int64_t place = segment.in_buffer.offset;
      plan::RunCursor cursor(segment.access.view, first_byte, bytes);
      for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
        for (std::int64_t i = 0; i < series.count; ++i) {
          job.ranges.push_back({{place, series.length}, series.offset + i * series.stride});
          place += series.length;
        }
      }
    }
    std::ranges::sort(job.ranges, std::less<>(), &FileJob::Range::in_file);
  }

  std::vector<Segment> segments_;
};

}  // namespace

FileJob RoundFile::make_job(plan::Direction direction, std::int64_t round, std::byte* buffer,
                            const Coverage* marked) {
  profile().rounds.add(1);
  FileJob job;
  job.direction = direction;
  job.buffer = buffer;
  job.is_timed = profiler_.times_file_calls();
  add_ranges(job, round, marked);
  if (job.ranges.empty() || error_) return job;
  Result<store::StoreFile*> file = source_.file();
  if (file) {
    job.file = *file;
  } else {
    error_ = std::move(file).error();
  }
  return job;
}

void RoundFile::finish(FileJob& job) {
  for (const FileCall& call : job.calls) profiler_.count_file_call(call);
  file_end_seen_ = std::min(file_end_seen_, job.file_end);
  if (job.error && !error_) error_ = std::move(job.error);
}

Status RoundFile::status() const {
  if (error_) return *error_;
  return {};
}

std::unique_ptr<RoundFile> make_domain_file(const plan::FileDomains& domains, int domain,
                                            std::int64_t first_byte, FileSource& source,
                                            Profiler& profiler) {
  return std::make_unique<DomainFile>(domains, domain, first_byte, source, profiler);
}

std::unique_ptr<RoundFile> make_segment_file(std::vector<Segment> segments, FileSource& source,
                                             Profiler& profiler) {
  return std::make_unique<SegmentFile>(std::move(segments), source, profiler);
}

}  // namespace nacre::collective
