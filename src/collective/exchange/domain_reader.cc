#include "collective/exchange/domain_reader.h"

#include <utility>

#include "collective/rounds/round_piece_copy.h"

namespace nacre::collective {

DomainReader::DomainReader(Transport& transport, const Domain& domain, const NodeRounds& node,
                           RoundQueue sources, RoundFile& file)
    : AggregatorSide(transport, domain, node, std::move(sources), file),
      whole_rounds_(domain.exchange.plan.whole_rounds) {
  begin_round(0);
}

// What others wait for comes first: a read may take long where the rank itself makes it.
bool DomainReader::advance() { return end_read() || send() || end_taken() || read(); }

void DomainReader::begin_round(std::int64_t round) {
  round_ = exists(round) ? round : no_round;
  if (round_ != no_round && !whole_rounds_) rounds_.open_from(round_);
}

bool DomainReader::read() {
  if (round_ == no_round) return false;
  const std::int64_t oldest = under_way_.empty() ? round_ : under_way_.front().number;
  if (!rounds_.has_slot(round_, oldest)) return false;
  if (!whole_rounds_ && rounds_.placed_by_all() <= round_) return false;
  Round& round = under_way_.emplace_back();
  round.number = round_;
  sources_.take(round_, round.share);
  std::byte* const buffer = rounds_.buffer(round_);
  if (whole_rounds_) {
    jobs_.start(round_, file_.read(round_, buffer));
    begin_round(round_ + 1);
  } else {
    rounds_.mark(round_, round.share, bridged_gap_bytes);
    Coverage asked = rounds_.coverage(round_);
    FileJob job = file_.read_marked(round_, buffer, asked);
    asked.clear(file_.round_bytes(round_));
    jobs_.start(round_, std::move(job));
    begin_round(rounds_.round_after(round_, sources_.next_round()));
  }
  return true;
}

bool DomainReader::end_read() {
  if (!jobs_.end_oldest()) return false;
  rounds_.publish_filled(under_way_[filled_count_].number + 1);
  ++filled_count_;
  return true;
}

bool DomainReader::send() {
  if (sent_count_ == filled_count_) return false;
  if (!sending_) {
    const Round& round = under_way_[sent_count_];
    messages_.begin(round.share, rounds_.buffer(round.number));
    sending_ = true;
    return true;
  }
  if (!messages_.done()) return messages_.step();
  sending_ = false;
  ++sent_count_;
  return true;
}

bool DomainReader::end_taken() {
  if (sent_count_ == 0 || rounds_.taken_by_all() <= under_way_.front().number) return false;
  under_way_.pop_front();
  --filled_count_;
  --sent_count_;
  return true;
}

}  // namespace nacre::collective
