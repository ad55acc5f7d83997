// ChoiceMemory: the choices for the calls of one file, so that equal calls are decided once.
#ifndef NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_
#define NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/extent.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/decide/choice.h"

namespace nacre::plan {

/// What two calls have in common that are decided alike: all but their place in a range of the file
/// with the same stripes.
struct CallShape {
  AccessSummary summary;  ///< its bounds begin at 0, and it names no slots
  Participants participants;
  std::int64_t nodes_per_slot = 0;  ///< rounded, in quarters; 0: the layout is unknown
  /// Kept, so that no later layout is at its address.
  std::shared_ptr<const StripeMap> stripes = nullptr;
  const StripedRegion* region = nullptr;  ///< with most of the bytes; null: the layout is unknown

  friend bool operator==(const CallShape&, const CallShape&) = default;
};
[[nodiscard]] CallShape shape_of(const AccessSummary& summary, const CollectiveSettings& settings,
                                 const Participants& participants);

/// Keeps the choices that were last used, and corrects them by observed times. Forget them when the
/// settings change.
class ChoiceMemory {
 public:
  /// Null if no equal call was decided. Valid until the next call that is not const.
  [[nodiscard]] const Choice* find(const CallShape& shape);
  /// The number of the plan for a call that differs from calls with kept choices only in how it
  /// lies on the stripes: that of the last such call if it was changed after calls had been seen to
  /// take longer, or if plans[chosen] is not clearly faster. A plan that changes from call to call
  /// ends the read-ahead of the nodes, and locks move. Calls in steps may be in another component,
  /// also of a layout that has grown, and keep the plan of the calls before they were steps.
  /// The reason of a plan that was changed stays `observed`.
  [[nodiscard]] std::size_t steadied(const CallShape& shape, std::vector<PredictedPlan>& plans,
                                     std::size_t chosen, Figures figures = Figures::measured) const;
  /// Keeps the choice of plans[chosen], and the fastest of the others for corrections. plans[0] is
  /// that of the rules.
  void keep(const CallShape& shape, const std::vector<PredictedPlan>& plans, std::size_t chosen);
  /// Keeps a choice to which there is no alternative.
  void keep(const CallShape& shape, const Choice& choice);
  /// A call of this shape took `seconds` with the choice of find(). If several calls took far
  /// longer than predicted, the resource that was to be the bottleneck is slower than the machine
  /// file says: with that figure corrected, another plan may be the fastest. If they took so much
  /// longer that the figures are those of another machine, the algorithm of the rules may be the
  /// fastest. Equal calls then take that plan, and return for good if it proves slower.
  void learn(const CallShape& shape, double seconds);
  /// Whether a choice for such calls is kept that will not change: there was no alternative, or
  /// several calls took about as long as predicted.
  [[nodiscard]] bool is_settled(const CallShape& shape);
  void forget() { *this = {}; }

  /// A call accessed `bounds` with this plan: keeps which aggregators have bytes in the caches of
  /// their nodes.
  void note_caches(Direction direction, const Extent& bounds, const CollectivePlan& plan);
  /// The plan of the write that has left the bytes of a call with these bounds in caches; null:
  /// none has.
  [[nodiscard]] const CollectivePlan* write_of(const Extent& bounds) const;
  /// The file may have become shorter.
  void forget_writes() {
    writes_.clear();
    forget_size();
  }

  /// The size of the file when it was last asked for; 0: unknown. The file has at least this size
  /// until another open file handle makes it shorter, which MPI_File_sync lets this one see.
  [[nodiscard]] std::int64_t size() const { return size_; }
  void note_size(std::int64_t size) { size_ = size; }
  void forget_size() { size_ = 0; }

  struct Steps {
    int count = 0;            ///< up to 2
    bool are_broken = false;  ///< the rank has read elsewhere since the last call
  };
  /// The number of equal steps that lead to the call: from calls of its direction and size, each at
  /// the same distance from the one before. From two steps on, nodes read ahead what they expect
  /// next. The first read counts as a step if it is of the start of the file: most programs then
  /// read on. Call it once for each call, in their order.
  [[nodiscard]] Steps count_steps(const AccessSummary& summary, Direction direction);
  /// The rank read elsewhere, which ends the read-ahead of its node.
  void break_steps() { are_steps_broken_ = true; }

 private:
  /// A plan that was compared, and what it was seen to take.
  struct Trial {
    Choice choice;
    Prediction prediction = {};
    int calls = 0;
    double sum = 0;  ///< seconds: all calls but the first
    double observed =
        0;  ///< seconds: the shortest call but for the first; of reads in steps, the mean
  };
  struct Entry {
    CallShape shape;
    std::vector<Trial> trials = {};  ///< not empty
    std::size_t current = 0;
    std::size_t before = 0;    ///< of the last change; `current` if there was none
    std::size_t by_rules = 0;  ///< of the algorithm of the rules
    bool is_settled = false;
    std::int64_t added = 0;  ///< count of the uses of all entries when it was added
    std::int64_t used = 0;   ///< and when it was last found

    void learn(double seconds);
    void learn_of_changed(double seconds);
    void settle_on(std::size_t trial);
    [[nodiscard]] std::size_t corrected(double factor) const;
    [[nodiscard]] std::size_t on_slower_storage() const;
  };
  [[nodiscard]] Entry* entry_of(const CallShape& shape);
  /// The last entry of a call with the same pieces.
  [[nodiscard]] const Entry* last_like(const CallShape& shape) const;
  void add(Entry entry);

  /// Of a write whose aggregators have one part of the file each.
  struct Written {
    Extent bounds;
    CollectivePlan plan;
  };
  static constexpr std::size_t writes_max = 16;

  std::vector<Written> writes_;  // whose bytes are in caches, the oldest first
  std::int64_t size_ = 0;
  /// Programs that write many arrays of different shapes in each time step have as many entries.
  static constexpr std::size_t entries_max = 64;

  std::vector<Entry> entries_;
  std::int64_t uses_ = 0;
  // For count_steps():
  Extent last_call_;
  Direction last_direction_ = Direction::write;
  std::int64_t last_step_ = 0;
  bool are_steps_broken_ = false;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_CHOICE_MEMORY_H_
