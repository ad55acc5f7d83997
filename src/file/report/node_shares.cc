#include "file/report/node_shares.h"

#include <span>

#include "collective/agreement/agreements.h"
#include "plan/nodes/node_map.h"

namespace nacre::file {
namespace {

NodeShares shares_of(const NodeFigures& node, int rank, const HostNames::Name& host) {
  NodeShares shares;
  shares.bytes.add(node.bytes);
  shares.file_bytes.add(node.file_bytes);
  if (node.file_calls > 0) {
    shares.busiest[0] = {{rank, node.file_bytes, node.file_calls, node.file_nanoseconds}, host};
  }
  return shares;
}

}  // namespace

void fold(NodeShares& into, const NodeShares& from) {
  into.bytes.fold(from.bytes);
  into.file_bytes.fold(from.file_bytes);
  collective::keep_busiest(into.busiest, from.busiest);
}

collective::Task<std::vector<NodeShares>> reduce_node_shares(collective::Transport& transport,
                                                             std::vector<NodeFigures> own) {
  auto summing = collective::reduce_on_node(transport, std::as_writable_bytes(std::span(own)),
                                            &collective::add_integers<std::int64_t>);
  co_await summing;
  std::vector<NodeShares> shares(own.size());
  const plan::NodeMap& nodes = transport.nodes();
  const int rank = transport.rank();
  if (rank == nodes.lowest_rank_on(nodes.node_of(rank))) {
    const HostNames::Name host = own_host();
    for (std::size_t i = 0; i < own.size(); ++i) shares[i] = shares_of(own[i], rank, host);
  }
  auto reducing = collective::reduce(transport, std::as_writable_bytes(std::span(shares)),
                                     &collective::fold_all<NodeShares>);
  co_await reducing;
  co_return shares;
}

}  // namespace nacre::file
