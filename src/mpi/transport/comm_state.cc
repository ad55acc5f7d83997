#include "mpi/transport/comm_state.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "base/fnv_hash.h"
#include "base/parse_number.h"
#include "collective/agreement/agreements.h"
#include "collective/node/node_memory.h"
#include "mpi/progress/progress.h"
#include "mpi/transport/mpi_transport.h"
#include "store/memory_domain.h"

namespace nacre::mpi {
namespace {

using Shared = std::shared_ptr<CommState>;

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int never_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int delete_state(MPI_Comm, int, void* value, void*) {
  delete static_cast<Shared*>(value);
  return MPI_SUCCESS;
}

/// Never destroyed with the process: an MPI may call delete_state at its very end.
int state_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    // A duplicate of the communicator makes a state of its own at its first open. (The MPI's own
    // MPI_COMM_NULL_COPY_FN would be an undefined symbol of libmpi.)
    native().Comm_create_keyval(never_copy, delete_state, &made, nullptr);
    return made;
  }();
  return key;
}

/// A duplicate, made so that pending accesses go on meanwhile: other ranks may come here only after
/// theirs have ended. COMM_NULL where the MPI has none to give.
MPI_Comm duplicate_of(MPI_Comm comm) {
  const Native& mpi = native();
  MPI_Comm duplicate = mpi.COMM_NULL;
  int size = 0;
  mpi.Comm_size(comm, &size);
  if (size == 1) {
    // Nobody to wait for. MPICH 4.0's progress crashes where one process uses only Sessions.
    return mpi.Comm_dup(comm, &duplicate) == MPI_SUCCESS ? duplicate : mpi.COMM_NULL;
  }
  MPI_Request request = mpi.REQUEST_NULL;
  int status = mpi.Comm_idup(comm, &duplicate, &request);
  if (status != MPI_SUCCESS) return mpi.COMM_NULL;
  poll_until([&] {
    int done = 0;
    status = mpi.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0 || status != MPI_SUCCESS;
  });
  return status == MPI_SUCCESS ? duplicate : mpi.COMM_NULL;
}

/// NACRE_TEST_RANKS_PER_NODE plays nodes of so many ranks each; 0: it does not. The same on all
/// ranks.
Result<int> played_ranks_per_node() {
  const char* const text = std::getenv("NACRE_TEST_RANKS_PER_NODE");
  if (text == nullptr) return 0;
  const std::string_view digits(text);
  const auto ranks = parse_number<int>(digits);
  if (ranks && *ranks >= 1) return *ranks;
  return Error{ErrorClass::info_value, 0,
               "variable NACRE_TEST_RANKS_PER_NODE has the value \"" + std::string(digits) +
                   "\"; it takes a whole number of at least 1"};
}

/// Ranks may share memory if they run in one kernel and see one shared-memory file system:
/// containers on one host have equal names but not always the latter.
std::uint64_t memory_domain_of(int rank, int ranks_per_node) {
  const std::uint64_t domain = store::shared_memory_domain();
  if (domain == 0 || ranks_per_node == 0) return domain;
  return fnv_hash(std::to_string(domain) + '/' + std::to_string(rank / ranks_per_node));
}

}  // namespace

