#include "collective/agreement/agreements.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/bytes_of.h"
#include "base/checked_cast.h"

namespace nacre::collective {
namespace {

constexpr std::size_t message_bytes_max = 480;

plan::RankTree tree_from(const Transport& transport, int root) {
  if (root == 0) return transport.tree();
  return plan::binomial_tree(transport.size(), root, transport.rank());
}

/// A tree whose subtrees are ranges of ranks: the first child's comes after this rank, and so on.
plan::RankTree tree_of_ranges(const Transport& transport) {
  plan::RankTree tree = plan::binomial_tree(transport.size(), 0, transport.rank());
  std::reverse(tree.children.begin(), tree.children.end());
  return tree;
}

void fold_minimum(std::span<std::byte> into, std::span<const std::byte> from) {
  for (std::size_t i = 0; i < into.size(); i += sizeof(std::int64_t)) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, &into[i], sizeof a);
    std::memcpy(&b, &from[i], sizeof b);
    if (b < a) std::memcpy(&into[i], &b, sizeof b);
  }
}

struct ErrorHead {
  std::int32_t system_errno = 0;
  ErrorClass error_class = ErrorClass::other;
};

std::vector<std::byte> encode_error(const Error& error) {
  const std::size_t length = std::min(error.message.size(), message_bytes_max);
  std::vector<std::byte> bytes(sizeof(ErrorHead) + length);
  ErrorHead head;
  head.system_errno = error.system_errno;
  head.error_class = error.error_class;
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, error.message.data(), length);
  return bytes;
}

Error decode_error(std::span<const std::byte> bytes, const std::string& prefix) {
  ErrorHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto* text = reinterpret_cast<const char*>(bytes.data() + sizeof head);
  return {head.error_class, head.system_errno,
          prefix + std::string(text, bytes.size() - sizeof head)};
}

/// Combines the values of the ranks below `place`, and sends the result to its parent. `place` must
/// outlive the task.
Task<Unit> reduce_along(Transport& transport, const plan::RankTree& place,
                        std::span<std::byte> value, Combine combine) {
  if (value.empty()) co_return Unit{};
  std::vector<MessageId> messages;
  std::vector<std::byte> parts(value.size() * place.children.size());
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    const std::span<std::byte> part(&parts[i * value.size()], value.size());
    messages.push_back(transport.receive(place.children[i], part));
  }
  co_await AllOf{messages};
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    combine(value, {&parts[i * value.size()], value.size()});
  }
  if (place.parent >= 0) {
    messages.push_back(transport.send(place.parent, value));
    co_await AllOf{messages};
  }
  co_return Unit{};
}

}  // namespace

Task<Unit> broadcast(Transport& transport, std::span<std::byte> data, int root) {
  if (data.empty()) co_return Unit{};
  const plan::RankTree tree = tree_from(transport, root);
  std::vector<MessageId> messages;
  if (tree.parent >= 0) {
    messages.push_back(transport.receive(tree.parent, data));
    co_await AllOf{messages};
  }
  for (const int child : tree.children) messages.push_back(transport.send(child, data));
  co_await AllOf{messages};
  co_return Unit{};
}

Task<Unit> broadcast_sized(Transport& transport, std::vector<std::byte>& data, int root) {
  std::int64_t size = std::ssize(data);
  const std::span<std::byte> size_bytes = bytes_of(size);
  co_await broadcast(transport, size_bytes, root);
  data.resize(checked_cast<std::size_t>(size));
  const std::span<std::byte> all(data);
  co_await broadcast(transport, all, root);
  co_return Unit{};
}

Task<Unit> reduce(Transport& transport, std::span<std::byte> value, Combine combine) {
  return reduce_along(transport, transport.tree(), value, combine);
}

Task<Unit> reduce_on_node(Transport& transport, std::span<std::byte> value, Combine combine) {
  const plan::RankTree place = plan::tree_on_node(transport.nodes(), transport.rank());
  co_await reduce_along(transport, place, value, combine);
  co_return Unit{};
}

Task<Unit> reduce_over_nodes(Transport& transport, std::span<std::byte> value, Combine combine) {
  const plan::NodeMap& nodes = transport.nodes();
  if (nodes.lowest_rank_on(nodes.node_of(transport.rank())) != transport.rank()) co_return Unit{};
  const plan::RankTree place = plan::tree_over_nodes(nodes, transport.rank());
  co_await reduce_along(transport, place, value, combine);
  co_return Unit{};
}

Task<Unit> all_reduce(Transport& transport, std::span<std::byte> value, Combine combine) {
  co_await reduce(transport, value, combine);
  co_await broadcast(transport, value, 0);
  co_return Unit{};
}

Task<PrefixSum> prefix_sum(Transport& transport, std::int64_t value) {
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  const plan::RankTree place = tree_of_ranges(transport);
  std::vector<MessageId> messages;
  std::vector<std::int64_t> parts(place.children.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    messages.push_back(transport.receive(place.children[i], bytes_of(parts[i])));
  }
  co_await AllOf{messages};
  PrefixSum result;
  result.total = value;
  for (const std::int64_t part : parts) result.total = sum(result.total, part);
  if (place.parent >= 0) {
    messages.push_back(transport.send(place.parent, bytes_of(result.total)));
    co_await AllOf{messages};
    messages.push_back(transport.receive(place.parent, bytes_of(result)));
    co_await AllOf{messages};
  }
  std::vector<PrefixSum> down(parts.size());
  std::int64_t before = sum(result.before, value);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    down[i].before = before;
    down[i].total = result.total;
    before = sum(before, parts[i]);
    messages.push_back(transport.send(place.children[i], bytes_of(down[i])));
  }
  co_await AllOf{messages};
  co_return result;
}

