// CountedTransport: counts what is sent, on its way to another transport.
#ifndef NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_
#define NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_

#include <iterator>
#include <span>

#include "collective/counters.h"
#include "collective/transport.h"

namespace nacre::collective {

/// Messages are those of `inner`: whoever drives the operation may wait for them there. Both
/// outlive it.
class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& inner, Counters& counters) : inner_(inner), counters_(counters) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return inner_.nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return inner_.tree(); }
  [[nodiscard]] MessageId send(int destination, std::span<const std::byte> data) override {
    ++counters_.message_count;
    counters_.message_bytes += std::ssize(data);
    return inner_.send(destination, data);
  }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    return inner_.receive(source, data);
  }
  bool test(std::span<MessageId> messages) override { return inner_.test(messages); }
  void ring(int rank) override { inner_.ring(rank); }
  void wait(Condition& condition) override { inner_.wait(condition); }

 private:
  Transport& inner_;
  Counters& counters_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_
