// Machine: what the testbed plays, its parts and what they cost.
#ifndef NACRE_TESTBED_MACHINE_H_
#define NACRE_TESTBED_MACHINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "testbed/layout_rules.h"

namespace nacre::testbed {

/// Something that bytes go through one request after the other.
struct Channel {
  std::int64_t bandwidth = 0;  ///< bytes a second; 0: takes no time
  /// How much longer a request takes for each further node that has requests there at the time,
  /// as a part of what it takes: the cost of multiplexing.
  double client_cost = 0;
};

/// All of it can be set by name (set_machine), from a TOML file or the command line.
struct Machine {
  // Client nodes, each with a mount and a link, and what they keep.
  std::int64_t nodes = 2;
  Channel node_link = {};
  std::int64_t rpc_bytes = 4 << 20;     ///< of a request to an OST at most
  std::int64_t rpcs_in_flight = 8;      ///< of a node to an OST
  std::int64_t dirty_bytes = 32 << 20;  ///< written and not yet on the OST, of a node and OST
  std::int64_t read_bytes = 8 << 20;    ///< of reads that follow each other, asked for ahead
  // Links that nodes share, dealt to them in turn; 0: none.
  std::int64_t uplinks = 0;
  Channel uplink = {};
  // Servers, each with a link, that OSTs are dealt to in turn; 0: none.
  std::int64_t osts_per_server = 0;
  Channel server_link = {};
  // OSTs.
  std::int64_t osts = 8;
  Channel ost = {};
  std::int64_t ost_latency_us = 0;  ///< of a request, beside its bytes
  std::int64_t ost_threads = 16;    ///< requests served at once; their bytes go one by one
  std::int64_t ost_fallocate = 1;   ///< 0: OSTs refuse fallocate, after the node raised its size
  // Locks.
  std::int64_t lock_latency_us = 0;  ///< of a message to a lock server or from it
  std::int64_t wide_locks = 1;       ///< granted as wide as can be; 0: as asked for
  // Files that ask for nothing.
  std::int64_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;

  [[nodiscard]] std::int64_t servers() const {
    return osts_per_server == 0 ? 0 : (osts + osts_per_server - 1) / osts_per_server;
  }
  [[nodiscard]] StripingDefaults striping() const {
    return {static_cast<std::int32_t>(osts), static_cast<std::int32_t>(stripe_count), stripe_size};
  }
};

/// Sets what is called "SECTION.KEY" in a machine file; the error names what there is, or what is
/// right.
[[nodiscard]] Status set_machine(Machine& machine, std::string_view name, std::string_view value);
/// Reads the text of a machine file over what `machine` is; `path` is for errors.
[[nodiscard]] Status read_machine(Machine& machine, const std::string& text,
                                  const std::string& path);
/// Every setting's name, what it is and its value, a line each.
[[nodiscard]] std::string describe_machine(Machine machine);

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_MACHINE_H_
