#include "collective/domain_side.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <utility>

#include "base/checked_cast.h"
#include "collective/round_piece_copy.h"

namespace nacre::collective {
namespace {

/// From the first to the last byte of a part, in the cycle buffer; the part fills it if it has as
/// many bytes, since views are monotone.
Extent hull_of(const RoundShare& share, const RoundPart& part) {
  const std::span<const plan::RoundPiece> pieces = share.pieces_of(part);
  const plan::RoundPiece& first = pieces.front();
  const plan::RoundPiece& last = pieces.back();
  const std::int64_t last_byte = last.first_byte + last.byte_count - 1;
  const std::int64_t begin = plan::offset_of(*part.view, first.first_byte) - first.origin;
  const std::int64_t end = plan::offset_of(*part.view, last_byte) - last.origin + 1;
  return {begin, end - begin};
}

}  // namespace

DomainSide::DomainSide(Transport& transport, const Domain& domain, const NodeRounds& rounds,
                       RoundQueue sources, RoundFile& file)
    : transport_(transport),
      domain_(domain),
      rounds_(rounds),
      memory_(rounds.memory()),
      sources_(std::move(sources)),
      file_(file) {
  if (domain_.direction == plan::Direction::write) {
    say(memory_.open_until(domain_.number), open_until_);
  }
  begin_round(0);
}

DomainSide::~DomainSide() {
  while (running_ != nullptr && !running_->done.load(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
}

bool DomainSide::step() {
  bool moved = false;
  while (!done() && (end_written() || advance())) moved = true;
  return moved;
}

bool DomainSide::advance() {
  switch (stage_) {
    case Stage::receiving:
      return receive();
    case Stage::placing:
      return write_placed();
    case Stage::asking:
      return read_asked();
    case Stage::draining:
      if (running_ != nullptr) return false;
      begin_round(next_round_);
      return true;
    case Stage::freeing:
      return read_whole();
    case Stage::reading:
      return end_read();
    case Stage::sending:
      return send();
    case Stage::taking:
      return end_taken();
    case Stage::done:
      break;
  }
  return false;
}

void DomainSide::begin_round(std::int64_t round) {
  round_ = round;
  if (round_ == no_round) {
    stage_ = Stage::done;
    return;
  }
  take_parts();
  if (domain_.direction == plan::Direction::write) {
    place_disjoint_parts();
    last_ = 0;
    receive_portion();
    stage_ = Stage::receiving;
  } else if (domain_.plan.whole_rounds) {
    stage_ = Stage::freeing;
  } else {
    say(memory_.open_until(domain_.number), round_ + 1);
    stage_ = Stage::asking;
  }
}

bool DomainSide::receive() {
  if (!messages_.empty() && !transport_.test(messages_)) return false;
  messages_.clear();
  const PhaseScope scope(domain_.profiler, Phase::copy);
  Coverage marked = coverage(round_);
  for (std::size_t i = first_; i < last_; ++i) {
    const RoundPart& part = share_.parts[i];
    for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
      mark_piece(marked, *part.view, piece, 0);
    }
    if (places_.is_packed(i)) copy_packed(part, places_.message(i));
  }
  if (last_ == share_.parts.size()) {
    stage_ = Stage::placing;
  } else {
    receive_portion();
  }
  return true;
}

bool DomainSide::write_placed() {
  const std::int64_t placed = said_by_all(&RoundMemory::placed_until);
  if (placed <= round_ || running_ != nullptr || !begin_turn()) return false;
  written_ = round_;
  const std::int64_t behind = round_ + 1;
  const bool goes_on = behind < std::min(placed, open_until_);
  if (goes_on) {
    // Somebody may have placed in it already. Where all are past what it would open, the round
    // after it is the next in which anybody has bytes, however far that is.
    next_round_ = behind;
    open_after_ = placed <= behind + 1 ? behind + RoundMemory::slot_count : open_until_;
  } else {
    next_round_ = std::min(placed, sources_.next_round());
    open_after_ = next_round_ == no_round ? no_round : next_round_ + RoundMemory::slot_count;
  }
  start(file_.write(round_, buffer(), coverage(round_)));
  end_written();
  if (goes_on || running_ == nullptr) {
    begin_round(next_round_);
  } else {
    stage_ = Stage::draining;
  }
  return true;
}

bool DomainSide::end_written() {
  if (domain_.direction == plan::Direction::read || !end_job()) return false;
  end_turn();
  coverage(written_).clear(file_.round_bytes(written_));
  open_until_ = open_after_;
  say(memory_.open_until(domain_.number), open_until_);
  return true;
}

void DomainSide::start(FileJob job) {
  running_ = std::make_shared<RunningJob>();
  running_->job = std::move(job);
  if (domain_.io_thread_count == 0 || running_->job.ranges.empty()) {
    const PhaseScope scope(domain_.profiler, Phase::file);
    running_->job.run();
    running_->done.store(true, std::memory_order_relaxed);
    return;
  }
  transport_.run_beside(
      [running = running_] {
        running->job.run();
        running->done.store(true, std::memory_order_release);
      },
      domain_.io_thread_count);
}

bool DomainSide::end_job() {
  if (running_ == nullptr || !running_->done.load(std::memory_order_acquire)) return false;
  file_.finish(running_->job);
  running_.reset();
  return true;
}

bool DomainSide::begin_turn() {
  if (!domain_.plan.writers_take_turns) return true;
  return memory_.writer().exchange(1, std::memory_order_acquire) == 0;
}

void DomainSide::end_turn() {
  if (!domain_.plan.writers_take_turns) return;
  memory_.writer().store(0, std::memory_order_release);
  ring_others(transport_, rounds_.aggregator_ranks());
}

bool DomainSide::read_asked() {
  if (said_by_all(&RoundMemory::placed_until) <= round_) return false;
  Coverage marked = coverage(round_);
  for (const RoundPart& part : share_.parts) {
    for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
      mark_piece(marked, *part.view, piece, bridged_gap_bytes);
    }
  }
  start(file_.read(round_, buffer(), marked));
  marked.clear(file_.round_bytes(round_));
  stage_ = Stage::reading;
  return true;
}

bool DomainSide::read_whole() {
  // Its buffer was that of the round before the last.
  const std::int64_t freed = round_ - RoundMemory::slot_count;
  if (freed >= 0 && said_by_all(&RoundMemory::taken_until) <= freed) return false;
  if (file_.round_bytes(round_) == 0) {
    stage_ = Stage::taking;
    return true;
  }
  start(file_.read_whole(round_, buffer()));
  stage_ = Stage::reading;
  return true;
}

bool DomainSide::end_read() {
  if (!end_job()) return false;
  say(memory_.filled_until(domain_.number), round_ + 1);
  place_whole_parts();
  last_ = 0;
  send_portion();
  stage_ = Stage::sending;
  return true;
}

bool DomainSide::send() {
  if (!messages_.empty() && !transport_.test(messages_)) return false;
  messages_.clear();
  if (last_ < share_.parts.size()) {
    send_portion();
  } else if (domain_.plan.whole_rounds) {
    begin_round(round_ + 1);
  } else {
    stage_ = Stage::taking;
  }
  return true;
}

bool DomainSide::end_taken() {
  const std::int64_t taken = said_by_all(&RoundMemory::taken_until);
  if (domain_.plan.whole_rounds) {
    if (taken != no_round) return false;
    stage_ = Stage::done;
    return true;
  }
  if (taken <= round_) return false;
  begin_round(std::min(said_by_all(&RoundMemory::placed_until), sources_.next_round()));
  return true;
}

std::int64_t DomainSide::said_by_all(Words words) const {
  std::int64_t least = no_round;
  for (int rank = 0; rank < std::ssize(rounds_.mates()); ++rank) {
    const RoundMemory::Word& word = (memory_.*words)(rank, domain_.number);
    least = std::min(least, round_of(word.load(std::memory_order_acquire), rounds_.call()));
  }
  return least;
}

void DomainSide::say(RoundMemory::Word& word, std::int64_t round) {
  word.store(stamp_of(rounds_.call(), round), std::memory_order_release);
  ring_others(transport_, rounds_.mates());
}

void DomainSide::take_parts() {
  sources_.take(round_, share_);
  places_.begin(share_);
}

void DomainSide::receive_portion() {
  first_ = last_;
  last_ = places_.portion_end(first_, plan::round_bytes_max(domain_.plan));
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    messages_.push_back(transport_.receive(share_.parts[i].rank, places_.message(i)));
  }
}

