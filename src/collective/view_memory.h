// ViewMemory: what the ranks of a file have told each other of their views, so that a view is sent
// once and not with every access through it.
#ifndef NACRE_COLLECTIVE_VIEW_MEMORY_H_
#define NACRE_COLLECTIVE_VIEW_MEMORY_H_

#include <unordered_map>

#include "plan/type_map.h"

namespace nacre::collective {

/// One a rank and file. Both ends of a pair of ranks remember the same, as they take part in the
/// same calls in the same order. Memory: the types of the sources of this rank's domain, as long as
/// the file is open; none of them is larger than remembered_bytes_max.
class ViewMemory {
 public:
  /// What a type may hold (plan::TypeMap::footprint_bytes) to be remembered.
  static constexpr std::int64_t remembered_bytes_max = 16 << 10;

  [[nodiscard]] static bool remembers(const plan::TypeMap& type) {
    return type.footprint_bytes() <= remembered_bytes_max;
  }

  /// Whether `aggregator` has this type from us already.
  [[nodiscard]] bool has_told(int aggregator, const plan::TypeMap& type) const {
    const auto found = told_.find(aggregator);
    return found != told_.end() && (found->second.node() == type.node() || found->second == type);
  }
  void tell(int aggregator, const plan::TypeMap& type) { told_.insert_or_assign(aggregator, type); }

  /// What `source` told last.
  [[nodiscard]] const plan::TypeMap& of(int source) const { return heard_.at(source); }
  void hear(int source, const plan::TypeMap& type) { heard_.insert_or_assign(source, type); }

 private:
  std::unordered_map<int, plan::TypeMap> told_;   // by aggregator
  std::unordered_map<int, plan::TypeMap> heard_;  // by source
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_VIEW_MEMORY_H_
