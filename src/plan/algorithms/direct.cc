// direct: each rank accesses the file by itself, without an exchange.
#include "plan/algorithms/algorithm_table.h"

namespace nacre::plan {

const AlgorithmRow direct_row{Algorithm::direct, "direct", DomainsOf::none, RoundOrder::file,
                              [](CollectivePlan&, const PlanInputs&) {}};

}  // namespace nacre::plan
