#include "collective/exchange/domain_writer.h"

#include <utility>

namespace nacre::collective {

DomainWriter::DomainWriter(Transport& transport, const Domain& domain, const NodeRounds& node,
                           RoundQueue sources, RoundFile& file)
    : AggregatorSide(transport, domain, node, std::move(sources), file),
      takes_turns_(domain.exchange.plan.writers_take_turns) {
  begin_round(0);
}

bool DomainWriter::advance() { return end_written() || advance_stage(); }

bool DomainWriter::advance_stage() {
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

void DomainWriter::begin_round(std::int64_t round) {
  round_ = round;
  stage_ = exists(round) ? Stage::slot : Stage::ended;
}

bool DomainWriter::acquire_slot() {
  if (!rounds_.has_slot(round_, oldest())) return false;
  rounds_.open_from(oldest());
  sources_.take(round_, share_);
  Coverage filled = rounds_.coverage(round_);
  messages_.begin(share_, rounds_.buffer(round_), &filled);
  stage_ = Stage::bytes;
  return true;
}

bool DomainWriter::write_filled() {
  if (!messages_.done()) return false;
  if (rounds_.placed_by_all() <= round_) return false;
  if (takes_turns_ && !rounds_.begin_turn()) return false;
  jobs_.start(round_, file_.write(round_, rounds_.buffer(round_), rounds_.coverage(round_)));
  begin_round(rounds_.round_after(round_, sources_.next_round()));
  return true;
}

bool DomainWriter::end_written() {
  const std::int64_t round = oldest();
  if (!jobs_.end_oldest()) return false;
  if (takes_turns_) rounds_.end_turn();
  rounds_.coverage(round).clear(file_.round_bytes(round));
  if (stage_ != Stage::ended) rounds_.open_from(oldest());
  return true;
}

}  // namespace nacre::collective
