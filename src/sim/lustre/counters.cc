#include "sim/lustre/counters.h"

#include <functional>
#include <utility>

namespace nacre::sim {
namespace {

void add_bytes(Traffic& traffic, std::int64_t bytes, plan::Direction direction) {
  ++traffic.requests;
  (direction == plan::Direction::write ? traffic.bytes_written : traffic.bytes_read) += bytes;
}

using Column = std::pair<std::string, std::function<std::int64_t(const Traffic&)>>;

/// JSON of the columns that OSTs and nodes have in common, and of `more`.
std::string columns_of(const std::vector<Traffic>& traffic, const std::vector<Column>& more) {
  std::string text = "{";
  const auto add = [&](const std::string& name,
                       const std::function<std::int64_t(const Traffic&)>& value_of) {
    text += (text.size() > 1 ? ",\"" : "\"") + name + "\":[";
    for (const Traffic& one : traffic) text += std::to_string(value_of(one)) + ",";
    text.back() = ']';
  };
  add("bytes_written", &Traffic::bytes_written);
  add("bytes_read", &Traffic::bytes_read);
  add("requests", &Traffic::requests);
  add("lock_grants", &Traffic::lock_grants);
  add("lock_callbacks", &Traffic::lock_callbacks);
  for (const auto& [name, value_of] : more) add(name, value_of);
  return text + "}";
}

}  // namespace

void Counters::count_request(const Rpc& rpc, plan::Direction direction) {
  add_bytes(of_ost(rpc.ost), rpc.bytes, direction);
  add_bytes(of_node(rpc.node), rpc.bytes, direction);
  of_ost(rpc.ost).peers.insert(rpc.node);
  of_node(rpc.node).peers.insert(rpc.ost);
}

void Counters::count_grant(std::int32_t node, std::int32_t ost) {
  ++of_ost(ost).lock_grants;
  ++of_node(node).lock_grants;
}

void Counters::count_callback(std::int32_t node, std::int32_t ost) {
  ++of_ost(ost).lock_callbacks;
  ++of_node(node).lock_callbacks;
}

std::int64_t Counters::bytes() const {
  std::int64_t sum = 0;
  for (const Traffic& ost : osts_) sum += ost.bytes_written + ost.bytes_read;
  return sum;
}

void Counters::set_queue_time(std::int32_t ost, SimulatedTime queued) {
  of_ost(ost).queue_us = queued / microsecond;
}

std::string Counters::json() const {
  const auto peer_count = [](const Traffic& one) { return std::ssize(one.peers); };
  const std::string osts =
      columns_of(osts_, {{"clients", peer_count}, {"queue_us", &Traffic::queue_us}});
  return R"({"osts":)" + osts + R"(,"nodes":)" + columns_of(nodes_, {{"osts", peer_count}}) + "}";
}

}  // namespace nacre::sim
