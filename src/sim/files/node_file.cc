#include "sim/files/node_file.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "sim/lustre/errno_result.h"
#include "store/pieces.h"

namespace nacre::sim {

Result<std::unique_ptr<NodeFile>> NodeFile::open(Namespace& names, const Opening& opening) {
  const Result<StripedFile*> data = names.data(opening.number);
  if (!data) return data.error();
  Status opened = names.open(opening.number, {opening.node, opening.writes});
  if (!opened) return std::move(opened).error();
  return std::unique_ptr<NodeFile>(new NodeFile(names, opening, **data));
}

NodeFile::~NodeFile() { names_.close(opening_.number, {opening_.node, opening_.writes}); }

store::Transfer NodeFile::read(std::span<const store::ReadPiece> pieces, std::int64_t offset,
                               const NodeCall& call) {
  const Caller caller = this->caller(call);
  const Result<LockWish> locks = data_.locks_for(caller);
  if (!locks) return {0, locks.error()};
  const std::vector<ObjectAccess> accesses =
      data_.accesses_of({offset, store::total_bytes(pieces)});
  Status charged = names_.costs().read(caller, {accesses, call.may_continue, *locks});
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

/// Waits for the time that a write takes. `locks`: what the call has waited for before it looked
/// for the end of the file, if it did.
Status NodeFile::charge_write(const Extent& extent, LockWish locks, const NodeCall& call) {
  const Result<std::vector<ObjectAccess>> accesses = data_.accesses_to_write(extent);
  if (!accesses) return accesses.error();
  return names_.costs().write(caller(call), {*accesses, call.may_continue, locks});
}

store::Transfer NodeFile::write(std::span<const store::WritePiece> pieces, std::int64_t offset,
                                const NodeCall& call) {
  const Result<LockWish> locks = data_.locks_for(caller(call));
  if (!locks) return {0, locks.error()};
  Status charged = charge_write({offset, store::total_bytes(pieces)}, *locks, call);
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

Status NodeFile::append(std::span<const std::byte> from, const NodeCall& call) {
  const Result<LockWish> locks = data_.locks_for(caller(call));
  if (!locks) return locks.error();
  const Result<std::int64_t> place = data_.append(from);
  if (!place) return place.error();
  return charge_write({*place, std::ssize(from)}, *locks, call);
}

Status NodeFile::allocate(std::int64_t end) {
  if (names_.costs().machine().ost_fallocate == 0) {
    data_.locks().believe_size(opening_.node, end);
    return refused(EOPNOTSUPP);
  }
  if (Status reserved = names_.costs().reserve(data_.objects()); !reserved) return reserved;
  return data_.size() < end ? data_.resize(end) : Status();
}

Status NodeFile::flush(const NodeCall& call) {
  return names_.costs().flush(caller(call), data_.objects());
}

Status NodeFile::finish(const NodeCall& call) { return names_.costs().finish(caller(call)); }

}  // namespace nacre::sim
