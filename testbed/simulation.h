// Simulation: when the requests of nodes to OSTs end, by the machine's links, servers and OSTs.
#ifndef NACRE_TESTBED_SIMULATION_H_
#define NACRE_TESTBED_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "testbed/machine.h"

namespace nacre::testbed {

/// Nanoseconds since some beginning.
using SimulatedTime = std::int64_t;
inline constexpr SimulatedTime microsecond = 1000;

/// What a node asks of an OST in one message.
struct Rpc {
  std::int32_t node = 0;
  std::int32_t ost = 0;
  std::int64_t bytes = 0;
};

/// Names a request or a delay.
using Ticket = std::uint64_t;

/// A request goes through its node's link, the uplink, the server's link and the OST, one after the
/// other, and waits its turn at each; as many of a node and OST are on their way as the machine
/// says. Times are those that are given, not any clock's: what is asked for late is still at its
/// own time. Not thread-safe.
class Simulation {
 public:
  explicit Simulation(const Machine& machine);

  /// Queues it. `now` is not before that of any call before.
  [[nodiscard]] Ticket submit(const Rpc& rpc, SimulatedTime now);
  /// Something that only takes time.
  [[nodiscard]] Ticket delay(SimulatedTime length, SimulatedTime now);
  /// What has ended until `now`, in that order.
  [[nodiscard]] std::vector<Ticket> advance(SimulatedTime now);
  /// When something is to happen next.
  [[nodiscard]] std::optional<SimulatedTime> next() const;

  /// A fault: requests at the OST take `factor` times as long from now on; 0: they wait until it is
  /// set again.
  void set_slowness(std::int32_t ost, double factor, SimulatedTime now);
  /// How long requests waited at the OST before it took them up, in all.
  [[nodiscard]] SimulatedTime queue_time(std::int32_t ost) const {
    return osts_[static_cast<std::size_t>(ost)].queued;
  }

 private:
  struct Request {
    Rpc rpc;
    std::vector<std::size_t> way;  // stations before the OST
    std::size_t step = 0;          // of it; behind it, what the OST does
    SimulatedTime arrived = 0;     // at the OST
  };
  /// Takes one request at a time, in the order in which they come.
  struct Station {
    Channel channel;
    double slowness = 1;
    bool busy = false;
    std::deque<Ticket> waiting = {};
    std::map<std::int32_t, std::int64_t> requests_by_node = {};
  };
  struct Ost {
    std::int64_t threads_free = 0;
    std::deque<Ticket> waiting = {};
    SimulatedTime queued = 0;
  };
  struct Window {
    std::int64_t in_flight = 0;
    std::deque<Ticket> waiting = {};
  };
  struct Event {
    SimulatedTime time;
    Ticket order;  // of events at the same time
    Ticket ticket;
    friend auto operator<=>(const Event&, const Event&) = default;
  };

  [[nodiscard]] std::vector<std::size_t> way_of(const Rpc& rpc) const;
  [[nodiscard]] std::size_t station_of_ost(std::int32_t ost) const {
    return first_ost_ + static_cast<std::size_t>(ost);
  }
  void at(SimulatedTime time, Ticket ticket) { events_.push({time, next_ticket_++, ticket}); }
  void enter(Ticket ticket, SimulatedTime now);
  void enter_ost(Ticket ticket, SimulatedTime now);
  void take_up(Ticket ticket, SimulatedTime now);
  void join(Station& station, Ticket ticket, SimulatedTime now);
  void start(Station& station, SimulatedTime now);
  void leave(Station& station, const Rpc& rpc, SimulatedTime now);
  void go_on(Ticket ticket, SimulatedTime now);
  void end(Ticket ticket, SimulatedTime now);

  Machine machine_;
  std::size_t first_ost_ = 0;      // of the stations
  std::vector<Station> stations_;  // nodes' links, uplinks, servers' links, OSTs
  std::vector<Ost> osts_;
  std::map<std::pair<std::int32_t, std::int32_t>, Window> windows_;  // by node and OST
  std::map<Ticket, Request> requests_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Ticket> done_;
  Ticket next_ticket_ = 1;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_SIMULATION_H_