Task<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> own) {
  const plan::RankTree place = tree_of_ranges(transport);
  // A child holds as many ranks as it is away.
  const auto end_of = [&](int child) {
    return std::min(2 * child - transport.rank(), transport.size());
  };
  const int end = place.children.empty() ? transport.rank() + 1 : end_of(place.children.back());
  std::vector<std::byte> all(own.size() * checked_cast<std::size_t>(end - transport.rank()));
  std::ranges::copy(own, all.begin());
  std::vector<MessageId> messages;
  for (const int child : place.children) {
    const std::size_t begin = own.size() * checked_cast<std::size_t>(child - transport.rank());
    const std::size_t size = own.size() * checked_cast<std::size_t>(end_of(child) - child);
    messages.push_back(transport.receive(child, std::span(all).subspan(begin, size)));
  }
  co_await AllOf{messages};
  if (place.parent < 0) co_return all;
  messages.push_back(transport.send(place.parent, all));
  co_await AllOf{messages};
  co_return std::vector<std::byte>{};
}

Task<std::vector<std::byte>> gather_on_node(Transport& transport, std::span<const std::byte> own) {
  const plan::NodeMap& nodes = transport.nodes();
  const std::vector<int> node_ranks = nodes.ranks_on(nodes.node_of(transport.rank()));
  std::vector<MessageId> messages;
  if (node_ranks.front() != transport.rank()) {
    messages.push_back(transport.send(node_ranks.front(), own));
    co_await AllOf{messages};
    co_return std::vector<std::byte>{};
  }
  std::vector<std::byte> all(own.size() * node_ranks.size());
  std::ranges::copy(own, all.begin());
  for (std::size_t i = 1; i < node_ranks.size(); ++i) {
    messages.push_back(
        transport.receive(node_ranks[i], std::span(all).subspan(i * own.size(), own.size())));
  }
  co_await AllOf{messages};
  co_return all;
}

Task<plan::NodeMap> agree_on_nodes(Transport& transport, std::uint64_t domain) {
  const plan::RankTree place = tree_of_ranges(transport);
  std::vector<plan::NodeMap::Run> runs{{domain, 1}};
  std::vector<MessageId> messages;
  for (const int child : place.children) {
    std::int64_t count = 0;
    messages.push_back(transport.receive(child, bytes_of(count)));
    co_await AllOf{messages};
    std::vector<plan::NodeMap::Run> theirs(checked_cast<std::size_t>(count));
    messages.push_back(transport.receive(child, std::as_writable_bytes(std::span(theirs))));
    co_await AllOf{messages};
    plan::append_runs(runs, theirs);
  }
  if (place.parent >= 0) {
    const std::int64_t count = std::ssize(runs);
    messages.push_back(transport.send(place.parent, std::as_bytes(std::span(&count, 1))));
    messages.push_back(transport.send(place.parent, std::as_bytes(std::span(runs))));
    co_await AllOf{messages};
  }
  std::vector<std::byte> bytes;
  if (place.parent < 0) bytes = plan::NodeMap::from_runs(runs).serialized();
  co_await broadcast_sized(transport, bytes, 0);
  co_return plan::NodeMap::deserialized(bytes);
}

Task<Error> broadcast_error(Transport& transport, Status local, int failed_rank) {
  std::vector<std::byte> encoded;
  const bool mine = transport.rank() == failed_rank;
  if (mine) encoded = encode_error(local.error());
  co_await broadcast_sized(transport, encoded, failed_rank);
  std::string prefix;
  if (!mine) prefix = "rank " + std::to_string(failed_rank) + ": ";
  co_return decode_error(encoded, prefix);
}

Task<bool> all_same(Transport& transport, std::int64_t value) {
  // ~ turns the order around: its minimum is that of the largest value.
  std::array<std::int64_t, 2> least{value, ~value};
  const std::span<std::byte> least_bytes = bytes_of(least);
  co_await all_reduce(transport, least_bytes, &fold_minimum);
  co_return least[0] == ~least[1];
}

Task<Status> agree_with_minima(Transport& transport, Status local, std::span<std::int64_t> values) {
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> common{local.ok() ? nobody : transport.rank()};
  common.insert(common.end(), values.begin(), values.end());
  const std::span<std::byte> common_bytes = std::as_writable_bytes(std::span(common));
  co_await all_reduce(transport, common_bytes, &fold_minimum);
  std::copy(common.begin() + 1, common.end(), values.begin());
  const std::int64_t failed_rank = common.front();
  if (failed_rank == nobody) co_return Status{};
  Task<Error> spread = broadcast_error(transport, std::move(local), checked_cast<int>(failed_rank));
  Error error = co_await spread;
  co_return Status{std::move(error)};
}

Task<Status> agree_with_minimum(Transport& transport, Status local, std::int64_t& value) {
  return agree_with_minima(transport, std::move(local), {&value, 1});
}

Task<Status> agree(Transport& transport, Status local) {
  return agree_with_minima(transport, std::move(local), {});
}

}  // namespace nacre::collective
