#include "collective/files/round_file.h"

#include <algorithm>
#include <utility>

namespace nacre::collective {

FileJob RoundFile::begin_job(plan::Direction direction, std::byte* buffer) {
  profile().rounds.add(1);
  FileJob job;
  job.direction = direction;
  job.buffer = buffer;
  return job;
}

void RoundFile::open_for(FileJob& job) {
  if (job.ranges.empty() || error_) return;
  Result<store::StoreFile*> file = source_.file();
  if (file) {
    job.file = *file;
  } else {
    error_ = std::move(file).error();
  }
}

void RoundFile::finish(FileJob& job) {
  for (const std::int64_t bytes : job.moved_bytes) profile().count_file_call(bytes);
  file_end_seen_ = std::min(file_end_seen_, job.file_end);
  if (job.error && !error_) error_ = std::move(job.error);
}

Status RoundFile::status() const {
  if (error_) return *error_;
  return {};
}

}  // namespace nacre::collective