void DomainSide::send_portion() {
  const PhaseScope scope(domain_.profiler, Phase::copy);
  first_ = last_;
  last_ = places_.portion_end(first_, plan::round_bytes_max(domain_.plan));
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    const RoundPart& part = share_.parts[i];
    if (places_.is_packed(i)) copy_packed(part, places_.message(i));
    messages_.push_back(transport_.send(part.rank, places_.message(i)));
  }
}

void DomainSide::place_disjoint_parts() {
  std::vector<Extent> hulls;
  for (const RoundPart& part : share_.parts) hulls.push_back(hull_of(share_, part));
  std::vector<std::size_t> order(hulls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return hulls[a].offset < hulls[b].offset; });
  std::int64_t end_before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t part = order[i];
    const Extent& hull = hulls[part];
    const bool alone = end_before <= hull.offset &&
                       (i + 1 == order.size() || hull.end() <= hulls[order[i + 1]].offset);
    if (alone && hull.length == share_.parts[part].bytes) places_.place(part, in_buffer(hull));
    end_before = std::max(end_before, hull.end());
  }
}

void DomainSide::place_whole_parts() {
  for (std::size_t i = 0; i < share_.parts.size(); ++i) {
    const Extent hull = hull_of(share_, share_.parts[i]);
    if (hull.length == share_.parts[i].bytes) places_.place(i, in_buffer(hull));
  }
}

void DomainSide::copy_packed(const RoundPart& part, Bytes packed) {
  domain_.profiler.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
    copy_packed_piece(domain_.direction, *part.view, piece, buffer(), packed.data());
    packed = packed.subspan(checked_cast<std::size_t>(piece.byte_count));
  }
}

DomainSide::Bytes DomainSide::in_buffer(const Extent& place) const {
  return {buffer() + place.offset, checked_cast<std::size_t>(place.length)};
}

}  // namespace nacre::collective
