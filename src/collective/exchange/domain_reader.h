// DomainReader: the AggregatorSide of a read.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DOMAIN_READER_H_
#define NACRE_COLLECTIVE_EXCHANGE_DOMAIN_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "collective/exchange/aggregator_side.h"

namespace nacre::collective {

/// Rounds are read ahead as far as there are slots, and handed out in order. Whole ones are read
/// unasked, all of the domain; of others what ranks have asked for.
class DomainReader final : public AggregatorSide {
 public:
  DomainReader(Transport& transport, const Domain& domain, const NodeRounds& node,
               RoundQueue sources, RoundFile& file);

  [[nodiscard]] bool done() const override { return round_ == no_round && under_way_.empty(); }

 private:
  bool advance() override;
  struct Round {
    std::int64_t number;
    RoundShare share;
  };
  void begin_round(std::int64_t round);
  /// Begins to read the round at hand, if it has a slot and all who want to have asked.
  bool read();
  bool end_read();
  /// To ranks of other nodes.
  bool send();
  /// The oldest round has been handed out: its slot is free.
  bool end_taken();

  const bool whole_rounds_;
  std::int64_t round_ = 0;  // the next to be read
  // Oldest first: the first sent_count_ have been sent, the first filled_count_ have been read.
  std::deque<Round> under_way_;
  std::size_t filled_count_ = 0;
  std::size_t sent_count_ = 0;
  bool sending_ = false;  // the one behind those sent
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DOMAIN_READER_H_
