#include "collective/profile/access_shape.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/checked_cast.h"
#include "collective/agreement/parcels.h"

namespace nacre::collective {
namespace {

/// What a parcel begins with; the encoded type follows.
struct ParcelHead {
  std::int64_t kind = 0;
  std::int64_t origin = 0;
  std::int64_t first_byte = 0;
  std::int64_t bytes = 0;
  std::int64_t step_bytes = 0;
  std::int64_t has_step = 0;
};

Parcel parcel_of(const CallShape& shape, std::size_t kind) {
  const ParcelHead head{checked_cast<std::int64_t>(kind),
                        shape.origin,
                        shape.first_byte,
                        shape.bytes,
                        shape.step_bytes.value_or(0),
                        shape.step_bytes.has_value() ? 1 : 0};
  Parcel parcel{.rank = 0, .bytes = std::vector<std::byte>(sizeof head)};
  std::memcpy(parcel.bytes.data(), &head, sizeof head);
  parcel.bytes.insert(parcel.bytes.end(), shape.type.begin(), shape.type.end());
  return parcel;
}

}  // namespace

void AccessShape::look_at(const plan::FileAccess& access) {
  const std::int64_t begin = plan::bounds(access).offset;
  const std::lock_guard guard(mutex_);
  if (calls_ == 0) {
    first_ = {access.view.origin, access.first_byte, access.byte_count, std::nullopt, {}};
    // An encoding has a byte for each block at least; a block takes 16 bytes of memory at most.
    const plan::TypeMap& type = access.view.type;
    constexpr auto footprint_max = checked_cast<std::int64_t>(16 * CallShape::type_bytes_max);
    const bool may_fit = type.footprint_bytes() <= footprint_max;
    if (may_fit && type.is_encodable()) type.encode(first_.type);
    if (first_.type.size() > CallShape::type_bytes_max) first_.type.clear();
  } else {
    const std::int64_t step = begin - last_begin_;
    has_one_step_ = has_one_step_ && step_.value_or(step) == step;
    step_ = step;
  }
  last_begin_ = begin;
  ++calls_;
}

std::optional<CallShape> AccessShape::first() const {
  const std::lock_guard guard(mutex_);
  if (calls_ == 0) return std::nullopt;
  CallShape shape = first_;
  if (has_one_step_) shape.step_bytes = step_;
  return shape;
}

bool is_sampled(int rank, int rank_count) {
  return rank == 0 || rank == rank_count - 1 || std::has_single_bit(static_cast<unsigned>(rank));
}

Task<std::vector<std::vector<RankShape>>> sample_shapes(Transport& transport,
                                                        std::span<const AccessShape* const> kinds) {
  std::vector<Parcel> outgoing;
  const bool sends = is_sampled(transport.rank(), transport.size());
  for (std::size_t kind = 0; kind < kinds.size() && sends; ++kind) {
    if (const auto shape = kinds[kind]->first()) outgoing.push_back(parcel_of(*shape, kind));
  }
  std::vector<std::vector<RankShape>> by_kind(kinds.size());
  auto delivering = deliver(transport, std::move(outgoing));
  const std::vector<Parcel> delivered = co_await delivering;
  for (const Parcel& parcel : delivered) {
    ParcelHead head;
    std::memcpy(&head, parcel.bytes.data(), sizeof head);
    CallShape shape{head.origin,
                    head.first_byte,
                    head.bytes,
                    std::nullopt,
                    {parcel.bytes.begin() + sizeof head, parcel.bytes.end()}};
    if (head.has_step != 0) shape.step_bytes = head.step_bytes;
    by_kind[checked_cast<std::size_t>(head.kind)].push_back({parcel.rank, std::move(shape)});
  }
  co_return by_kind;
}

}  // namespace nacre::collective
