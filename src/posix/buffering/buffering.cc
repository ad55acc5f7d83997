#include "posix/buffering/buffering.h"

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "posix/report/line_text.h"
#include "posix/report/process_report.h"

namespace nacre::posix {
namespace {

/// Of files that are left alone.
constexpr Rule no_rule;

/// The kernel makes up the bytes of these files when they are read.
bool is_of_kernel(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/");
}

/// Warns of an error that no call of the program has returned.
void warn_of_error(const BufferedFile& file) {
  if (file.error == 0) return;
  std::array<char, 512> room;  // NOLINT: filled next
  LineText line(room);
  line.add("nacre: bytes of the buffered file ");
  if (file.failed_name_bytes > 0)
    line.add_string({file.failed_name.data(), file.failed_name_bytes}).add(" ");
  line.add("(NACRE_IOBUF) are lost: ").add_error(file.error).add("\n");
  print_warning(line.text());
}

}  // namespace

void Buffering::start(const char* rules) {
  if (rules == nullptr || rules_.parse(rules) || launched_rank() > 0) return;
  print_warning("nacre: ");
  print_warning(rules_.problem());
  print_warning("; no file is buffered\n");
}

const Rule* Buffering::rule_for(int descriptor, const char* path) const {
  const Rule* const rule = rules_.find(path);
  if (rule == nullptr) return nullptr;
  std::array<char, 16> room;  // NOLINT: filled next
  return is_of_kernel(path_of(descriptor, room)) ? nullptr : rule;
}

// Files. A number has the file's place in the table, from 1, in its lower half and the generation
// in its upper half: a thread may come with the number of a file that another thread has closed.

BufferedFile* Buffering::file(std::uint16_t number) const {
  const unsigned place = number & 0xff;
  if (place == 0 || place > count_) return nullptr;
  BufferedFile& found = files_[place - 1];
  return found.descriptors > 0 && found.generation == number >> 8 ? &found : nullptr;
}

bool Buffering::passes_by(std::uint16_t number) const {
  const BufferedFile& found = files_[(number & 0xff) - 1];
  return found.is_empty.load(std::memory_order_acquire) && found.error == 0;
}

bool Buffering::allocate() {
  if (files_ == nullptr)
    files_ = reinterpret_cast<BufferedFile*>(map_memory(file_count_max * sizeof(BufferedFile)));
  return files_ != nullptr;
}

BufferedFile* Buffering::find(const FileIdentity& identity) const {
  const auto files = all_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const BufferedFile& one) {
    return one.descriptors > 0 && one.identity == identity;
  });
  return found == files.end() ? nullptr : &*found;
}

BufferedFile* Buffering::add(const FileIdentity& identity, const Rule* rule, FileCounts* counts) {
  std::uint16_t at = 0;
  while (at < count_ && files_[at].is_in_use()) ++at;
  if (at == file_count_max) return nullptr;
  count_ = std::max<std::uint16_t>(count_, at + 1);
  BufferedFile& made = files_[at];
  made.identity = identity;
  made.rule = rule == nullptr ? &no_rule : rule;
  made.is_left_alone = rule == nullptr || left_alone_.has(identity);
  if (counts != nullptr) {
    made.writes = &(*counts)[AccessKind::write];
    made.reads = &(*counts)[AccessKind::read];
  }
  return &made;
}

std::uint16_t Buffering::opened(int descriptor, const Opening& opening, FileCounts* counts) {
  constexpr int unbuffered = O_SYNC | O_DSYNC | O_DIRECT;
  if ((opening.flags & O_PATH) != 0) return 0;
  const auto identity = regular_file(descriptor);
  if (!identity) return 0;
  const bool is_wanted =
      !opening.is_hidden && (opening.flags & unbuffered) == 0 && descriptor > STDERR_FILENO;
  const Rule* const rule = is_wanted ? rule_for(descriptor, opening.path) : nullptr;
  std::uint16_t number = 0;
  {
    const Locked locked(lock_);
    if (is_finished_ || !allocate()) return 0;
    BufferedFile* found = find(*identity);
    if (found == nullptr) found = add(*identity, rule, counts);
    if (found == nullptr) {
      left_alone_.add(*identity);
      return 0;
    }
    number = static_cast<std::uint16_t>((found->generation << 8) | (found - files_ + 1));
    ++found->descriptors;
    if (rule == nullptr) {
      leave_alone(*found);
    } else {
      drain(*found);
      forget_reads(*found);
    }
  }
  if (rule != nullptr) start_helper();
  return number;
}

void Buffering::duplicated(std::uint16_t number) {
  const Locked locked(lock_);
  if (BufferedFile* const found = file(number)) ++found->descriptors;
}

int Buffering::closing(std::uint16_t number, bool can_report) {
  const Use use(*this, number);
  if (use.file() == nullptr) return 0;
  BufferedFile& closed = *use.file();
  drain(closed);
  forget_reads(closed);
  // The helper must not read by a descriptor that is closed, or opened again.
  wait_for(closed.last_queued);
  const int error = closed.error;
  if (can_report) closed.error = 0;
  if (--closed.descriptors > 0) return error;
  closed.is_left_alone = true;
  while (closed.users > 1) lock_.wait(event_);
  drain(closed);
  release(closed);
  return error;
}