Result<Shared> CommState::of(MPI_Comm comm) {
  const Native& mpi = native();
  if (comm == mpi.COMM_NULL) return Error{ErrorClass::comm, 0, "the communicator is MPI_COMM_NULL"};
  void* found_state = nullptr;
  int found = 0;
  mpi.Comm_get_attr(comm, state_key(), static_cast<void*>(&found_state), &found);
  if (found != 0) return *static_cast<Shared*>(found_state);

  int inter = 0;
  mpi.Comm_test_inter(comm, &inter);
  if (inter != 0) {
    return Error{ErrorClass::comm, 0,
                 "a file is opened on an intercommunicator; it takes an intracommunicator"};
  }
  const Result<int> ranks_per_node = played_ranks_per_node();
  if (!ranks_per_node) return ranks_per_node.error();
  const MPI_Comm duplicate = duplicate_of(comm);
  if (duplicate == mpi.COMM_NULL) {
    return Error{ErrorClass::comm, 0, "the MPI could not duplicate the communicator of the file"};
  }
  // A broken network is the MPI's to report, whatever handler the program's communicator has.
  mpi.Comm_set_errhandler(duplicate, mpi.ERRORS_ARE_FATAL);
  Shared state(new CommState(duplicate));
  find_nodes(state, *ranks_per_node);
  auto* attribute = new Shared(state);
  if (mpi.Comm_set_attr(comm, state_key(), attribute) != MPI_SUCCESS) delete attribute;
  return state;
}

CommState::CommState(MPI_Comm duplicate) : comm_(duplicate) {
  const Native& mpi = native();
  mpi.Comm_rank(comm_, &rank_);
  mpi.Comm_size(comm_, &size_);
  void* value = nullptr;
  int found = 0;
  mpi.Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&value), &found);
  if (found != 0) tag_max_ = *static_cast<int*>(value);
  nodes_ = plan::NodeMap::singles(size_);
  tree_ = plan::tree_of_nodes(nodes_, rank_);
}

/// Collective. Those that look like a node are one if they find the memory that they make together.
void CommState::find_nodes(const Shared& state, int ranks_per_node) {
  MpiTransport transport(state, control_tag);
  const int rank = state->rank_;
  const std::uint64_t domain = memory_domain_of(rank, ranks_per_node);
  const plan::NodeMap candidates =
      collective::run_to_end(collective::agree_on_nodes(transport, domain), transport);
  std::vector<int> node_ranks = candidates.ranks_on(candidates.node_of(rank));
  std::optional<store::SharedMemory> memory;
  if (node_ranks.size() > 1) {
    const std::int64_t bytes =
        collective::NodeBoard::bytes_needed(checked_cast<int>(node_ranks.size()));
    memory =
        collective::run_to_end(collective::share_memory(transport, node_ranks, bytes), transport);
  }
  // A node of one rank needs none.
  const bool shares = memory || node_ranks.size() == 1;
  const bool all_share =
      collective::run_to_end(collective::all_same(transport, shares ? 1 : rank + 2), transport);
  state->nodes_ = all_share
                      ? candidates
                      : collective::run_to_end(
                            collective::agree_on_nodes(transport, memory ? domain : 0), transport);
  state->tree_ = plan::tree_of_nodes(state->nodes_, rank);
  if (memory) {
    state->short_messages_ =
        std::make_shared<ShortMessages>(*std::move(memory), std::move(node_ranks), rank);
  }
}

CommState::~CommState() {
  // An MPI that is already shutting down frees its communicators itself.
  if (!mpi_is_finalizing()) native().Comm_free(&comm_);
}

Result<int> CommState::choose_tag() {
  const std::lock_guard guard(mutex_);
  if (tags_in_use_.size() >= static_cast<std::size_t>(tag_max_ - control_tag)) {
    return Error{ErrorClass::other, 0,
                 "the communicator has " + std::to_string(tags_in_use_.size()) +
                     " open files, as many as the MPI has tags"};
  }
  while (tags_in_use_.contains(next_tag_)) {
    next_tag_ = next_tag_ == tag_max_ ? control_tag + 1 : next_tag_ + 1;
  }
  const int chosen = next_tag_;
  next_tag_ = chosen == tag_max_ ? control_tag + 1 : chosen + 1;
  return chosen;
}

void CommState::reserve_tag(int tag) {
  const std::lock_guard guard(mutex_);
  tags_in_use_.insert(tag);
}

void CommState::release_tag(int tag) {
  const std::lock_guard guard(mutex_);
  tags_in_use_.erase(tag);
}

}  // namespace nacre::mpi
