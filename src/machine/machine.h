// Machine: the figures of a cluster and its file system. `nacre tune` measures them, the choice of
// a plan reads them, the testbed emulates them. A machine file (machine_file.h) holds them as text.
#ifndef NACRE_MACHINE_MACHINE_H_
#define NACRE_MACHINE_MACHINE_H_

#include <cstdint>

namespace nacre::machine {

/// A link or an OST: it transfers the bytes of one request at a time.
struct Channel {
  std::int64_t bandwidth = 0;  ///< bytes per second; 0: transfers take no time
  /// The cost of multiplexing: for each further node that has requests there at the same time, a
  /// request takes longer by this fraction of its time.
  double client_cost = 0;
};

/// Trivially copyable, so that one rank can broadcast it. Bandwidths in bytes per second. A cost
/// or bandwidth of 0 costs nothing: it is unknown, or never the bottleneck.
struct Machine {
  // Client nodes. Each has a mount, a link and caches.
  std::int64_t nodes = 2;
  Channel node_link = {};
  std::int64_t rpc_bytes = 4 << 20;     ///< largest request to an OST
  std::int64_t rpcs_in_flight = 8;      ///< of a node to one OST
  std::int64_t dirty_bytes = 32 << 20;  ///< cached writes of a node that are not yet on one OST
  std::int64_t read_bytes = 8 << 20;    ///< read-ahead: bytes of an open file's reads in flight
  std::int64_t cores = 0;               ///< of a node; 0: as many as ranks
  std::int64_t memory_bandwidth = 0;    ///< at which all ranks of a node copy together
  std::int64_t copy_bandwidth = 0;      ///< at which one rank copies
  std::int64_t piece_ns = 0;            ///< of each piece of a copy, in addition to its bytes
  std::int64_t one_computer = 0;        ///< 1: the nodes are emulated on one, and share its cores
  // Messages of MPI.
  std::int64_t near_message_ns = 0;    ///< of a message inside a node
  std::int64_t far_message_ns = 0;     ///< of a message between nodes
  std::int64_t message_bandwidth = 0;  ///< of a node, to and from other nodes
  /// 1: messages between nodes pass the links over which nodes reach the servers.
  std::int64_t messages_share_link = 0;
  // Processes that access the file system.
  std::int64_t write_call_ns = 0;     ///< of a write, in addition to its bytes
  std::int64_t read_call_ns = 0;      ///< of a read, in addition to its bytes
  std::int64_t write_bandwidth = 0;   ///< of one process
  std::int64_t read_bandwidth = 0;    ///< of one process
  std::int64_t write_saturation = 0;  ///< k: bytes of the smallest call that reaches the bandwidth
  std::int64_t read_saturation = 0;
  /// Of each end of a write in a page that another process of the node writes, in addition.
  std::int64_t shared_page_ns = 0;
  std::int64_t one_writer = 0;  ///< 1: the writers of a node to one file take turns
  // Links that nodes share. Nodes are assigned to them in turn. 0: none.
  std::int64_t uplinks = 0;
  Channel uplink = {};
  // Servers, each with a link. OSTs are assigned to them in turn. 0: none.
  std::int64_t osts_per_server = 0;
  Channel server_link = {};
  // OSTs.
  std::int64_t osts = 8;
  Channel ost = {};
  std::int64_t ost_read_bandwidth = 0;  ///< 0: reads are as fast as writes
  std::int64_t ost_latency_us = 0;      ///< of a request, in addition to the transfer
  std::int64_t ost_threads = 16;        ///< requests served at once; transfers are one at a time
  std::int64_t ost_fallocate = 1;       ///< 0: OSTs refuse it; the node still sees the larger size
  // Locks.
  std::int64_t lock_latency_us = 0;  ///< of a message to or from a lock server
  std::int64_t wide_locks = 1;       ///< 1: extended as far as possible; 0: as requested
  // Opens.
  std::int64_t open_us = 0;
  // Files without a requested layout.
  std::int64_t stripe_count = 1;  ///< 0: files have no layouts (not emulated by the testbed)
  std::int64_t stripe_size = 1 << 20;
  /// Not measured: the figures of the OSTs are those of a class of file systems.
  bool is_of_class = false;

  [[nodiscard]] std::int64_t servers() const {
    return osts_per_server == 0 ? 0 : (osts + osts_per_server - 1) / osts_per_server;
  }
  /// An OST that serves reads.
  [[nodiscard]] Channel reading_ost() const {
    return {ost_read_bandwidth > 0 ? ost_read_bandwidth : ost.bandwidth, ost.client_cost};
  }
};

}  // namespace nacre::machine

#endif  // NACRE_MACHINE_MACHINE_H_
