// ViewMemory: what the ranks of a file have told each other of their views, so that it is sent at
// first use and not with every access.
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

/// What an aggregator is told of a view: the type of the view, or runs, which are a type as well:
/// those of certain data bytes of the view.
struct ViewPart {
  /// In order, from the first copy of the type on; empty: the type.
  std::vector<Extent> data_bytes;

  friend bool operator==(const ViewPart&, const ViewPart&) = default;
};

/// Where the bytes of a source lie in the file, by the type that it has told.
struct ViewPlace {
  /// Of the view, counted from the end of the plan's domains: the next time step has the same.
  std::int64_t origin = 0;
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;  ///< 0: it has none in the domain
  std::int32_t relay = 0;       ///< the rank that brings the bytes, or takes them

  friend bool operator==(const ViewPlace&, const ViewPlace&) = default;
};

/// One a rank and file. Both ends of a pair of ranks remember what one has told the other last, as
/// they take part in the same exchanges in the same order; it holds in all exchanges in which the
/// one serves the other until another thing is told.
///
/// Memory of an aggregator: of each source what that told last, as long as the file is open: the
/// runs that it had in the domain then, or a type of at most 4 KiB and 32 bytes a run (see
/// exchange_views). Of a source: the type of its view, which is the file's own as long as it has
/// that view, and an extent a block of those that it has told the runs of.
class ViewMemory {
 public:
  // As a source.
  /// The type of the view in what is told and asked from here on. That aggregators have parts of
  /// another one is forgotten.
  void use(const plan::TypeMap& type) {
    if (type_.node() != type.node() && !(type_ == type)) {
      for (auto& [aggregator, sent] : sent_) sent.part.reset();
    }
    type_ = type;
  }
  /// Whether `aggregator` has this of the view.
  [[nodiscard]] bool has_sent(int aggregator, const ViewPart& part) const {
    const auto found = sent_.find(aggregator);
    return found != sent_.end() && found->second.part == part;
  }
  void record_sent(int aggregator, ViewPart part) { sent_[aggregator].part = std::move(part); }
  /// What `aggregator` takes this rank to have if it is told nothing.
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
  /// By source.
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
