// ChoiceMemory: the choices for the calls of one file, so that equal calls are decided once.
#ifndef NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_
#define NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "plan/call/access_summary.h"
#include "plan/call/collective_settings.h"
#include "plan/decide/choice.h"

namespace nacre::plan {

/// What two calls have in common that are decided alike: all but their place in the file.
struct CallShape {
  AccessSummary summary;  ///< its bounds begin at 0
  Participants participants;
  const StripeMap* stripes = nullptr;

  friend bool operator==(const CallShape&, const CallShape&) = default;
};
[[nodiscard]] CallShape shape_of(const AccessSummary& summary, const CollectiveSettings& settings,
                                 const Participants& participants);

/// Keeps the last choices. Forget them when the settings change.
class ChoiceMemory {
 public:
  /// Null if no equal call was decided. Valid until the next call of keep().
  [[nodiscard]] const Choice* find(const CallShape& shape) const;
  void keep(const CallShape& shape, const Choice& choice);
  void forget() { *this = {}; }

 private:
  struct Entry {
    CallShape shape;
    Choice choice;
  };
  std::array<Entry, 16> entries_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // is overwritten next
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_
