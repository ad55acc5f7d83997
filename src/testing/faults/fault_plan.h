// Faults and delays on command: what is to go wrong, on which rank and when.
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

/// What is counted. `counter` is every call on a shared counter, making and attaching included.
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
};

/// The nth such call of the rank, from 1, over all its files that the fault is for.
struct NthCall {
  StoreCall operation = StoreCall::write;
  std::int64_t nth = 1;
  std::int64_t short_bytes = 0;  ///< read, write: moved before the error
};
/// A transfer whose range holds the byte; what lies before it is moved.
struct TouchedByte {
  std::int64_t offset = 0;
  std::optional<StoreCall> only;  ///< read or write; nothing: both
};
/// The transfer that would take the bytes moved by the rank past `bytes`; up to there they are
/// moved.
struct MovedBytes {
  std::int64_t bytes = 0;
  std::optional<StoreCall> only;  ///< read or write; nothing: both, added up
};

struct Fault {
  std::optional<int> rank;  ///< nothing: every rank
  std::string path_part;    ///< only files with this in their path
  std::variant<NthCall, TouchedByte, MovedBytes> trigger;
  int system_errno = 0;  ///< becomes the Error as one of the system's would
  bool repeats = false;  ///< also at every later call that meets the trigger; else once
};

/// Reads and writes of the rank end no sooner than a SlowLink of its own has them end. The file is
/// then as one over a network: several may write it at once.
struct Delay {
  std::optional<int> rank;
  std::string path_part;
  std::int64_t latency_microseconds = 0;
  std::int64_t bytes_per_second = 0;  ///< 0: no limit
};

struct FaultPlan {
  std::vector<Fault> faults;
  std::vector<Delay> delays;
};

/// A plan from one line: rules separated by ';', each a list of key=value separated by ','.
///   rank=N  path=TEXT           which rank and files; without them all
///   OPERATION=N                 at the Nth call, from 1; OPERATION as in `enum StoreCall`
///   byte=OFFSET | after=BYTES   at a byte of the file | once so many are moved
///   on=read|write               with byte, after: that direction only
///   short=BYTES                 with read=N, write=N: moved before the error
///   repeat=1                    also from then on
///   errno=ENOSPC                what a fault fails with: a name or a number
///   latency_us=N  bandwidth=N   a delay instead of a fault: microseconds of each read and write,
///                               bytes per second of all that are under way
/// E.g. "rank=2,write=3,errno=ENOSPC;rank=0,byte=1048576,errno=EIO". Pure. A spec that is not
/// understood is ErrorClass::arg, with the rule and what is wrong with it.
[[nodiscard]] Result<FaultPlan> parse_fault_plan(std::string_view spec);

}  // namespace nacre::testing

#endif  // NACRE_TESTING_FAULTS_FAULT_PLAN_H_
