// Fault: what goes wrong in a simulated program.
#ifndef NACRE_TESTS_SIMULATION_FAULTS_H_
#define NACRE_TESTS_SIMULATION_FAULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace nacre::simulation {

/// Calls of the store fail.
struct StoreFault {
  std::string rule;  ///< of testing::parse_fault_plan()
};

/// A fault of an OST, or the eviction of a node, at a moment of the job.
struct ServerFault {
  std::int64_t at_nanoseconds = 0;
  std::string words;                 ///< of sim::parse_fault()
  std::optional<std::int32_t> node;  ///< of an eviction
};

/// A call of the store, the nth of a rank (from 1), begins late, or pauses.
struct LateCall {
  int rank = 0;
  std::int64_t nth = 1;
  std::int64_t nanoseconds = 0;
  /// A read or write moves half of its bytes before the pause: the system moved fewer bytes than it
  /// was asked for, and the store continues. Other calls begin late.
  bool is_in_two_parts = false;
};

/// Each message, and each ring of a rank, comes up to this much later.
struct LateMessages {
  std::int64_t nanoseconds_max = 0;
};

/// An allocation fails, the nth (from 1): of memory that the ranks of a node share (each creates it
/// or attaches it), or of those that the library allocates for data and whose failure it handles.
struct RefusedMemory {
  bool is_shared = true;
  std::int64_t nth = 1;
  bool repeats = false;  ///< and all later ones
};

/// Another process, on a node of the job, does something with the first file at a moment of the
/// job.
struct Intrusion {
  enum class Act : std::uint8_t {
    read,              ///< reads all, which calls locks back
    set_layout,        ///< sets a layout if the file has none
    add_component,     ///< completes the layout
    remove_unwritten,  ///< removes the components without objects
    migrate,           ///< moves the data to another layout
  };
  Act act = Act::read;
  std::int64_t at_nanoseconds = 0;
  std::int32_t node = 0;
  std::string layout;  ///< options of `lfs setstripe`
};

using Fault =
    std::variant<StoreFault, ServerFault, LateCall, LateMessages, RefusedMemory, Intrusion>;

/// In words.
[[nodiscard]] std::string described(const Fault& fault);
/// The classes of the errors with which calls may fail because of it. None: it only makes calls
/// slow.
[[nodiscard]] std::vector<ErrorClass> error_classes_of(const Fault& fault);
/// The node that it needs; none: it does not depend on nodes.
[[nodiscard]] std::optional<std::int32_t> node_of(const Fault& fault);
/// Whether writes may be lost because of it before a sync.
[[nodiscard]] bool loses_writes(const Fault& fault);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_FAULTS_H_
