// ViewMemory: what the ranks of a file have told each other of their views, so that it is sent at
// first use and not with every access.
#ifndef NACRE_COLLECTIVE_VIEW_MEMORY_H_
#define NACRE_COLLECTIVE_VIEW_MEMORY_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "plan/type_map.h"

namespace nacre::collective {

/// What an aggregator is told of a view: the type of the view, or runs, which are a type as well:
/// those of certain data bytes of the view.
struct ViewPart {
  /// In order, from the first copy of the type on; empty: the type.
  std::vector<Extent> data_bytes;

  friend bool operator==(const ViewPart&, const ViewPart&) = default;
};

/// One a rank and file. Both ends of a pair of ranks remember what one has told the other last, as
/// they take part in the same exchanges in the same order. That an aggregator still has something
/// of which its source knows no more does no harm.
///
/// Memory of an aggregator: of each source what that told last, as long as the file is open: the
/// runs that it had in the domain then, or a type of at most 4 KiB and 32 bytes a run (see
/// exchange_views). Of a source: the type of its view, which is the file's own as long as it has
/// that view, and an extent a block of those that it has told the runs of.
class ViewMemory {
 public:
  // As a source.
  /// The type of the view in what is told and asked from here on. What was told of another one is
  /// forgotten.
  void use(const plan::TypeMap& type) {
    if (type_.node() != type.node() && !(type_ == type)) told_.clear();
    type_ = type;
  }
  /// Whether `aggregator` has this of the view.
  [[nodiscard]] bool has_told(int aggregator, const ViewPart& part) const {
    const auto found = told_.find(aggregator);
    return found != told_.end() && found->second == part;
  }
  void tell(int aggregator, ViewPart part) { told_.insert_or_assign(aggregator, std::move(part)); }

  // As an aggregator.
  /// What `source` told last.
  [[nodiscard]] const plan::TypeMap& of(int source) const { return heard_.at(source); }
  void hear(int source, const plan::TypeMap& type) { heard_.insert_or_assign(source, type); }

 private:
  plan::TypeMap type_;
  std::unordered_map<int, ViewPart> told_;        // by aggregator
  std::unordered_map<int, plan::TypeMap> heard_;  // by source
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_VIEW_MEMORY_H_
