// Small agreements between the ranks of a transport: trees of messages, O(log ranks) deep, no rank
// talks to all. All are collective over the transport: every rank calls the same ones in the same
// order.
#ifndef NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_
#define NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/nodes/node_map.h"

namespace nacre::collective {

struct Unit {};

/// `data` of `root` to all; the same size everywhere.
Task<Unit> broadcast(Transport& transport, std::span<std::byte> data, int root);

/// As broadcast, for a size that only root knows.
Task<Unit> broadcast_sized(Transport& transport, std::vector<std::byte>& data, int root);

/// Folds the bytes of `from` into those of `into`, both of one size.
using Combine = void (*)(std::span<std::byte> into, std::span<const std::byte> from);

/// Folds every rank's `value` into rank 0's; the others' is then what their part of the tree gave.
/// combine is called in an order that depends on nothing but the number of ranks.
Task<Unit> reduce(Transport& transport, std::span<std::byte> value, Combine combine);

/// As reduce, and the result is broadcast from rank 0, so all ranks hold the same bytes.
Task<Unit> all_reduce(Transport& transport, std::span<std::byte> value, Combine combine);

/// The sum of the values of the ranks before this one, and of all. Sums fit 64 bits or wrap around.
struct PrefixSum {
  std::int64_t before = 0;
  std::int64_t total = 0;
};
Task<PrefixSum> prefix_sum(Transport& transport, std::int64_t value);

/// On rank 0 the `own` of all ranks, in their order; elsewhere nothing. As many bytes from each. A
/// rank holds those of the ranks below it in the tree.
Task<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> own);

/// The nodes of all ranks; `domain` is the same for those that share memory and differs from that
/// of all others, 0 is shared with nobody. Neighbours of one domain travel together, so that no
/// rank but those of scattered nodes holds more than a few bytes a node.
Task<plan::NodeMap> agree_on_nodes(Transport& transport, std::uint64_t domain);

/// Every rank brings its outcome and leaves with the same one: success when all succeeded, else the
/// error of the lowest rank that failed, its message prefixed by "rank R: " on the others. Messages
/// are cut to 480 bytes. One round of O(log ranks) small messages when nothing failed.
Task<Status> agree(Transport& transport, Status local);

/// As agree; on the way each of `values`, as many on every rank, becomes the smallest of all
/// ranks'.
Task<Status> agree_with_minima(Transport& transport, Status local, std::span<std::int64_t> values);

/// The same for one value.
Task<Status> agree_with_minimum(Transport& transport, Status local, std::int64_t& value);

/// Whether all ranks brought the same value.
Task<bool> all_same(Transport& transport, std::int64_t value);

/// The second half of agree, once all ranks know the lowest rank that failed: its error on all
/// ranks.
Task<Error> broadcast_error(Transport& transport, Status local, int failed_rank);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_
