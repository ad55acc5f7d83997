// ViewMemory: the views that the ranks of a file have sent each other, so that a rank sends a view
// at its first use only.
#ifndef NACRE_COLLECTIVE_VIEWS_VIEW_MEMORY_H_
#define NACRE_COLLECTIVE_VIEWS_VIEW_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "plan/types/type_map.h"

namespace nacre::collective {

/// What a rank sends of its view: the type of the view, or the runs of some data bytes of the view,
/// encoded as a type as well.
struct ViewPart {
  /// The data bytes, in order, counted from the first copy of the type; empty: the whole type.
  std::vector<Extent> data_bytes;

  friend bool operator==(const ViewPart&, const ViewPart&) = default;
};

/// Where the bytes of a rank lie in the file, in terms of the type that it has sent.
struct ViewPlace {
  /// Of the view, relative to the end of the plan's domains, so that it is equal in the next time
  /// step.
  std::int64_t origin = 0;
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;  ///< 0: none in the domain
  std::int32_t relay = 0;       ///< the rank that sends or receives the bytes

  friend bool operator==(const ViewPlace&, const ViewPlace&) = default;
};

/// Each rank has one for each file. Both ranks of a pair record what the one sent the other last,
/// as they take part in the same exchanges in the same order. It is valid in all exchanges in which
/// the one serves the other, until the rank sends something else.
///
/// Memory of an aggregator, as long as the file is open: for each rank what it sent last, either
/// the runs in the domain or a type of at most 4 KiB and 32 bytes a run (see exchange_views).
/// Memory of a rank: its view's type, which the open file shares, and an extent for each block of
/// which it has sent the runs.
class ViewMemory {
 public:
  // As a rank that an aggregator serves.
  /// Sets the type of the view. If it is another type, no aggregator has a part of it yet.
  void use(const plan::TypeMap& type) {
    if (type_.node() != type.node() && !(type_ == type)) {
      for (auto& [aggregator, sent] : sent_) sent.part.reset();
    }
    type_ = type;
  }
  /// Whether `aggregator` has this part of the view.
  [[nodiscard]] bool has_sent(int aggregator, const ViewPart& part) const {
    const auto found = sent_.find(aggregator);
    return found != sent_.end() && found->second.part == part;
  }
  void record_sent(int aggregator, ViewPart part) { sent_[aggregator].part = std::move(part); }
  /// The place that `aggregator` assumes if this rank sends nothing.
  [[nodiscard]] ViewPlace sent_place(int aggregator) const {
    const auto found = sent_.find(aggregator);
    return found == sent_.end() ? ViewPlace{} : found->second.place;
  }
  void record_sent_place(int aggregator, const ViewPlace& place) {
    sent_[aggregator].place = place;
  }

  // As an aggregator.
  struct ReceivedView {
    plan::TypeMap type;
    ViewPlace place;
  };
  void record_received(int source, const plan::TypeMap& type) { received_[source].type = type; }
  void record_received_place(int source, const ViewPlace& place) {
    received_[source].place = place;
  }
  /// By rank.
  [[nodiscard]] const std::map<int, ReceivedView>& received() const { return received_; }

 private:
  struct SentView {
    std::optional<ViewPart> part;  // of type_
    ViewPlace place;
  };

  plan::TypeMap type_;
  std::unordered_map<int, SentView> sent_;  // by aggregator
  std::map<int, ReceivedView> received_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_VIEWS_VIEW_MEMORY_H_
