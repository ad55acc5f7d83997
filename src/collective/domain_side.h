// DomainSide: an aggregator's part in an exchange: the bytes of its rounds, between the ranks and
// the file.
#ifndef NACRE_COLLECTIVE_DOMAIN_SIDE_H_
#define NACRE_COLLECTIVE_DOMAIN_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/node_rounds.h"
#include "collective/profile.h"
#include "collective/round_file.h"
#include "collective/round_messages.h"
#include "collective/round_queue.h"
#include "collective/transport.h"
#include "plan/collective_plan.h"
#include "plan/memory_access.h"

namespace nacre::collective {

/// Goes through the rounds in which anybody has bytes, in order. Ranks of this node place their
/// bytes in the cycle buffer, or take them out, by themselves; the aggregator lets them in and
/// waits for them all. With ranks of other nodes a round's messages are exchanged in portions:
/// parts that lie in one piece in the cycle buffer need no other memory, the rest is packed into as
/// much as a round holds.
class DomainSide {
 public:
  struct Domain {
    plan::Direction direction;
    const plan::CollectivePlan& plan;
    int number;  ///< of the aggregator on its node
    Profiler& profiler;
    int io_thread_count;  ///< 0: files are accessed by the rank itself
  };
  /// `rounds` is in the call; `sources` are the ranks of other nodes. What is referred to outlives
  /// this.
  DomainSide(Transport& transport, const Domain& domain, const NodeRounds& rounds,
             RoundQueue sources, RoundFile& file);
  DomainSide(const DomainSide&) = delete;
  DomainSide& operator=(const DomainSide&) = delete;
  /// Waits for the thread that it has given work to, if that is not through.
  ~DomainSide();

  [[nodiscard]] bool done() const { return stage_ == Stage::done; }
  /// Goes on as far as ranks and messages allow; whether that was anywhere.
  bool step();

 private:
  using Bytes = std::span<std::byte>;
  /// What the round at hand waits for.
  enum class Stage : std::uint8_t {
    receiving,  ///< writing: messages with bytes
    placing,    ///< writing: ranks of the node
    asking,     ///< reading in parts: ranks of the node
    draining,   ///< writing: the round before it, whose slot it needs
    freeing,    ///< reading whole rounds: its buffer, which ranks of the node still take from
    reading,    ///< reading: the file
    sending,    ///< reading: messages
    taking,     ///< reading: ranks of the node
    done,
  };
  /// Does what `stage_` waits for, if it can be done now, and goes to the next stage.
  bool advance();
  void begin_round(std::int64_t round);
  bool receive();
  bool write_placed();
  /// The round that is being written is through: its slot is opened again.
  bool end_written();
  /// Where the aggregators of a node write one at a time.
  bool begin_turn();
  void end_turn();
  bool read_asked();
  bool read_whole();
  bool end_read();
  /// Runs `job`, on a thread beside where there is one, else here.
  void start(FileJob job);
  /// Whether it has run; it is then accounted for and gone.
  bool end_job();
  bool send();
  bool end_taken();

  /// The round before which all ranks of the node are done, by what they have said.
  using Words = RoundMemory::Word& (RoundMemory::*)(int rank, int aggregator) const;
  [[nodiscard]] std::int64_t said_by_all(Words words) const;
  void say(RoundMemory::Word& word, std::int64_t round);

  void take_parts();
  void receive_portion();
  void send_portion();
  /// Of parts that may be received in any order: alone where they lie, and filling it.
  void place_disjoint_parts();
  void place_whole_parts();
  /// Between the cycle buffer and a packed message.
  void copy_packed(const RoundPart& part, Bytes packed);
  [[nodiscard]] Bytes in_buffer(const Extent& place) const;
  [[nodiscard]] std::byte* buffer() const { return memory_.buffer(domain_.number, round_); }
  [[nodiscard]] Coverage coverage(std::int64_t round) const {
    return rounds_.coverage(domain_.number, round, domain_.direction);
  }

  Transport& transport_;
  Domain domain_;
  const NodeRounds& rounds_;
  const RoundMemory& memory_;
  RoundQueue sources_;
  RoundFile& file_;

  Stage stage_ = Stage::done;
  std::int64_t round_ = 0;
  std::int64_t open_until_ =
      RoundMemory::slot_count;   // writing: of the rounds before it each has a slot
  std::int64_t next_round_ = 0;  // draining: what is then begun
  std::int64_t open_after_ = 0;  // open_until_ once the round that is being written is through
  std::int64_t written_ = 0;     // which that is
  std::shared_ptr<RunningJob> running_;
  RoundShare share_;
  RoundMessages places_;
  std::size_t first_ = 0;  // the portion under way: parts [first_, last_)
  std::size_t last_ = 0;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_SIDE_H_
