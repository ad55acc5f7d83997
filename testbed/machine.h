// Machine: the cluster that the testbed emulates, its components and their costs.
#ifndef NACRE_TESTBED_MACHINE_H_
#define NACRE_TESTBED_MACHINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "testbed/layout_rules.h"

namespace nacre::testbed {

/// A link or an OST: it transfers the bytes of one request at a time.
struct Channel {
  std::int64_t bandwidth = 0;  ///< bytes per second; 0: transfers take no time
  /// The cost of multiplexing: for each further node that has requests there at the same time, a
  /// request takes longer by this fraction of its time.
  double client_cost = 0;
};

/// Every member can be set by name (set_machine), in a TOML file or on the command line.
struct Machine {
  // Client nodes. Each has a mount, a link and caches.
  std::int64_t nodes = 2;
  Channel node_link = {};
  std::int64_t rpc_bytes = 4 << 20;     ///< largest request to an OST
  std::int64_t rpcs_in_flight = 8;      ///< of a node to one OST
  std::int64_t dirty_bytes = 32 << 20;  ///< cached writes of a node that are not yet on one OST
  std::int64_t read_bytes = 8 << 20;    ///< read-ahead: bytes of an open file's reads in flight
  // Links that nodes share. Nodes are assigned to them in turn. 0: none.
  std::int64_t uplinks = 0;
  Channel uplink = {};
  // Servers, each with a link. OSTs are assigned to them in turn. 0: none.
  std::int64_t osts_per_server = 0;
  Channel server_link = {};
  // OSTs.
  std::int64_t osts = 8;
  Channel ost = {};
  std::int64_t ost_latency_us = 0;  ///< of a request, in addition to the transfer
  std::int64_t ost_threads = 16;    ///< requests served at once; transfers are one at a time
  std::int64_t ost_fallocate = 1;   ///< 0: OSTs refuse it; the node still sees the larger size
  // Locks.
  std::int64_t lock_latency_us = 0;  ///< of a message to or from a lock server
  std::int64_t wide_locks = 1;       ///< 1: extended as far as possible; 0: as requested
  // Files without a requested layout.
  std::int64_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;

  [[nodiscard]] std::int64_t servers() const {
    return osts_per_server == 0 ? 0 : (osts + osts_per_server - 1) / osts_per_server;
  }
  [[nodiscard]] StripingDefaults striping() const {
    return {static_cast<std::int32_t>(osts), static_cast<std::int32_t>(stripe_count), stripe_size};
  }
};

/// Sets the setting that a machine file calls "SECTION.KEY". The error message lists the settings
/// or the valid values.
[[nodiscard]] Status set_machine(Machine& machine, std::string_view name, std::string_view value);
/// Applies the settings in the text of a machine file to `machine`. `path` is for error messages.
[[nodiscard]] Status read_machine(Machine& machine, const std::string& text,
                                  const std::string& path);
/// One line for each setting: its name, value and description.
[[nodiscard]] std::string describe_machine(Machine machine);

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_MACHINE_H_
