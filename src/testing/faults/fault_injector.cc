#include "testing/faults/fault_injector.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace nacre::testing {
namespace {

bool is_part_of(const std::string& path_part, const std::string& path) {
  return path.find(path_part) != std::string::npos;
}

bool is_transfer(StoreCall operation) {
  return operation == StoreCall::read || operation == StoreCall::write;
}

}  // namespace

FaultInjector::FaultInjector(FaultPlan plan, int rank, FaultObserver observer)
    : observer_(std::move(observer)) {
  const auto is_mine = [&](const auto& rule) { return !rule.rank || *rule.rank == rank; };
  for (Fault& fault : plan.faults) {
    if (is_mine(fault)) faults_.push_back({std::move(fault)});
  }
  for (Delay& delay : plan.delays) {
    if (!is_mine(delay)) continue;
    const std::chrono::microseconds latency(delay.latency_microseconds);
    delays_.push_back({std::move(delay.path_part), {latency, delay.bytes_per_second}});
  }
}

std::optional<int> FaultInjector::count_call(StoreCall operation, const std::string& path) {
  const std::optional<TransferFault> fault = count_transfer(operation, path, {});
  if (!fault) return std::nullopt;
  return fault->system_errno;
}

std::optional<TransferFault> FaultInjector::count_transfer(StoreCall operation,
                                                           const std::string& path,
                                                           const Extent& range) {
  std::optional<TransferFault> fault = find_fault({operation, range}, path);
  if (fault && observer_) observer_(operation);
  return fault;
}

std::optional<TransferFault> FaultInjector::find_fault(const Call& call, const std::string& path) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::optional<TransferFault> first;
  for (Counted& counted : faults_) {
    if (!is_part_of(counted.fault.path_part, path)) continue;
    const std::optional<std::int64_t> bytes = bytes_before_fault(counted, call);
    if (!bytes) continue;
    if (!first || *bytes < first->bytes) first = {*bytes, counted.fault.system_errno};
  }
  return first;
}

bool FaultInjector::delays(const std::string& path) const {
  return std::ranges::any_of(
      delays_, [&](const Delayed& delayed) { return is_part_of(delayed.path_part, path); });
}

SlowLink::Time FaultInjector::end_of_transfer(const std::string& path, std::int64_t bytes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  SlowLink::Time end = std::chrono::steady_clock::now();
  for (Delayed& delayed : delays_) {
    if (is_part_of(delayed.path_part, path)) end = delayed.link.end_of(end, bytes);
  }
  return end;
}

std::optional<std::int64_t> FaultInjector::bytes_before_fault(Counted& counted, const Call& call) {
  const std::optional<std::int64_t> bytes =
      std::visit([&](const auto& trigger) { return bytes_before_fault(counted, trigger, call); },
                 counted.fault.trigger);
  if (!bytes || (counted.fired && !counted.fault.repeats)) return std::nullopt;
  counted.fired = true;
  return bytes;
}

std::optional<std::int64_t> FaultInjector::bytes_before_fault(Counted& counted,
                                                              const NthCall& trigger,
                                                              const Call& call) {
  if (call.operation != trigger.operation || ++counted.calls < trigger.nth) return std::nullopt;
  return std::min(trigger.short_bytes, call.range.length);
}

std::optional<std::int64_t> FaultInjector::bytes_before_fault(Counted&, const TouchedByte& trigger,
                                                              const Call& call) {
  if (!is_transfer(call.operation)) return std::nullopt;
  if (trigger.only && *trigger.only != call.operation) return std::nullopt;
  if (!call.range.contains(trigger.offset)) return std::nullopt;
  return trigger.offset - call.range.offset;
}

std::optional<std::int64_t> FaultInjector::bytes_before_fault(Counted& counted,
                                                              const MovedBytes& trigger,
                                                              const Call& call) {
  if (!is_transfer(call.operation)) return std::nullopt;
  if (trigger.only && *trigger.only != call.operation) return std::nullopt;
  const std::int64_t left = std::max<std::int64_t>(0, trigger.bytes - counted.bytes);
  counted.bytes += std::min(left, call.range.length);
  if (call.range.length <= left) return std::nullopt;
  return left;
}

}  // namespace nacre::testing
