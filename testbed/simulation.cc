#include "testbed/simulation.h"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.h"

namespace nacre::testbed {
namespace {

constexpr double second = 1e9;

}  // namespace

Simulation::Simulation(const Machine& machine) : machine_(machine) {
  const auto add = [&](std::int64_t count, const Channel& channel) {
    for (std::int64_t i = 0; i < count; ++i) stations_.push_back({.channel = channel});
  };
  add(machine.nodes, machine.node_link);
  add(machine.uplinks, machine.uplink);
  add(machine.servers(), machine.server_link);
  first_ost_ = stations_.size();
  add(machine.osts, machine.ost);
  osts_.assign(static_cast<std::size_t>(machine.osts), Ost{.threads_free = machine.ost_threads});
}

/// The stations before the OST that take any time.
std::vector<std::size_t> Simulation::way_of(const Rpc& rpc) const {
  std::vector<std::size_t> way;
  const auto nodes = checked_cast<std::size_t>(machine_.nodes);
  const auto uplinks = checked_cast<std::size_t>(machine_.uplinks);
  const auto servers = checked_cast<std::size_t>(machine_.servers());
  const auto node = static_cast<std::size_t>(rpc.node);
  if (machine_.node_link.bandwidth > 0) way.push_back(node);
  if (uplinks > 0 && machine_.uplink.bandwidth > 0) way.push_back(nodes + node % uplinks);
  if (servers > 0 && machine_.server_link.bandwidth > 0) {
    way.push_back(nodes + uplinks + static_cast<std::size_t>(rpc.ost) % servers);
  }
  return way;
}

Ticket Simulation::submit(const Rpc& rpc, SimulatedTime now) {
  const Ticket ticket = next_ticket_++;
  requests_[ticket] = {rpc, way_of(rpc)};
  Window& window = windows_[{rpc.node, rpc.ost}];
  if (window.in_flight < machine_.rpcs_in_flight) {
    ++window.in_flight;
    enter(ticket, now);
  } else {
    window.waiting.push_back(ticket);
  }
  return ticket;
}

Ticket Simulation::delay(SimulatedTime length, SimulatedTime now) {
  const Ticket ticket = next_ticket_++;
  at(now + length, ticket);
  return ticket;
}

/// The next station of its way, or the OST behind the last.
void Simulation::enter(Ticket ticket, SimulatedTime now) {
  const Request& request = requests_.at(ticket);
  if (request.step < request.way.size()) {
    join(stations_[request.way[request.step]], ticket, now);
  } else {
    enter_ost(ticket, now);
  }
}

void Simulation::enter_ost(Ticket ticket, SimulatedTime now) {
  Request& request = requests_.at(ticket);
  request.arrived = now;
  Ost& ost = osts_[static_cast<std::size_t>(request.rpc.ost)];
  ++stations_[station_of_ost(request.rpc.ost)].requests_by_node[request.rpc.node];
  if (ost.threads_free == 0) {
    ost.waiting.push_back(ticket);
  } else {
    --ost.threads_free;
    take_up(ticket, now);
  }
}

/// By a thread of the OST: what a request takes beside its bytes overlaps with that of others.
void Simulation::take_up(Ticket ticket, SimulatedTime now) {
  Request& request = requests_.at(ticket);
  osts_[static_cast<std::size_t>(request.rpc.ost)].queued += now - request.arrived;
  ++request.step;
  const double slowness = std::max(1.0, stations_[station_of_ost(request.rpc.ost)].slowness);
  const auto latency = static_cast<double>(machine_.ost_latency_us * microsecond);
  at(now + std::llround(latency * slowness), ticket);
}

void Simulation::join(Station& station, Ticket ticket, SimulatedTime now) {
  ++station.requests_by_node[requests_.at(ticket).rpc.node];
  station.waiting.push_back(ticket);
  start(station, now);
}

/// Takes up the next request, if the station is free.
void Simulation::start(Station& station, SimulatedTime now) {
  if (station.busy || station.waiting.empty() || station.slowness == 0) return;
  station.busy = true;
  const Rpc& rpc = requests_.at(station.waiting.front()).rpc;
  const auto others = static_cast<double>(station.requests_by_node.size()) - 1;
  const auto bandwidth = static_cast<double>(station.channel.bandwidth);
  const double alone = bandwidth > 0 ? static_cast<double>(rpc.bytes) * second / bandwidth : 0;
  const double length = alone * (1 + station.channel.client_cost * others) * station.slowness;
  at(now + std::llround(length), station.waiting.front());
}

void Simulation::leave(Station& station, const Rpc& rpc, SimulatedTime now) {
  station.busy = false;
  station.waiting.pop_front();
  const auto mine = station.requests_by_node.find(rpc.node);
  if (--mine->second == 0) station.requests_by_node.erase(mine);
  start(station, now);
}

/// Behind whatever it was doing.
void Simulation::go_on(Ticket ticket, SimulatedTime now) {
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) {  // a delay
    done_.push_back(ticket);
    return;
  }
  Request& request = found->second;
  Station& ost = stations_[station_of_ost(request.rpc.ost)];
  if (request.step < request.way.size()) {
    leave(stations_[request.way[request.step++]], request.rpc, now);
    enter(ticket, now);
  } else if (request.step == request.way.size() + 1) {  // a thread has it: now its bytes
    ++request.step;
    ost.waiting.push_back(ticket);
    start(ost, now);
  } else {
    leave(ost, request.rpc, now);
    end(ticket, now);
  }
}

void Simulation::end(Ticket ticket, SimulatedTime now) {
  const Rpc rpc = requests_.at(ticket).rpc;
  requests_.erase(ticket);
  done_.push_back(ticket);
  Ost& ost = osts_[static_cast<std::size_t>(rpc.ost)];
  if (ost.waiting.empty()) {
    ++ost.threads_free;
  } else {
    const Ticket next = ost.waiting.front();
    ost.waiting.pop_front();
    take_up(next, now);
  }
  Window& window = windows_.at({rpc.node, rpc.ost});
  if (window.waiting.empty()) {
    --window.in_flight;
  } else {
    const Ticket next = window.waiting.front();
    window.waiting.pop_front();
    enter(next, now);
  }
}

std::vector<Ticket> Simulation::advance(SimulatedTime now) {
  while (!events_.empty() && events_.top().time <= now) {
    const Event event = events_.top();
    events_.pop();
    go_on(event.ticket, event.time);
  }
  return std::exchange(done_, {});
}

std::optional<SimulatedTime> Simulation::next() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().time;
}

void Simulation::set_slowness(std::int32_t ost, double factor, SimulatedTime now) {
  Station& station = stations_[station_of_ost(ost)];
  station.slowness = factor;
  start(station, now);
}

}  // namespace nacre::testbed
