#include "collective/profile/ost_tallies.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/bytes_of.h"
#include "base/checked_cast.h"
#include "base/rounding.h"
#include "collective/agreement/agreements.h"

namespace nacre::collective {
namespace {

/// Adds the bytes of `part`, which lies in the region, by OST. An OST may stand several times.
void add_shares(const plan::StripeMap& stripes, std::size_t index, const Extent& part,
                std::vector<OstShare>& shares) {
  const plan::StripedRegion& region = stripes.regions()[index];
  const std::int64_t first = part.offset / region.stripe_size;
  const std::int64_t last = (part.end() - 1) / region.stripe_size;
  if (last - first < region.slot_count()) {
    for (std::int64_t stripe = first; stripe <= last; ++stripe) {
      const Extent here = intersection(part, {stripe * region.stripe_size, region.stripe_size});
      const auto slot = static_cast<std::size_t>(stripe % region.slot_count());
      shares.push_back({region.osts[slot], here.length});
    }
    return;
  }
  for (std::int32_t slot = 0; slot < region.slot_count(); ++slot) {
    shares.push_back({region.osts[static_cast<std::size_t>(slot)],
                      stripes.object_extent(index, slot, part).length});
  }
}

/// The OST of all of `bytes`, if one stripe has them and its OST is known; otherwise unknown_ost.
std::int32_t ost_of_one_stripe(const plan::StripeMap& stripes, const Extent& bytes) {
  for (const plan::StripedRegion& region : stripes.regions()) {
    if (bytes.offset >= region.extent.end()) continue;
    const std::int64_t stripe = bytes.offset / region.stripe_size;
    const std::int64_t end = std::min((stripe + 1) * region.stripe_size, region.extent.end());
    if (bytes.end() > end) break;
    return region.osts[static_cast<std::size_t>(stripe % region.slot_count())];
  }
  return plan::unknown_ost;
}

std::vector<OstShare> shares_of(const plan::StripeMap& stripes, const Extent& bytes) {
  std::vector<OstShare> shares;
  for (std::size_t i = 0; i < stripes.regions().size(); ++i) {
    const Extent part = intersection(bytes, stripes.regions()[i].extent);
    if (!part.empty()) add_shares(stripes, i, part, shares);
  }
  std::erase_if(shares, [](const OstShare& share) { return share.ost < 0; });
  return shares;
}

/// Of numbers of OSTs.
void take_highest(std::span<std::byte> into, std::span<const std::byte> from) {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::memcpy(&a, into.data(), sizeof a);
  std::memcpy(&b, from.data(), sizeof b);
  a = std::max(a, b);
  std::memcpy(into.data(), &a, sizeof a);
}

}  // namespace

void OstTallies::add(const plan::StripeMap* stripes, const FileCall& call) {
  const std::lock_guard guard(mutex_);
  if (stripes != nullptr && !call.bytes.empty()) {
    const std::int32_t ost = ost_of_one_stripe(*stripes, call.bytes);
    const OstShare all{ost, call.bytes.length};
    if (ost >= 0) return count({&all, 1}, call);
  }
  const bool is_known = stripes != nullptr && stripes->knows_osts(call.bytes);
  if (is_known || (stripes != nullptr && unresolved_.size() == unresolved_max)) {
    count(shares_of(*stripes, call.bytes), call);
  } else if (unresolved_.size() < unresolved_max) {
    unresolved_.push_back(call);
  }
}

void OstTallies::resolve(const plan::StripeMap& stripes) {
  const std::lock_guard guard(mutex_);
  for (const FileCall& call : unresolved_) count(shares_of(stripes, call.bytes), call);
  unresolved_ = {};
}

void OstTallies::count(std::span<const OstShare> shares, const FileCall& call) {
  const bool is_alone = std::ranges::all_of(
      shares, [&](const OstShare& share) { return share.ost == shares.front().ost; });
  for (const OstShare& share : shares) {
    OstTally& tally = of(share.ost);
    tally.bytes += share.bytes;
    ++tally.calls;
    if (is_alone && call.nanoseconds > 0) tally.alone_bytes += share.bytes;
  }
  if (is_alone && !shares.empty()) of(shares.front().ost).alone_nanoseconds += call.nanoseconds;
}

OstTally& OstTallies::of(std::int32_t ost) {
  const auto index = static_cast<std::size_t>(ost);
  if (by_ost_.size() <= index) by_ost_.resize(index + 1);
  return by_ost_[index];
}

std::vector<OstTally> OstTallies::by_ost() const {
  const std::lock_guard guard(mutex_);
  return by_ost_;
}

Task<ReducedOsts> reduce_osts(Transport& transport, const OstTallies& tallies) {
  ReducedOsts reduced;
  reduced.by_ost = tallies.by_ost();
  std::int64_t count = std::ssize(reduced.by_ost);
  auto agreeing = all_reduce(transport, bytes_of(count), &take_highest);
  co_await agreeing;
  if (count == 0) co_return reduced;
  RanksByOst& ranks = reduced.ranks;
  ranks.bands = RankBands(transport.size());
  ranks.ost_count = count;
  ranks.bytes.resize(checked_cast<std::size_t>(ranks.bands.count() * ranks.column_count()));
  const int band = ranks.bands.band_of(transport.rank());
  for (std::int64_t ost = 0; ost < std::ssize(reduced.by_ost); ++ost) {
    ranks.at(band, ost) += reduced.by_ost[static_cast<std::size_t>(ost)].bytes;
  }
  reduced.by_ost.resize(checked_cast<std::size_t>(count));
  auto reducing = reduce(transport, std::as_writable_bytes(std::span(reduced.by_ost)),
                         &add_integers<std::int64_t>);
  co_await reducing;
  auto reducing_ranks = reduce(transport, std::as_writable_bytes(std::span(ranks.bytes)),
                               &add_integers<std::int64_t>);
  co_await reducing_ranks;
  co_return reduced;
}

}  // namespace nacre::collective
