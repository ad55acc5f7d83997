#include "sim/lustre/striped_file.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/checked_cast.h"
#include "plan/layout/lov_codec.h"
#include "sim/lustre/errno_result.h"

namespace nacre::sim {

namespace {

bool is_on_ost(const ObjectName& object) { return object.ost != metadata_target; }

/// The accesses of the pieces on OSTs, for a read or write that starts at `offset` of the file.
template <class Piece>
std::vector<ObjectAccess> on_osts(const std::vector<Piece>& pieces, std::int64_t offset) {
  std::vector<ObjectAccess> accesses;
  for (const Piece& piece : pieces) {
    if (!is_on_ost(piece.object)) continue;
    const auto bytes = checked_cast<std::int64_t>(piece.bytes);
    accesses.push_back({piece.object,
                        {piece.object_offset, bytes},
                        {offset + checked_cast<std::int64_t>(piece.buffer_offset), bytes}});
  }
  return accesses;
}

}  // namespace

Status Striping::order(const FaultOrder& order) {
  if (!order.evicted_node) {
    const std::lock_guard guard(mutex);
    allocator.set_refusing(order.ost, order.fault.no_objects);
  }
  return costs.order(order);
}

StripedFile::~StripedFile() {
  for (const ObjectName& object : all_objects()) drop(object);
}

/// All objects, including the object on the metadata target. The caller holds mutex_.
std::vector<ObjectName> StripedFile::all_objects() const {
  std::vector<ObjectName> all;
  if (!layout_) return all;
  for (std::size_t region = 0; region < layout_->components.size(); ++region) {
    if (!layout_->components[region].is_instantiated()) continue;  // it may list OSTs
    const plan::Striping& striping = layout_->components[region].striping;
    const std::size_t slots =
        striping.pattern == plan::StripePattern::mdt ? 1 : striping.objects.size();
    for (std::size_t slot = 0; slot < slots; ++slot) {
      all.push_back(object_of(region, checked_cast<std::int32_t>(slot)));
    }
  }
  return all;
}

std::vector<ObjectName> StripedFile::objects() {
  const std::lock_guard guard(mutex_);
  std::vector<ObjectName> all = all_objects();
  std::erase_if(all, [](const ObjectName& object) { return !is_on_ost(object); });
  return all;
}

bool StripedFile::has_layout() {
  const std::lock_guard guard(mutex_);
  return layout_.has_value();
}

Result<std::vector<std::byte>> StripedFile::layout(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  if (!layout_ && node != no_node) locks_.note_no_layout(node);
  if (!layout_ || !locks_.sees_layout(node)) return refused(ENODATA);
  return plan::encode_lov(*layout_);
}

void StripedFile::replace_layout(plan::Layout layout) {
  map_ = plan::StripeMap::of(layout, striping_.defaults.ost_count).value();
  layout_ = std::move(layout);
}

Status StripedFile::set_layout(plan::Layout asked, std::int32_t node) {
  const std::lock_guard guard(mutex_);
  const bool is_first = !layout_;
  Status set = is_first ? set_first_layout(std::move(asked)) : Status();
  if (set && node != no_node) locks_.note_layout_set(node, is_first);
  return set;
}

Status StripedFile::set_first_layout(plan::Layout asked) {
  Result<plan::Layout> layout = layout_for_file(std::move(asked), striping_.defaults);
  if (!layout) return std::move(layout).error();
  const std::lock_guard allocator(striping_.mutex);
  Status made = striping_.allocator.instantiate(layout->components.front());
  if (!made) return made;
  replace_layout(*std::move(layout));
  return {};
}

Status StripedFile::add_components(const plan::Layout& more) {
  const std::lock_guard guard(mutex_);
  if (!layout_) return refused(ENODATA);
  plan::Layout grown = *layout_;
  Status added = sim::add_components(grown, more, striping_.defaults);
  if (added) replace_layout(std::move(grown));
  return added;
}

Status StripedFile::delete_components(const plan::Layout& which) {
  const std::lock_guard guard(mutex_);
  if (!layout_) return refused(ENODATA);
  plan::Layout shrunk = *layout_;
  const auto deleted = sim::delete_components(shrunk, which);
  if (!deleted) return deleted.error();
  for (const plan::LayoutComponent& component : *deleted) {
    if (!component.is_instantiated()) continue;
    for (const plan::OstObject& object : component.striping.objects) {
      drop({object.ost, object.object_id});
    }
  }
  replace_layout(std::move(shrunk));
  return {};
}

Status StripedFile::migrate(const Caller& caller, plan::Layout asked) {
  constexpr std::int32_t number = std::numeric_limits<std::int32_t>::max();
  if (Status locked = acquire_group_lock(caller, number); !locked) return locked;
  Status moved = move_to_layout(std::move(asked));
  Status released = release_group_lock(caller, number);
  return moved ? released : moved;
}

/// Accesses that began before the group lock was acquired find either layout, with all data.
Status StripedFile::move_to_layout(plan::Layout asked) {
  Result<plan::Layout> layout = layout_for_file(std::move(asked), striping_.defaults);
  if (!layout) return std::move(layout).error();
  const std::lock_guard guard(mutex_);
  const Extent kept = readable_part({0, size_});
  const Extent used{0, std::max<std::int64_t>(1, kept.length)};
  {
    const std::lock_guard allocator(striping_.mutex);
    const Result<bool> made = instantiate(*layout, used, striping_.allocator);
    if (!made) return made.error();
  }
  std::vector<std::byte> bytes(checked_cast<std::size_t>(kept.length));
  if (Status read = read_pieces(bytes, pieces_of(0, bytes.size())); !read) return read;
  const std::vector<ObjectName> old = all_objects();
  replace_layout(*std::move(layout));
  const store::Transfer written = write_pieces(bytes, pieces_of(0, bytes.size()));
  const std::vector<ObjectName> now = all_objects();
  const auto heir = std::ranges::find_if(now, is_on_ost);
  if (heir != now.end()) striping_.costs.pass_on_losses(old, *heir);
  for (const ObjectName& object : old) drop(object);
  return written.error ? Status(*written.error) : Status();
}

/// Deletes an object that no longer belongs to the file.
void StripedFile::drop(const ObjectName& object) {
  striping_.objects.remove(object);
  if (is_on_ost(object)) striping_.costs.forget(object);
}

std::int64_t StripedFile::size() const {
  const std::lock_guard guard(mutex_);
  return size_;
}

ObjectName StripedFile::object_of(std::size_t region, std::int32_t slot) const {
  const plan::Striping& striping = layout_->components[region].striping;
  if (striping.pattern == plan::StripePattern::mdt) return {metadata_target, number_};
  const plan::OstObject& object = striping.objects[static_cast<std::size_t>(slot)];
  return {object.ost, object.object_id};
}

std::vector<StripedFile::Piece> StripedFile::pieces_of(std::int64_t offset,
                                                       std::size_t bytes) const {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  while (done < bytes) {
    const std::int64_t here = offset + checked_cast<std::int64_t>(done);
    const plan::StripePlace place = map_->place_of(here).value();
    const plan::StripedRegion& region = map_->regions()[place.region];
    const std::int64_t stripe_left = region.stripe_size - here % region.stripe_size;
    const std::int64_t left = std::min(
        {stripe_left, region.extent.end() - here, checked_cast<std::int64_t>(bytes - done)});
    const bool has_object = layout_->components[place.region].is_instantiated();
    const ObjectName object = has_object ? object_of(place.region, place.slot) : ObjectName{};
    pieces.push_back({object, place.object_offset, done, checked_cast<std::size_t>(left)});
    done += checked_cast<std::size_t>(left);
  }
  return pieces;
}

/// The part of `extent` before the ends of the file and of its layout. The caller holds mutex_.
Extent StripedFile::readable_part(const Extent& extent) const {
  if (!layout_ || extent.offset >= size_) return {extent.offset, 0};
  const std::int64_t end = std::min({size_, layout_->components.back().end, extent.end()});
  return {extent.offset, std::max<std::int64_t>(0, end - extent.offset)};
}

std::vector<ObjectAccess> StripedFile::accesses_of(const Extent& extent) {
  const std::lock_guard guard(mutex_);
  const auto bytes = checked_cast<std::size_t>(readable_part(extent).length);
  return on_osts(pieces_of(extent.offset, bytes), extent.offset);
}

Result<std::size_t> StripedFile::read(std::span<std::byte> to, std::int64_t offset) {
  std::vector<Piece> pieces;
  std::size_t bytes = 0;
  {
    const std::lock_guard guard(mutex_);
    const Extent found = readable_part({offset, checked_cast<std::int64_t>(to.size())});
    bytes = checked_cast<std::size_t>(found.length);
    pieces = pieces_of(offset, bytes);
  }
  if (Status done = read_pieces(to, pieces); !done) return std::move(done).error();
  return bytes;
}

Status StripedFile::read_pieces(std::span<std::byte> to, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    const std::span<std::byte> part = to.subspan(piece.buffer_offset, piece.bytes);
    if (piece.object == ObjectName{}) {
      std::ranges::fill(part, std::byte{0});
    } else if (Status done = striping_.objects.read(piece.object, part, piece.object_offset);
               !done) {
      return done;
    }
  }
  return {};
}

