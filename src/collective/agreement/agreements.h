// Small collective operations over a transport, by trees of messages of depth O(log ranks). All
// functions are collective: every rank calls them in the same order.
#ifndef NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_
#define NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/result.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/nodes/node_map.h"

namespace nacre::collective {

struct Unit {};

/// Broadcasts `data` of `root`; the same size on all ranks.
Task<Unit> broadcast(Transport& transport, std::span<std::byte> data, int root);

/// As broadcast, if only the root knows the size.
Task<Unit> broadcast_sized(Transport& transport, std::vector<std::byte>& data, int root);

/// Combines `from` into `into`, which have the same size.
using Combine = void (*)(std::span<std::byte> into, std::span<const std::byte> from);

/// Reduces `value` to rank 0; on other ranks it ends as the result of their part of the tree. The
/// order of the combine calls depends only on the ranks and their nodes: ranks of a node are
/// combined first.
Task<Unit> reduce(Transport& transport, std::span<std::byte> value, Combine combine);

/// As reduce, but to the lowest rank of each node.
Task<Unit> reduce_on_node(Transport& transport, std::span<std::byte> value, Combine combine);

/// As reduce, of the values of the lowest rank of each node. The other ranks may leave it out.
Task<Unit> reduce_over_nodes(Transport& transport, std::span<std::byte> value, Combine combine);

/// A Combine: adds integers in bytes of any alignment.
template <class Integer>
void add_integers(std::span<std::byte> into, std::span<const std::byte> from) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(Integer)) {
    Integer a = 0;
    Integer b = 0;
    std::memcpy(&a, &into[at], sizeof a);
    std::memcpy(&b, &from[at], sizeof b);
    a += b;
    std::memcpy(&into[at], &a, sizeof a);
  }
}

/// As reduce, followed by a broadcast: all ranks get the same bytes.
Task<Unit> all_reduce(Transport& transport, std::span<std::byte> value, Combine combine);

/// The sum over the ranks before this one, and over all ranks. Sums wrap around at 64 bits.
struct PrefixSum {
  std::int64_t before = 0;
  std::int64_t total = 0;
};
Task<PrefixSum> prefix_sum(Transport& transport, std::int64_t value);

/// Gathers `own` of all ranks on rank 0, in rank order; returns nothing on other ranks. The same
/// size on all ranks. A rank holds the bytes of the ranks below it in the tree.
Task<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> own);

/// As gather, but on the lowest rank of each node, of the ranks of the node.
Task<std::vector<std::byte>> gather_on_node(Transport& transport, std::span<const std::byte> own);

/// The nodes of all ranks. Ranks with the same `domain` share memory and form a node; a rank with
/// domain 0 is a node of its own. Consecutive ranks of a node are encoded together, in a few bytes
/// per node.
Task<plan::NodeMap> agree_on_nodes(Transport& transport, std::uint64_t domain);

/// Agrees on an outcome: success if all ranks succeeded, otherwise the error of the lowest rank
/// that failed, with the prefix "rank R: " on the other ranks. Messages are truncated to 480 bytes.
/// Sends O(log ranks) small messages if all ranks succeeded.
Task<Status> agree(Transport& transport, Status local);

/// As agree; also replaces each of `values` by its minimum over all ranks. The same number of
/// values on all ranks.
Task<Status> agree_with_minima(Transport& transport, Status local, std::span<std::int64_t> values);

/// As above, for one value.
Task<Status> agree_with_minimum(Transport& transport, Status local, std::int64_t& value);

/// Whether the value is the same on all ranks.
Task<bool> all_same(Transport& transport, std::int64_t value);

/// The second half of agree, after all ranks know the lowest rank that failed: broadcasts its
/// error.
Task<Error> broadcast_error(Transport& transport, Status local, int failed_rank);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_AGREEMENTS_H_
