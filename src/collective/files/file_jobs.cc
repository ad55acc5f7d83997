#include "collective/files/file_jobs.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "collective/rounds/round_copies.h"
#include "plan/types/type_map.h"

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

std::int64_t FileJob::bridged_bytes() const {
  return direction == plan::Direction::read ? plan::bridged_gap_bytes : 0;
}

std::size_t FileJob::batch_end(std::size_t first) const {
  std::size_t end = first + 1;
  for (; end < ranges.size(); ++end) {
    const std::int64_t gap = ranges[end].in_file - end_in_file(ranges[end - 1]);
    if (gap < 0 || gap > bridged_bytes()) break;
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
  const std::int64_t since = is_timed ? monotonic_nanoseconds() : 0;
  store::Transfer transfer = file->write(pieces, batch.front().in_file);
  note_call({batch.front().in_file, transfer.bytes}, since);
  error = std::move(transfer.error);
}

void FileJob::note_call(const Extent& moved, std::int64_t since) {
  calls.push_back({moved, is_timed ? monotonic_nanoseconds() - since : 0});
}

void FileJob::read(std::span<const Range> batch) {
  std::vector<std::byte> gap;  // receives the bytes of all gaps
  std::vector<store::ReadPiece> pieces;
  const std::int64_t begin = batch.front().in_file;
  std::int64_t end = begin;
  for (const Range& range : batch) {
    if (range.in_file > end) {
      gap.resize(plan::bridged_gap_bytes);
      pieces.push_back({gap.data(), range.in_file - end});
    }
    pieces.push_back({buffer + range.in_buffer.offset, range.in_buffer.length});
    end = end_in_file(range);
  }
  std::int64_t got = 0;
  if (file != nullptr && !error) {
    const std::int64_t since = is_timed ? monotonic_nanoseconds() : 0;
    store::Transfer transfer = file->read(pieces, begin);
    note_call({begin, transfer.bytes}, since);
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

FileJobs::~FileJobs() {
  for (const Running& running : running_) {
    while (!running.state->done.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  Profile& profile = profiler_.profile();
  const std::lock_guard guard(queue_->mutex);
  profile.file_thread_nanoseconds.add(queue_->thread_nanoseconds * profiler_.weight());
  profile.file_busy_nanoseconds.add(queue_->busy_nanoseconds * profiler_.weight());
}

void FileJobs::start(std::int64_t round, FileJob job) {
  auto state = std::make_shared<State>();
  state->job = std::move(job);
  const bool is_first_write = running_.empty() && state->job.direction == plan::Direction::write &&
                              profiler_.profile().file_bytes.get() == 0;
  running_.push_back({round, state});
  if (io_thread_count_ == 0 || state->job.ranges.empty()) {
    const PhaseScope scope(profiler_, Phase::file);
    state->job.run();
    state->done.store(true, std::memory_order_relaxed);
    return;
  }
  {
    const std::lock_guard guard(queue_->mutex);
    if (is_first_write) queue_->first_runs_alone = true;
    queue_->waiting.push_back(std::move(state));
  }
  start_threads();
}

void FileJobs::start_threads() {
  while (queue_->admit_thread(io_thread_count_)) {
    transport_.run_in_helper_thread(
        [queue = queue_, is_timed = profiler_.weight() != 0] { return queue->run_next(is_timed); },
        io_thread_count_);
  }
}

bool FileJobs::Queue::admit_thread(int thread_count_max) {
  const std::lock_guard guard(mutex);
  const int useful = first_runs_alone && !first_has_run ? 1 : thread_count_max;
  if (thread_count >= std::min<std::ptrdiff_t>(useful, running_count + std::ssize(waiting))) {
    return false;
  }
  ++thread_count;
  return true;
}

bool FileJobs::Queue::go_on() {
  if (!waiting.empty()) return true;
  --thread_count;
  return false;
}

bool FileJobs::Queue::run_next(bool is_timed) {
  std::shared_ptr<State> state;
  std::int64_t begin = 0;
  {
    const std::lock_guard guard(mutex);
    if (!go_on()) return false;  // another thread ran the job
    state = std::move(waiting.front());
    waiting.pop_front();
    begin = is_timed ? monotonic_nanoseconds() : 0;
    if (running_count++ == 0) busy_since = begin;
  }
  state->job.run();
  const std::lock_guard guard(mutex);
  const std::int64_t end = is_timed ? monotonic_nanoseconds() : 0;
  thread_nanoseconds += end - begin;
  if (--running_count == 0) busy_nanoseconds += end - busy_since;
  first_has_run = true;
  state->done.store(true, std::memory_order_release);
  return go_on();
}

std::optional<FileJob> FileJobs::take_oldest() {
  if (running_.empty()) return std::nullopt;
  State& oldest = *running_.front().state;
  if (!oldest.done.load(std::memory_order_acquire)) return std::nullopt;
  std::optional<FileJob> job = std::move(oldest.job);
  running_.pop_front();
  start_threads();  // if this was the first write
  return job;
}

}  // namespace nacre::collective
