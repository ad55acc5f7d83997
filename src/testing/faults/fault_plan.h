// FaultPlan: the faults and delays to inject, each with its rank, files and calls.
#ifndef NACRE_TESTING_FAULTS_FAULT_PLAN_H_
#define NACRE_TESTING_FAULTS_FAULT_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace nacre::testing {

/// The calls that faults count. `counter`: all calls on a shared counter, including its creation
/// and opening. `layout`: calls that set or change the layout of an open file.
enum class StoreCall : std::uint8_t {
  open,
  read,
  write,
  resize,
  allocate,
  sync,
  close,
  lock,
  remove,
  counter,
  layout,       ///< changes it
  read_layout,  ///< reads it, or the number of targets
  size,
  check_locks,
  write_locks,  ///< a group lock, narrow locks, or locks ahead of writes
};

/// As in a plan.
[[nodiscard]] std::string_view name_of(StoreCall operation);

/// The errno of a fault that ends the process with SIGKILL.
inline constexpr int kills_process = -1;

/// The rank's nth call (from 1) of this operation, counted over all files of the fault.
struct NthCall {
  StoreCall operation = StoreCall::write;
  std::int64_t nth = 1;
  std::int64_t short_bytes = 0;  ///< read, write: transferred before the error
};
/// A read or write whose range contains the byte. It transfers the bytes before this byte.
struct TouchedByte {
  std::int64_t offset = 0;
  std::optional<StoreCall> only;  ///< read or write; nullopt: both
};
/// The read or write with which the rank's total of transferred bytes would exceed `bytes`. It
/// transfers the bytes up to this total.
struct MovedBytes {
  std::int64_t bytes = 0;
  std::optional<StoreCall> only;  ///< read or write; nullopt: the total of both
};

struct Fault {
  std::optional<int> rank;  ///< nullopt: every rank
  std::string path_part;    ///< only files whose path contains this
  std::variant<NthCall, TouchedByte, MovedBytes> trigger;
  int system_errno = 0;  ///< of the injected Error, or kills_process
  bool repeats = false;  ///< fails all calls that meet the trigger; else only the first
};

/// Delays the rank's reads and writes by a SlowLink, separate for each Delay and rank. The files
/// then report one_writer_per_node = false, like files on a network.
struct Delay {
  std::optional<int> rank;
  std::string path_part;
  std::int64_t latency_microseconds = 0;
  std::int64_t bytes_per_second = 0;  ///< 0: unlimited
};

struct FaultPlan {
  std::vector<Fault> faults;
  std::vector<Delay> delays;
};

/// Parses a plan in one line: rules separated by ';', each a list of key=value separated by ','.
///   rank=N  path=TEXT           only this rank; only files with TEXT in their path
///   OPERATION=N                 the Nth call, from 1; OPERATION as in `enum StoreCall`
///   byte=OFFSET | after=BYTES   a byte of the file | a total of transferred bytes
///   on=read|write               with byte, after: only this direction
///   short=BYTES                 with read=N, write=N: transferred before the error
///   repeat=1                    also at all later calls that meet the trigger
///   errno=ENOSPC                the error of a fault: a name or a number
///   kill=1                      instead of errno: the process ends, as if it was killed
///   latency_us=N  bandwidth=N   a delay instead of a fault: microseconds per read and write,
///                               bytes per second of all reads and writes in flight
/// E.g. "rank=2,write=3,errno=ENOSPC;rank=0,byte=1048576,errno=EIO". Pure. An invalid
/// rule is ErrorClass::arg, with a message that quotes the rule.
[[nodiscard]] Result<FaultPlan> parse_fault_plan(std::string_view spec);

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULT_PLAN_H_
