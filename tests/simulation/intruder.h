// Another process that accesses the file of a simulated job.
#ifndef NACRE_TESTS_SIMULATION_INTRUDER_H_
#define NACRE_TESTS_SIMULATION_INTRUDER_H_

#include <string>

#include "faults.h"
#include "sim/job/job.h"

namespace nacre::simulation {

/// Starts the process, which does nothing if the file does not exist at that time. The time of
/// `intrusion` counts from now. `job` and
/// `intrusion` must outlive its run.
void start_intruder(sim::Job& job, const Intrusion& intrusion, const std::string& path);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_INTRUDER_H_
