// DrivenRounds: the rounds of one aggregator that a rank drives, as the aggregator or as a relay.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_
#define NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_

namespace nacre::collective {

/// The rounds of one call, in order.
class DrivenRounds {
 public:
  virtual ~DrivenRounds() = default;

  [[nodiscard]] virtual bool done() const = 0;
  /// Whether nothing can advance before a helper thread has accessed the file. Requires that step()
  /// advanced nothing.
  [[nodiscard]] virtual bool waits_for_file() const { return false; }
  /// Advances as far as ranks, messages and files allow, perhaps with less than all that is
  /// possible; returns whether anything advanced.
  virtual bool step() = 0;
};

/// Rounds that advance by single things to do.
class SteppedRounds : public DrivenRounds {
 public:
  bool step() override {
    bool moved = false;
    while (!done() && advance()) moved = true;
    return moved;
  }

 private:
  /// Does the next thing that is possible; returns whether there was one. Requires !done().
  virtual bool advance() = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DRIVEN_ROUNDS_H_
