// One rank of a node that acts for the others.
#ifndef NACRE_COLLECTIVE_NODE_FIRST_ON_NODE_H_
#define NACRE_COLLECTIVE_NODE_FIRST_ON_NODE_H_

#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// Whether this rank is the lowest candidate of its node. Collective over the ranks of the node: it
/// returns on the chosen rank after all of them have called it.
Task<bool> is_first_on_node(Transport& transport, bool is_candidate);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_NODE_FIRST_ON_NODE_H_
