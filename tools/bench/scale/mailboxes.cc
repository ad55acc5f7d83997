#include "mailboxes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "plan/nodes/rank_tree.h"
#include "rank_heap.h"

namespace nacre::bench {

using collective::MessageId;

class Mailboxes::RankTransport final : public collective::Transport {
 public:
  RankTransport(Mailboxes& boxes, int rank)
      : boxes_(boxes), rank_(rank), tree_(plan::tree_of_nodes(boxes.nodes_, rank)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return boxes_.nodes_.rank_count(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return boxes_.nodes_; }
  [[nodiscard]] const plan::RankTree& tree() const override { return tree_; }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    const RankHeap::Pause pause;
    return boxes_.receive(rank_, source, data);
  }
  bool test(std::span<MessageId> messages) override { return boxes_.test(rank_, messages); }
  void ring(int rank) override { boxes_.make_ready(rank); }
  void run_in_helper_thread(std::function<bool()> job, int /*thread_count_max*/) override {
    while (job()) {
    }
  }
  /// Operation::advance() does not wait.
  void wait(collective::Condition& /*condition*/) override { std::abort(); }

 private:
  [[nodiscard]] MessageId post_send(int destination, std::span<const std::byte> data) override {
    const RankHeap::Pause pause;
    boxes_.send(rank_, destination, data);
    return 0;
  }

  Mailboxes& boxes_;
  int rank_;
  plan::RankTree tree_;
};

Mailboxes::Mailboxes(const plan::NodeMap& nodes)
    : nodes_(nodes), ranks_(static_cast<std::size_t>(nodes.rank_count())), ready_(ranks_.size()) {
  std::iota(ready_.begin(), ready_.end(), 0);
}

Mailboxes::~Mailboxes() = default;

collective::Transport& Mailboxes::transport(int rank) {
  std::unique_ptr<RankTransport>& transport = ranks_[static_cast<std::size_t>(rank)].transport;
  if (transport == nullptr) transport = std::make_unique<RankTransport>(*this, rank);
  return *transport;
}

int Mailboxes::next_ready() {
  if (ready_.empty()) return -1;
  const int rank = ready_.back();
  ready_.pop_back();
  ranks_[static_cast<std::size_t>(rank)].is_ready = false;
  return rank;
}

void Mailboxes::end(int rank) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  it.has_ended = true;
  it.transport.reset();
}

void Mailboxes::make_ready(int rank) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  if (it.has_ended || std::exchange(it.is_ready, true)) return;
  const RankHeap::Pause pause;
  ready_.push_back(rank);
}

void Mailboxes::send(int source, int destination, std::span<const std::byte> data) {
  Rank& to = ranks_[static_cast<std::size_t>(destination)];
  for (Traffic* traffic : {&ranks_[static_cast<std::size_t>(source)].traffic, &to.traffic}) {
    ++traffic->messages;
    traffic->bytes += std::ssize(data);
  }
  const auto found = std::ranges::find(to.expected, source, &Expected::source);
  if (found == to.expected.end()) {
    to.arrived.push_back({source, {data.begin(), data.end()}});
    return;
  }
  if (found->data.size() != data.size()) std::abort();
  std::memcpy(found->data.data(), data.data(), data.size());
  to.expected.erase(found);
  make_ready(destination);
}

MessageId Mailboxes::receive(int rank, int source, std::span<std::byte> data) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  const auto found = std::ranges::find(it.arrived, source, &Arrived::source);
  if (found == it.arrived.end()) {
    it.expected.push_back({source, ++last_id_, data});
    return last_id_;
  }
  if (found->bytes.size() != data.size()) std::abort();
  std::memcpy(data.data(), found->bytes.data(), data.size());
  it.arrived.erase(found);
  return 0;
}

bool Mailboxes::test(int rank, std::span<MessageId> messages) {
  const std::vector<Expected>& expected = ranks_[static_cast<std::size_t>(rank)].expected;
  bool all = true;
  for (MessageId& id : messages) {
    if (std::ranges::find(expected, id, &Expected::id) == expected.end()) id = 0;
    all = all && id == 0;
  }
  return all;
}

}  // namespace nacre::bench
