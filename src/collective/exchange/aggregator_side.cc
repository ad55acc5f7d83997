#include "collective/exchange/aggregator_side.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "collective/exchange/aggregator_rounds.h"
#include "collective/exchange/domain_messages.h"
#include "collective/files/file_jobs.h"
#include "collective/rounds/round_copies.h"
#include "plan/types/type_map.h"

namespace nacre::collective {
namespace {

class AggregatorSide : public SteppedRounds {
 protected:
  AggregatorSide(Transport& transport, const AggregatorTask& task, const NodeRounds& node,
                 RoundQueue sources, RoundFile& file)
      : direction_(task.direction),
        rounds_(transport, node, task.number, task.direction),
        sources_(std::move(sources)),
        file_(file),
        jobs_(transport, task.profiler, task.io_thread_count),
        messages_(transport, task.direction, task.exchange.domains.round_bytes_max(), task.profiler,
                  task.copies) {}

  /// Whether `round` is a round of the domain.
  [[nodiscard]] bool exists(std::int64_t round) const {
    return round != no_round && file_.has_round(round);
  }
  void start_job(std::int64_t round, const Coverage* marked) {
    jobs_.start(round, file_.make_job(direction_, round, rounds_.buffer(round), marked));
  }
  bool finish_oldest_job() {
    std::optional<FileJob> job = jobs_.take_oldest();
    if (job) file_.finish(*job);
    return job.has_value();
  }

  const plan::Direction direction_;
  AggregatorRounds rounds_;
  RoundQueue sources_;
  RoundFile& file_;
  FileJobs jobs_;
  DomainMessages messages_;
};

/// Of a write. One round is filled while those before it are written. Ranks of the node may be
/// ahead of it as far as there are slots.
class WritingSide final : public AggregatorSide {
 public:
  WritingSide(Transport& transport, const AggregatorTask& task, const NodeRounds& node,
              RoundQueue sources, RoundFile& file)
      : AggregatorSide(transport, task, node, std::move(sources), file),
        takes_turns_(task.exchange.plan.writers_take_turns) {
    begin_round(0);
  }

  [[nodiscard]] bool done() const override { return stage_ == Stage::ended && jobs_.empty(); }
  [[nodiscard]] bool waits_for_file() const override {
    return stage_ != Stage::bytes && !jobs_.empty();
  }

 private:
  /// What the current round waits for.
  enum class Stage : std::uint8_t {
    slot,   ///< a slot: earlier rounds that are being written use them all
    bytes,  ///< the bytes of ranks of the node, and messages
    ended,  ///< there are no more rounds
  };

  bool advance() override { return end_written() || advance_stage(); }

  bool advance_stage() {
    switch (stage_) {
      case Stage::slot:
        return acquire_slot();
      case Stage::bytes:
        return messages_.step() || write_filled();
      case Stage::ended:
        break;
    }
    return false;
  }

  void begin_round(std::int64_t round) {
    round_ = round;
    stage_ = exists(round) ? Stage::slot : Stage::ended;
  }

  bool acquire_slot() {
    if (!rounds_.has_slot(round_, oldest())) return false;
    rounds_.open_from(oldest());
    sources_.take(round_, share_);
    Coverage filled = rounds_.coverage(round_);
    messages_.begin(share_, rounds_.buffer(round_), rounds_.message_room(round_), &filled);
    stage_ = Stage::bytes;
    return true;
  }

  bool write_filled() {
    if (!messages_.done()) return false;
    if (rounds_.placed_by_all() <= round_) return false;
    if (takes_turns_ && !rounds_.begin_turn()) return false;
    const Coverage filled = rounds_.coverage(round_);
    start_job(round_, &filled);
    begin_round(rounds_.round_after(round_, sources_.next_round()));
    return true;
  }

  /// Frees the slot of the oldest round that is being written, once it has been written.
  bool end_written() {
    const std::int64_t round = oldest();
    if (!finish_oldest_job()) return false;
    if (takes_turns_) rounds_.end_turn();
    rounds_.coverage(round).clear(file_.round_bytes(round));
    if (stage_ != Stage::ended) rounds_.open_from(oldest());
    return true;
  }

  /// The oldest round that uses a slot.
  [[nodiscard]] std::int64_t oldest() const { return jobs_.empty() ? round_ : jobs_.oldest(); }