/// Creates the objects of the components that the extent touches. The caller holds mutex_.
Status StripedFile::make_objects(const Extent& extent) {
  if (!layout_) return refused(EBADF);
  const std::lock_guard allocator(striping_.mutex);
  Result<bool> made = instantiate(*layout_, extent, striping_.allocator);
  if (!made) return std::move(made).error();
  if (*made) replace_layout(*std::exchange(layout_, std::nullopt));
  return {};
}

/// Creates missing objects. The caller holds mutex_.
Result<std::vector<StripedFile::Piece>> StripedFile::pieces_to_write(const Extent& extent) {
  if (Status there = make_objects(extent); !there) return std::move(there).error();
  return pieces_of(extent.offset, checked_cast<std::size_t>(extent.length));
}

store::Transfer StripedFile::write_pieces(std::span<const std::byte> from,
                                          const std::vector<Piece>& pieces) {
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces) {
    store::Transfer done = striping_.objects.write(
        piece.object, from.subspan(piece.buffer_offset, piece.bytes), piece.object_offset);
    bytes += done.bytes;
    if (done.error) return {bytes, std::move(done.error)};
  }
  return {bytes, std::nullopt};
}

/// Updates the size after a write, and returns the error of the write. The caller holds mutex_.
Status StripedFile::finish_write(const store::Transfer& done, std::int64_t offset) {
  if (done.bytes > 0) size_ = std::max(size_, offset + done.bytes);
  return done.error ? *done.error : Status();
}

