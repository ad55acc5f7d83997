// What the system says of this process.
#ifndef NACRE_STORE_SYSTEM_PROCESS_H_
#define NACRE_STORE_SYSTEM_PROCESS_H_

#include <string>
#include <vector>

namespace nacre::store {

/// Empty if the system does not say.
[[nodiscard]] std::string host_name();

/// The command line of this process: the program and its arguments. Arguments behind the first 4
/// KiB are left out. Empty if /proc is not mounted.
[[nodiscard]] std::vector<std::string> command_line();

/// The process that started this one, as "HOST:PID:START": no other process of a cluster has the
/// same. Empty if /proc is not mounted.
[[nodiscard]] std::string parent_process();

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_PROCESS_H_
