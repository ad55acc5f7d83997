#include "sim/files/node_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "sim/lustre/errno_result.h"
#include "store/pieces.h"

namespace nacre::sim {

Result<std::unique_ptr<NodeFile>> NodeFile::open(Namespace& names, const Opening& opening) {
  const Result<std::shared_ptr<StripedFile>> data = names.data(opening.number);
  if (!data) return data.error();
  Status opened = names.open(opening.number, {opening.node, opening.writes});
  if (!opened) return std::move(opened).error();
  return std::unique_ptr<NodeFile>(new NodeFile(names, opening, **data));
}

NodeFile::~NodeFile() { names_.close(opening_.number, {opening_.node, opening_.writes}); }

Status NodeFile::charge(plan::Direction direction, const Extent& extent, LockWish locks,
                        const IsInterrupted& is_interrupted) {
  const bool writes = direction == plan::Direction::write;
  CostModel& costs = names_.costs();
  for (Extent left = extent; !left.empty();) {
    const Extent part{left.offset, std::min(left.length, kernel_request_bytes_max)};
    const Result<std::vector<ObjectAccess>> accesses =
        writes ? data_.accesses_to_write(part) : data_.accesses_of(part);
    if (!accesses) return accesses.error();
    // The model does not know more of a call than the kernel tells a file system.
    const bool may_continue =
        part.length == kernel_request_bytes_max && (writes || part.end() < data_.size());
    const FileRequest request{*accesses, may_continue, locks};
    Status charged = writes ? costs.write(caller(is_interrupted), request)
                            : costs.read(caller(is_interrupted), request);
    if (!charged) return charged;
    left = {part.end(), left.length - part.length};
  }
  return {};
}

store::Transfer NodeFile::read(std::span<const store::ReadPiece> pieces, std::int64_t offset,
                               const IsInterrupted& is_interrupted) {
  const Result<LockWish> locks = data_.locks_for(caller(is_interrupted));
  if (!locks) return {0, locks.error()};
  Status charged =
      charge(plan::Direction::read, {offset, store::total_bytes(pieces)}, *locks, is_interrupted);
  if (!charged) return {0, std::move(charged).error()};
  store::Transfer done;
  for (const store::ReadPiece& piece : pieces) {
    const auto size = checked_cast<std::size_t>(piece.size);
    const Result<std::size_t> got = data_.read({piece.data, size}, offset + done.bytes);
    if (!got) return {done.bytes, got.error()};
    done.bytes += checked_cast<std::int64_t>(*got);
    if (*got < size) break;
  }
  return done;
}

store::Transfer NodeFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset,
                                const IsInterrupted& is_interrupted) {
  const Result<LockWish> locks = data_.locks_for(caller(is_interrupted));
  if (!locks) return {0, locks.error()};
  Status charged =
      charge(plan::Direction::write, {offset, store::total_bytes(pieces)}, *locks, is_interrupted);
  if (!charged) return {0, std::move(charged).error()};
  store::Transfer done;
  for (const store::WritePiece& piece : pieces) {
    const std::span from(piece.data, checked_cast<std::size_t>(piece.size));
    if (Status written = data_.write(from, offset + done.bytes); !written) {
      return {done.bytes, std::move(written).error()};
    }
    done.bytes += piece.size;
  }
  return done;
}

Status NodeFile::append(std::span<const std::byte> from, const IsInterrupted& is_interrupted) {
  const Result<LockWish> locks = data_.locks_for(caller(is_interrupted));
  if (!locks) return locks.error();
  const Result<std::int64_t> place = data_.append(from);
  if (!place) return place.error();
  return charge(plan::Direction::write, {*place, std::ssize(from)}, *locks, is_interrupted);
}

Status NodeFile::allocate(std::int64_t end) {
  if (names_.costs().machine().ost_fallocate == 0) {
    data_.locks().believe_size(opening_.node, end);
    return refused(EOPNOTSUPP);
  }
  if (Status reserved = names_.costs().reserve(data_.objects()); !reserved) return reserved;
  return data_.size() < end ? data_.resize(end) : Status();
}

Status NodeFile::flush(const IsInterrupted& is_interrupted) {
  return names_.costs().flush(caller(is_interrupted), data_.objects());
}

Status NodeFile::finish(const IsInterrupted& is_interrupted) {
  return names_.costs().finish(caller(is_interrupted), data_.objects());
}

}  // namespace nacre::sim
