// DomainWriter: the AggregatorSide of a write.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DOMAIN_WRITER_H_
#define NACRE_COLLECTIVE_EXCHANGE_DOMAIN_WRITER_H_

#include <cstdint>

#include "collective/exchange/aggregator_side.h"

namespace nacre::collective {

/// One round is filled while those before it are written; ranks of the node may be ahead of it as
/// far as there are slots.
class DomainWriter final : public AggregatorSide {
 public:
  DomainWriter(Transport& transport, const Domain& domain, const NodeRounds& node,
               RoundQueue sources, RoundFile& file);

  [[nodiscard]] bool done() const override { return stage_ == Stage::ended && jobs_.empty(); }

 private:
  /// What the round at hand waits for.
  enum class Stage : std::uint8_t {
    slot,   ///< the rounds before it are being written, and have them all
    bytes,  ///< of ranks of the node, and messages
    ended,  ///< there is none any more
  };
  bool advance() override;
  /// Does what `stage_` waits for, if it can be done now, and goes to the next stage.
  bool advance_stage();
  void begin_round(std::int64_t round);
  bool acquire_slot();
  bool write_filled();
  /// The oldest of the rounds that are being written is through: its slot is opened again.
  bool end_written();
  /// The rounds before it need no slot any more.
  [[nodiscard]] std::int64_t oldest() const { return jobs_.empty() ? round_ : jobs_.oldest(); }

  const bool takes_turns_;
  Stage stage_ = Stage::slot;
  std::int64_t round_ = 0;
  RoundShare share_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DOMAIN_WRITER_H_
