#include "sim/lustre/request_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/checked_cast.h"

namespace nacre::sim {
namespace {

constexpr double second = 1e9;

}  // namespace

RequestModel::RequestModel(const Machine& machine)
    : machine_(machine), latency_(machine.ost_latency_us * microsecond) {
  const auto add = [&](std::int64_t count, const Channel& channel, const Channel& reading) {
    for (std::int64_t i = 0; i < count; ++i) {
      stations_.push_back({.channel = channel, .read_bandwidth = reading.bandwidth});
    }
  };
  const auto add_links = [&](std::int64_t count, const Channel& link) { add(count, link, link); };
  add_links(machine.nodes, machine.node_link);
  add_links(machine.uplinks, machine.uplink);
  add_links(machine.servers(), machine.server_link);
  first_ost_ = stations_.size();
  add(machine.osts, machine.ost, machine.reading_ost());
  osts_.assign(static_cast<std::size_t>(machine.osts), Ost{.idle_threads = machine.ost_threads});
}

void RequestModel::share_links(NodeLinks& links) {
  for (std::int64_t node = 0; node < machine_.nodes; ++node) {
    stations_[static_cast<std::size_t>(node)].shared = &links;
  }
}

/// The stations that the bytes pass, in order, without links of unlimited bandwidth.
std::vector<std::size_t> RequestModel::route_of(const Rpc& rpc) const {
  std::vector<std::size_t> route;
  const auto nodes = checked_cast<std::size_t>(machine_.nodes);
  const auto uplinks = checked_cast<std::size_t>(machine_.uplinks);
  const auto servers = checked_cast<std::size_t>(machine_.servers());
  const auto node = static_cast<std::size_t>(rpc.node);
  if (machine_.node_link.bandwidth > 0) route.push_back(node);
  if (uplinks > 0 && machine_.uplink.bandwidth > 0) route.push_back(nodes + node % uplinks);
  if (servers > 0 && machine_.server_link.bandwidth > 0) {
    route.push_back(nodes + uplinks + static_cast<std::size_t>(rpc.ost) % servers);
  }
  route.push_back(station_of_ost(rpc.ost));
  if (rpc.reads) std::ranges::reverse(route);
  return route;
}

Ticket RequestModel::submit(const Rpc& rpc, SimulatedTime now) {
  const Ticket ticket = next_ticket_++;
  requests_[ticket] = {rpc, route_of(rpc)};
  Window& window = windows_[{rpc.node, rpc.ost}];
  if (window.in_flight < machine_.rpcs_in_flight) {
    ++window.in_flight;
    enter(ticket, now);
  } else {
    window.waiting.push_back(ticket);
  }
  return ticket;
}

Ticket RequestModel::delay(SimulatedTime length, SimulatedTime now) {
  const Ticket ticket = next_ticket_++;
  schedule(now + length, ticket);
  return ticket;
}

/// Enters the next station of the route, or ends the request after the last station.
void RequestModel::enter(Ticket ticket, SimulatedTime now) {
  const Request& request = requests_.at(ticket);
  if (request.step == request.route.size()) {
    end(ticket, now);
  } else if (const std::size_t station = request.route[request.step]; station < first_ost_) {
    join(stations_[station], ticket, now);
  } else {
    enter_ost(ticket, now);
  }
}

void RequestModel::enter_ost(Ticket ticket, SimulatedTime now) {
  Request& request = requests_.at(ticket);
  request.arrived = now;
  Ost& ost = osts_[static_cast<std::size_t>(request.rpc.ost)];
  ++stations_[station_of_ost(request.rpc.ost)].requests_by_node[request.rpc.node];
  if (ost.idle_threads == 0) {
    ost.waiting.push_back(ticket);
  } else {
    --ost.idle_threads;
    start_on_thread(ticket, now);
  }
}

/// A thread of the OST starts a request. Latencies of several requests overlap.
void RequestModel::start_on_thread(Ticket ticket, SimulatedTime now) {
  Request& request = requests_.at(ticket);
  osts_[static_cast<std::size_t>(request.rpc.ost)].queued += now - request.arrived;
  const double slowness = std::max(1.0, stations_[station_of_ost(request.rpc.ost)].slowness);
  schedule(now + std::llround(static_cast<double>(latency_) * slowness), ticket);
}

void RequestModel::join(Station& station, Ticket ticket, SimulatedTime now) {
  ++station.requests_by_node[requests_.at(ticket).rpc.node];
  station.waiting.push_back(ticket);
  start(station, now);
}

/// Starts the next request if the station is idle.
void RequestModel::start(Station& station, SimulatedTime now) {
  if (station.busy || station.waiting.empty() || station.slowness == 0) return;
  station.busy = true;
  const Rpc& rpc = requests_.at(station.waiting.front()).rpc;
  const auto others = static_cast<double>(station.requests_by_node.size()) - 1;
  const auto bandwidth =
      static_cast<double>(rpc.reads ? station.read_bandwidth : station.channel.bandwidth);
  const double transfer = bandwidth > 0 ? static_cast<double>(rpc.bytes) * second / bandwidth : 0;
  const double length = transfer * (1 + station.channel.client_cost * others) * station.slowness;
  const SimulatedTime rounded = std::llround(length);
  const LinkSide side = rpc.reads ? LinkSide::in : LinkSide::out;
  const SimulatedTime begin =
      station.shared == nullptr ? now : station.shared->occupy(rpc.node, side, now, rounded);
  station.busy_times.add(begin, begin + rounded);
  schedule(begin + rounded, station.waiting.front());
}

void RequestModel::leave(Station& station, const Rpc& rpc, SimulatedTime now) {
  station.busy = false;
  station.waiting.pop_front();
  const auto requests = station.requests_by_node.find(rpc.node);
  if (--requests->second == 0) station.requests_by_node.erase(requests);
  start(station, now);
}

/// Completes the current step of a request, and starts its next step.
void RequestModel::complete_step(Ticket ticket, SimulatedTime now) {
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) {  // a delay
    done_.push_back(ticket);
    return;
  }
  Request& request = found->second;
  const std::size_t index = request.route[request.step];
  Station& station = stations_[index];
  const bool is_ost = index >= first_ost_;
  if (is_ost && !request.transfers) {
    request.transfers = true;
    station.waiting.push_back(ticket);
    start(station, now);
    return;
  }
  leave(station, request.rpc, now);
  if (is_ost) free_thread(request.rpc.ost, now);
  ++request.step;
  enter(ticket, now);
}

