// DrivenRounds: the rounds of an aggregator that a rank has to drive: as the aggregator, or as the
// relay to it.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_
#define NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_

namespace nacre::collective {

/// Of one call; in order.
class DrivenRounds {
 public:
  virtual ~DrivenRounds() = default;

  [[nodiscard]] virtual bool done() const = 0;
  /// Goes on as far as ranks, messages and files allow; whether that was anywhere.
  bool step();

 private:
  /// The next thing that can be done, if any; whether there was one. Not done().
  virtual bool advance() = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_
