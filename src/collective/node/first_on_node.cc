#include "collective/node/first_on_node.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/bytes_of.h"

namespace nacre::collective {

Task<bool> is_first_on_node(Transport& transport, bool is_candidate) {
  const std::vector<int> ranks =
      transport.nodes().ranks_on(transport.nodes().node_of(transport.rank()));
  const std::span<const int> others = std::span(ranks).subspan(1);
  std::byte own{is_candidate};
  std::vector<MessageId> messages;
  if (transport.rank() != ranks.front()) {
    messages.push_back(transport.send(ranks.front(), bytes_of(own)));
    co_await AllOf{messages};
    messages.push_back(transport.receive(ranks.front(), bytes_of(own)));
    co_await AllOf{messages};
    co_return own == std::byte{1};
  }
  std::vector<std::byte> answers(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    messages.push_back(transport.receive(others[i], bytes_of(answers[i])));
  }
  co_await AllOf{messages};
  const auto first = is_candidate ? answers.end() : std::ranges::find(answers, std::byte{1});
  const auto chosen = static_cast<std::size_t>(first - answers.begin());
  for (std::size_t i = 0; i < others.size(); ++i) {
    answers[i] = std::byte{i == chosen};
    messages.push_back(transport.send(others[i], bytes_of(answers[i])));
  }
  co_await AllOf{messages};
  co_return is_candidate;
}

}  // namespace nacre::collective