Status StripedFile::write(std::span<const std::byte> from, std::int64_t offset) {
  std::unique_lock guard(mutex_);
  const Result<std::vector<Piece>> pieces =
      pieces_to_write({offset, checked_cast<std::int64_t>(from.size())});
  if (!pieces) return pieces.error();
  guard.unlock();
  const store::Transfer done = write_pieces(from, *pieces);
  guard.lock();
  return finish_write(done, offset);
}

Result<std::int64_t> StripedFile::append(std::span<const std::byte> from) {
  const std::lock_guard guard(mutex_);
  const std::int64_t offset = size_;
  const Result<std::vector<Piece>> pieces =
      pieces_to_write({offset, checked_cast<std::int64_t>(from.size())});
  if (!pieces) return pieces.error();
  if (Status taken = finish_write(write_pieces(from, *pieces), offset); !taken) {
    return std::move(taken).error();
  }
  return offset;
}

Result<std::vector<ObjectAccess>> StripedFile::accesses_to_write(const Extent& extent) {
  const std::lock_guard guard(mutex_);
  const Result<std::vector<Piece>> pieces = pieces_to_write(extent);
  if (!pieces) return pieces.error();
  return on_osts(*pieces, extent.offset);
}

Status StripedFile::acquire_group_lock(const Caller& caller, std::int32_t number) {
  const std::int32_t node = caller.handle->node();
  if (Status taken = locks_.acquire_group(node, number); !taken) return taken;
  Status ready;
  {
    const std::lock_guard guard(mutex_);
    ready = layout_ ? make_objects({0, layout_->components.back().end}) : refused(EBADF);
  }
  if (ready) ready = striping_.costs.revoke_locks(caller, objects());
  if (!ready) static_cast<void>(locks_.release_group(node, number));
  return ready;
}

Status StripedFile::release_group_lock(const Caller& caller, std::int32_t number) {
  Status written = striping_.costs.write_back(caller, objects());
  Status given = locks_.release_group(caller.handle->node(), number);
  return given ? written : given;
}

/// The caller holds mutex_, and the file has a layout.
void StripedFile::append_object_parts(std::vector<ObjectAccess>& parts,
                                      const Extent& extent) const {
  for (std::size_t i = 0; i < map_->regions().size(); ++i) {
    const plan::StripedRegion& region = map_->regions()[i];
    const Extent part = intersection(extent, region.extent);
    if (part.empty() || !layout_->components[i].is_instantiated()) continue;
    for (std::int32_t slot = 0; slot < region.slot_count(); ++slot) {
      const ObjectName object = object_of(i, slot);
      const Extent in_object = map_->object_extent(i, slot, part);
      if (is_on_ost(object) && !in_object.empty()) parts.push_back({object, in_object, part});
    }
  }
}

Status StripedFile::lock_ahead(std::int32_t node, std::span<const Extent> ranges) {
  std::vector<ObjectAccess> parts;
  {
    const std::lock_guard guard(mutex_);
    if (!layout_) return refused(EBADF);
    for (const Extent& range : ranges) append_object_parts(parts, range);
  }
  striping_.costs.lock_ahead(node, parts);
  return {};
}

Result<LockWish> StripedFile::locks_for(const Caller& caller) {
  return locks_.pass(caller.handle->node(), caller.is_interrupted);
}

Status StripedFile::resize(std::int64_t size) {
  const std::lock_guard guard(mutex_);
  Status cut = size < size_ && layout_ ? truncate_objects(size) : Status();
  if (cut) size_ = size;
  return cut;
}

/// Truncates the objects for a file of `size` bytes. The caller holds mutex_.
Status StripedFile::truncate_objects(std::int64_t size) {
  const std::span<const plan::StripedRegion> regions = map_->regions();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (!layout_->components[i].is_instantiated()) continue;
    const Extent& whole = regions[i].extent;
    const Extent kept{whole.offset, std::clamp<std::int64_t>(size - whole.offset, 0, whole.length)};
    for (std::int32_t slot = 0; slot < regions[i].slot_count(); ++slot) {
      Status cut =
          striping_.objects.truncate(object_of(i, slot), map_->object_extent(i, slot, kept).end());
      if (!cut) return cut;
    }
  }
  return {};
}

Status StripedFile::sync() {
  std::unique_lock guard(mutex_);
  const std::vector<ObjectName> all = all_objects();
  guard.unlock();
  for (const ObjectName& object : all) {
    if (Status synced = striping_.objects.sync(object); !synced) return synced;
  }
  return {};
}

}  // namespace nacre::sim