void Buffering::release(BufferedFile& released) {
  warn_of_error(released);
  if (released.buffers != nullptr) {
    const auto size = static_cast<std::size_t>(released.rule->size);
    for (Buffer& buffer : released.write_buffers()) unmap_memory(buffer.memory, size);
    for (Buffer& buffer : released.read_buffers()) unmap_memory(buffer.memory, size);
    unmap_memory(reinterpret_cast<std::byte*>(released.buffers), released.buffers_bytes());
  }
  const int users = released.users;
  released.clear();
  released.users = users;
}

void Buffering::leave_alone(BufferedFile& left) {
  left.is_left_alone = true;
  drain(left);
  forget_reads(left);
  left.is_empty = true;
}

void Buffering::forget_reads(BufferedFile& forgotten) {
  for (Buffer& buffer : forgotten.read_buffers()) {
    if (buffer.state == Buffer::State::queued) {
      buffer.is_stale = true;
    } else {
      buffer.state = Buffer::State::free;
    }
  }
}

void Buffering::forget_all_reads() {
  for (BufferedFile& one : all_files()) forget_reads(one);
}

// Flushes.

void Buffering::flush(std::uint16_t number) {
  const Locked locked(lock_);
  if (BufferedFile* const found = file(number)) drain(*found);
}

void Buffering::flush_and_forget(std::uint16_t number) {
  const Use use(*this, number);
  if (use.file() == nullptr) return;
  drain(*use.file());
  forget_reads(*use.file());
}

void Buffering::forget(std::uint16_t number) {
  if (passes_by(number)) return;
  const Locked locked(lock_);
  if (BufferedFile* const found = file(number)) forget_reads(*found);
}

int Buffering::take_error(std::uint16_t number) {
  const Locked locked(lock_);
  BufferedFile* const found = file(number);
  return found == nullptr ? 0 : found->error.exchange(0);
}

void Buffering::leave_alone(std::uint16_t number) {
  if (passes_by(number)) return;
  const Use use(*this, number);
  if (use.file() != nullptr) leave_alone(*use.file());
}

void Buffering::leave_alone_for_good(std::uint16_t number) {
  const Use use(*this, number);
  if (use.file() == nullptr) return;
  left_alone_.add(use.file()->identity);
  leave_alone(*use.file());
}

bool Buffering::flush(const FileIdentity& identity) {
  if (count_ == 0) return false;
  const Locked locked(lock_);
  BufferedFile* const found = find(identity);
  if (found == nullptr || !is_dirty(*found)) return false;
  drain(*found);
  return true;
}

void Buffering::flush_and_forget(const FileIdentity& identity) {
  const Locked locked(lock_);
  BufferedFile* const found = find(identity);
  if (found == nullptr) return;
  forget_reads(*found);
  drain(*found);
}

void Buffering::flush_all() {
  const Locked locked(lock_);
  drain_all();
}

void Buffering::forget_all() {
  const Locked locked(lock_);
  forget_all_reads();
}

void Buffering::flush_and_forget_all() {
  const Locked locked(lock_);
  drain_all();
  forget_all_reads();
}

void Buffering::share_all() {
  const Locked locked(lock_);
  for (BufferedFile& one : all_files()) one.is_shared = true;
  drain_all();
  forget_all_reads();
}

// Ends.

void Buffering::warn_of_errors() {
  for (const BufferedFile& one : all_files()) warn_of_error(one);
}

void Buffering::before_exec() {
  const Locked locked(lock_);
  ++pauses_;
  drain_all();
  warn_of_errors();
}

void Buffering::after_failed_exec() {
  const Locked locked(lock_);
  --pauses_;
}

void Buffering::finish() {
  const Locked locked(lock_);
  is_finished_ = true;
  drain_all();
  warn_of_errors();
}

void Buffering::stop() {
  const Locked locked(lock_);
  is_finished_ = true;
  drain_all();
  while (helper_ == Helper::starts) lock_.wait(event_);
  if (helper_ != Helper::runs) return;
  helper_ = Helper::stops;
  event_.raise();
  while (helper_ == Helper::stops) lock_.wait(event_);
}

// Forks.

void Buffering::before_fork() {
  {
    const Locked locked(lock_);
    ++pauses_;
  }
  share_all();
}

void Buffering::after_fork_in_parent() {
  const Locked locked(lock_);
  --pauses_;
}

void Buffering::after_fork_in_child() {
  // No other thread runs, and the lock may be held by one that is gone. Memory of buffers was not
  // inherited.
  lock_.reset();
  for (BufferedFile& one : all_files()) {
    if (one.descriptors > 0) left_alone_.add(one.identity);
    one.clear();
  }
  queue_ = nullptr;
  submitted_ = 0;
  settled_ = 0;
  pauses_ = 0;
  helper_ = Helper::none;
}

}  // namespace nacre::posix
