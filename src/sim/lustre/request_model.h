// RequestModel: computes when the requests of nodes to OSTs complete, from the costs of the
// machine's links, servers and OSTs.
#ifndef NACRE_SIM_LUSTRE_REQUEST_MODEL_H_
#define NACRE_SIM_LUSTRE_REQUEST_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "sim/time/busy_timeline.h"
#include "sim/time/node_links.h"
#include "sim/time/timing.h"

namespace nacre::sim {

using machine::Channel;
using machine::Machine;

/// A request of a node to an OST.
struct Rpc {
  std::int32_t node = 0;
  std::int32_t ost = 0;
  std::int64_t bytes = 0;
  bool reads = false;
};

/// Identifies a request or a delay.
using Ticket = std::uint64_t;

/// What requests pass: writes in this order, reads in the reverse order.
enum class StationKind : std::uint8_t { node_link, uplink, server_link, ost };

/// The bytes of a write pass its node's link, the uplink, the server's link and the OST, in this
/// order, those of a read in the reverse order. They queue at each. At most `rpcs_in_flight`
/// requests of a node to an OST are in flight; further requests queue at the node. Callers pass the
/// time: the simulation reads no clock, and processes each event at the time of the event even if
/// advance() is called later. Not thread-safe.
class RequestModel {
 public:
  explicit RequestModel(const Machine& machine);

  /// Lets requests pass `links`, which outlive this, when they pass the links of their nodes:
  /// writes outwards, reads inwards. A request occupies the link when all requests of its node
  /// before it have left the link, so that what shares the link waits for one request at a time.
  void share_links(NodeLinks& links);
  /// Submits a request. `now` must not be earlier than in any previous call.
  [[nodiscard]] Ticket submit(const Rpc& rpc, SimulatedTime now);
  /// Starts a delay of `length` nanoseconds.
  [[nodiscard]] Ticket delay(SimulatedTime length, SimulatedTime now);
  /// Processes events up to `now`. Returns the requests and delays that have completed, in order.
  [[nodiscard]] std::vector<Ticket> advance(SimulatedTime now);
  /// The time of the next event, if there is one.
  [[nodiscard]] std::optional<SimulatedTime> next() const;

  /// Fault: transfers that start at the OST from `now` on take `factor` times as long, and so do
  /// latencies if it is above 1. 0: transfers wait until the factor is set again.
  void set_slowness(std::int32_t ost, double factor, SimulatedTime now);
  /// For each station of a kind, when it transferred, up to the end of its current transfer.
  [[nodiscard]] std::vector<BusyTimeline> busy_times(StationKind kind) const;
  /// The total time that requests have waited for a thread of the OST.
  [[nodiscard]] SimulatedTime queue_time(std::int32_t ost) const {
    return osts_[static_cast<std::size_t>(ost)].queued;
  }
  /// Makes the latency of the OSTs shorter, at most to 0.
  void shorten_latency(SimulatedTime by) { latency_ = std::max(SimulatedTime{0}, latency_ - by); }

 private:
  struct Request {
    Rpc rpc;
    std::vector<std::size_t> route;  // stations, in order; the OST is one of them
    std::size_t step = 0;            // index into `route`
    bool transfers = false;          // at the OST: the latency is over
    SimulatedTime arrived = 0;       // time of arrival at the OST
  };
  /// A link, or the transfers of an OST: serves one request at a time, in order of arrival.
  struct Station {
    Channel channel;                  // of writes
    std::int64_t read_bandwidth = 0;  // of reads
    NodeLinks* shared = nullptr;      // what else passes a node's link; null: nothing
    double slowness = 1;
    bool busy = false;
    BusyTimeline busy_times = {};
    std::deque<Ticket> waiting = {};
    std::map<std::int32_t, std::int64_t> requests_by_node = {};
  };
  struct Ost {
    std::int64_t idle_threads = 0;
    std::deque<Ticket> waiting = {};
    SimulatedTime queued = 0;
  };
  struct Window {
    std::int64_t in_flight = 0;
    std::deque<Ticket> waiting = {};
  };
  struct Event {
    SimulatedTime time;
    Ticket order;  // orders events with the same time
    Ticket ticket;
    friend auto operator<=>(const Event&, const Event&) = default;
  };

  [[nodiscard]] std::vector<std::size_t> route_of(const Rpc& rpc) const;
  [[nodiscard]] std::size_t station_of_ost(std::int32_t ost) const {
    return first_ost_ + static_cast<std::size_t>(ost);
  }
  void schedule(SimulatedTime time, Ticket ticket) { events_.push({time, next_ticket_++, ticket}); }
  void enter(Ticket ticket, SimulatedTime now);
  void enter_ost(Ticket ticket, SimulatedTime now);
  void start_on_thread(Ticket ticket, SimulatedTime now);
  void join(Station& station, Ticket ticket, SimulatedTime now);
  void start(Station& station, SimulatedTime now);
  void leave(Station& station, const Rpc& rpc, SimulatedTime now);
  void free_thread(std::int32_t ost, SimulatedTime now);
  void complete_step(Ticket ticket, SimulatedTime now);
  void end(Ticket ticket, SimulatedTime now);

  Machine machine_;
  SimulatedTime latency_;          // of the OSTs
  std::size_t first_ost_ = 0;      // index of the first OST in stations_
  std::vector<Station> stations_;  // nodes' links, uplinks, servers' links, OSTs
  std::vector<Ost> osts_;
  std::map<std::pair<std::int32_t, std::int32_t>, Window> windows_;  // by node and OST
  std::map<Ticket, Request> requests_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Ticket> done_;
  Ticket next_ticket_ = 1;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_REQUEST_MODEL_H_