void RequestModel::free_thread(std::int32_t ost, SimulatedTime now) {
  Ost& threads = osts_[static_cast<std::size_t>(ost)];
  if (threads.waiting.empty()) {
    ++threads.idle_threads;
    return;
  }
  const Ticket next = threads.waiting.front();
  threads.waiting.pop_front();
  start_on_thread(next, now);
}

void RequestModel::end(Ticket ticket, SimulatedTime now) {
  const Rpc rpc = requests_.at(ticket).rpc;
  requests_.erase(ticket);
  done_.push_back(ticket);
  Window& window = windows_.at({rpc.node, rpc.ost});
  if (window.waiting.empty()) {
    --window.in_flight;
    return;
  }
  const Ticket next = window.waiting.front();
  window.waiting.pop_front();
  enter(next, now);
}

std::vector<Ticket> RequestModel::advance(SimulatedTime now) {
  while (!events_.empty() && events_.top().time <= now) {
    const Event event = events_.top();
    events_.pop();
    complete_step(event.ticket, event.time);
  }
  return std::exchange(done_, {});
}

std::optional<SimulatedTime> RequestModel::next() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().time;
}

std::vector<BusyTimeline> RequestModel::busy_times(StationKind kind) const {
  const std::array<std::int64_t, 4> counts{machine_.nodes, machine_.uplinks, machine_.servers(),
                                           machine_.osts};
  const auto index = static_cast<std::size_t>(kind);
  const std::int64_t first =
      std::accumulate(counts.begin(), counts.begin() + index, std::int64_t{0});
  std::vector<BusyTimeline> times;
  for (std::int64_t i = 0; i < counts[index]; ++i) {
    times.push_back(stations_[static_cast<std::size_t>(first + i)].busy_times);
  }
  return times;
}

void RequestModel::set_slowness(std::int32_t ost, double factor, SimulatedTime now) {
  Station& station = stations_[station_of_ost(ost)];
  station.slowness = factor;
  start(station, now);
}

}  // namespace nacre::sim
