#include "collective/exchange/driven_rounds.h"

namespace nacre::collective {

bool DrivenRounds::step() {
  bool moved = false;
  while (!done() && advance()) moved = true;
  return moved;
}

}  // namespace nacre::collective
