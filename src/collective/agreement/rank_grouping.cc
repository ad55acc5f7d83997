#include "collective/agreement/rank_grouping.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes_of.h"

namespace nacre::collective {
namespace {

/// Frees `gathered` before the ranks are grouped.
std::vector<plan::RankLoad> loads_from(std::vector<std::byte> gathered) {
  std::vector<plan::RankLoad> loads(gathered.size() / sizeof(plan::RankLoad));
  std::memcpy(loads.data(), gathered.data(), gathered.size());
  return loads;
}

}  // namespace

bool operator==(const GroupingRequest& a, const GroupingRequest& b) {
  const bool same_initial =
      a.initial == b.initial ||
      (a.initial != nullptr && b.initial != nullptr && *a.initial == *b.initial);
  return same_initial && a.target == b.target;
}

bool RankGroupCache::knows(const plan::FileAccess& access) const {
  if (groups_ == nullptr || access.byte_count != byte_count_) return false;
  return access.byte_count == 0 || access.view.type == type_;
}

bool RankGroupCache::are_for(const GroupingRequest& request) const {
  return groups_ != nullptr && request == request_;
}

void RankGroupCache::keep(SharedGroups groups, GroupingRequest request,
                          const plan::FileAccess& access, std::int64_t asked_bytes) {
  groups_ = std::move(groups);
  request_ = std::move(request);
  type_ = access.view.type;
  byte_count_ = asked_bytes;
}

Task<SharedGroups> share_groups(Transport& transport, const plan::RankLoad& load,
                                const GroupingRequest& request) {
  plan::RankLoad own = load;
  const std::span<const std::byte> own_bytes = bytes_of(own);
  std::vector<std::byte> all = co_await gather(transport, own_bytes);
  std::vector<std::byte> encoded;
  if (transport.rank() == 0) {
    const std::vector<plan::RankLoad> loads = loads_from(std::move(all));
    const plan::InitialGroups as_accesses_lie;
    const plan::InitialGroups& initial = request.initial ? *request.initial : as_accesses_lie;
    const plan::RankGroups groups = plan::group_ranks(loads, initial, request.target);
    encoded = plan::spread_over(transport.nodes(), groups).serialized();
  }
  co_await broadcast_sized(transport, encoded, 0);
  co_return std::make_shared<const plan::RankGroups>(plan::RankGroups::deserialized(encoded));
}

}  // namespace nacre::collective