  const bool takes_turns_;
  Stage stage_ = Stage::slot;
  std::int64_t round_ = 0;
  RoundShare share_;
};

/// Of a read. Rounds are read ahead as far as there are slots, and delivered in order. With
/// plan.whole_rounds the aggregator reads all of its domain without waiting for requests; otherwise
/// it reads what ranks request.
class ReadingSide final : public AggregatorSide {
 public:
  ReadingSide(Transport& transport, const AggregatorTask& task, const NodeRounds& node,
              RoundQueue sources, RoundFile& file)
      : AggregatorSide(transport, task, node, std::move(sources), file),
        whole_rounds_(task.exchange.plan.whole_rounds) {
    begin_round(0);
  }

  [[nodiscard]] bool done() const override { return round_ == no_round && in_flight_.empty(); }
  /// Rounds that have been read are still being taken; without a slot no request can come.
  [[nodiscard]] bool waits_for_file() const override {
    if (filled_count_ > 0 || jobs_.empty()) return false;
    return round_ == no_round || !rounds_.has_slot(round_, in_flight_.front().number);
  }

 private:
  struct Round {
    std::int64_t number;
    RoundShare share;
  };

  // What other ranks wait for comes first: a read may take long if the rank itself makes it.
  bool advance() override { return end_read() || send() || end_taken() || read(); }

  void begin_round(std::int64_t round) {
    round_ = exists(round) ? round : no_round;
    if (round_ != no_round && !whole_rounds_) rounds_.open_from(round_);
  }

  /// Begins to read the next round, if it has a slot and all requests for it have come.
  bool read() {
    if (round_ == no_round) return false;
    const std::int64_t oldest = in_flight_.empty() ? round_ : in_flight_.front().number;
    if (!rounds_.has_slot(round_, oldest)) return false;
    if (!whole_rounds_ && rounds_.placed_by_all() <= round_) return false;
    Round& round = in_flight_.emplace_back();
    round.number = round_;
    sources_.take(round_, round.share);
    if (whole_rounds_) {
      start_job(round_, nullptr);
      begin_round(round_ + 1);
      return true;
    }
    rounds_.mark(round_, round.share, plan::bridged_gap_bytes);
    Coverage requested = rounds_.coverage(round_);
    start_job(round_, &requested);
    requested.clear(file_.round_bytes(round_));
    begin_round(rounds_.round_after(round_, sources_.next_round()));
    return true;
  }

  bool end_read() {
    if (!finish_oldest_job()) return false;
    rounds_.publish_filled(in_flight_[filled_count_].number + 1);
    ++filled_count_;
    return true;
  }

  /// Sends the oldest round that has been read and not sent to the relays of other nodes.
  bool send() {
    if (sent_count_ == filled_count_) return false;
    if (!sending_) {
      const Round& round = in_flight_[sent_count_];
      messages_.begin(round.share, rounds_.buffer(round.number),
                      rounds_.message_room(round.number));
      sending_ = true;
      return true;
    }
    if (!messages_.done()) return messages_.step();
    sending_ = false;
    ++sent_count_;
    return true;
  }

  /// Frees the slot of the oldest round, once all ranks have its bytes.
  bool end_taken() {
    if (sent_count_ == 0 || rounds_.taken_by_all() <= in_flight_.front().number) return false;
    in_flight_.pop_front();
    --filled_count_;
    --sent_count_;
    return true;
  }

  const bool whole_rounds_;
  std::int64_t round_ = 0;  // the next to read
  // Oldest first: the first filled_count_ have been read, the first sent_count_ of them sent.
  std::deque<Round> in_flight_;
  std::size_t filled_count_ = 0;
  std::size_t sent_count_ = 0;
  bool sending_ = false;  // round sent_count_ is being sent
};

}  // namespace

std::unique_ptr<DrivenRounds> make_aggregator_side(Transport& transport, const AggregatorTask& task,
                                                   const NodeRounds& node, RoundQueue sources,
                                                   RoundFile& file) {
  if (task.direction == plan::Direction::write) {
    return std::make_unique<WritingSide>(transport, task, node, std::move(sources), file);
  }
  return std::make_unique<ReadingSide>(transport, task, node, std::move(sources), file);
}

}  // namespace nacre::collective
