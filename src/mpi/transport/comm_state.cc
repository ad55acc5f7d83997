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
#include "store/memory/memory_domain.h"

namespace nacre::mpi {
namespace {

using Shared = std::shared_ptr<CommState>;

int delete_state(MPI_Comm, int, void* value, void*) {
  delete static_cast<Shared*>(value);
  return MPI_SUCCESS;
}

/// The key lives as long as the process: an MPI may call delete_state at its very end.
int state_key() {
  static const int key = create_comm_key(delete_state);
  return key;
}

/// Polls while the MPI makes the duplicate: other ranks may arrive here only after their pending
/// accesses, which need this rank. COMM_NULL if the MPI fails.
MPI_Comm duplicate_of(MPI_Comm comm) {
  const Native& mpi = native();
  MPI_Comm duplicate = mpi.COMM_NULL;
  int size = 0;
  mpi.Comm_size(comm, &size);
  if (size == 1) {
    // No rank to wait for. In programs that use only Sessions, MPICH 4.0's progress crashes here.
    return mpi.Comm_dup(comm, &duplicate) == MPI_SUCCESS ? duplicate : mpi.COMM_NULL;
  }
  MPI_Request request = mpi.REQUEST_NULL;
  int status = mpi.Comm_idup(comm, &duplicate, &request);
  int done = 0;
  poll_until([&] {
    if (status == MPI_SUCCESS) status = mpi.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0 || status != MPI_SUCCESS;
  });
  return status == MPI_SUCCESS ? duplicate : mpi.COMM_NULL;
}

/// NACRE_TEST_RANKS_PER_NODE: the ranks of each emulated node; 0 if it is not set. The same on all
/// ranks.
Result<int> emulated_ranks_per_node() {
  const char* const text = std::getenv("NACRE_TEST_RANKS_PER_NODE");
  if (text == nullptr) return 0;
  const auto ranks = parse_number<int>(text);
  if (ranks && *ranks >= 1) return *ranks;
  return Error{ErrorClass::info_value, 0,
               "environment variable NACRE_TEST_RANKS_PER_NODE is \"" + std::string(text) +
                   "\"; set it to a whole number of at least 1, or unset it"};
}

/// Ranks of one domain run in one kernel and see one shared-memory file system. (Containers on one
/// host may have equal host names and different shared-memory file systems.)
std::uint64_t memory_domain_of(int rank, int ranks_per_node) {
  const std::uint64_t domain = store::shared_memory_domain();
  if (domain == 0 || ranks_per_node == 0) return domain;
  return fnv_hash(std::to_string(domain) + '/' + std::to_string(rank / ranks_per_node));
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int never_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

}  // namespace

int create_comm_key(MPI_Comm_delete_attr_function* on_delete) {
  int key = MPI_KEYVAL_INVALID;
  // MPI_COMM_NULL_COPY_FN would be an undefined symbol of libmpi.
  native().Comm_create_keyval(never_copy, on_delete, &key, nullptr);
  return key;
}

Result<Shared> CommState::of(MPI_Comm comm) {
  const Native& mpi = native();
  if (comm == mpi.COMM_NULL)
    return Error{ErrorClass::comm, 0,
                 "MPI_File_open: the communicator is MPI_COMM_NULL; pass an intracommunicator"};
  void* found_state = nullptr;
  int found = 0;
  mpi.Comm_get_attr(comm, state_key(), static_cast<void*>(&found_state), &found);
  if (found != 0) return *static_cast<Shared*>(found_state);

  int inter = 0;
  mpi.Comm_test_inter(comm, &inter);
  if (inter != 0) {
    return Error{
        ErrorClass::comm, 0,
        "MPI_File_open: the communicator is an intercommunicator; pass an intracommunicator"};
  }
  const Result<int> ranks_per_node = emulated_ranks_per_node();
  if (!ranks_per_node) return ranks_per_node.error();
  const MPI_Comm duplicate = duplicate_of(comm);
  if (duplicate == mpi.COMM_NULL) {
    return Error{ErrorClass::comm, 0,
                 "MPI_File_open: the MPI could not duplicate the communicator"};
  }
  // If the network breaks, the MPI ends the program, whatever handler its communicator has.
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

/// Collective. Ranks of one memory domain are a node if they all find the memory that they create
/// together.
void CommState::find_nodes(const Shared& state, int ranks_per_node) {
  MpiTransport transport(state, control_tag);
  const auto run = [&](auto task) { return collective::run_to_end(std::move(task), transport); };
  const int rank = state->rank_;
  const std::uint64_t domain = memory_domain_of(rank, ranks_per_node);
  plan::NodeMap nodes = run(collective::agree_on_nodes(transport, domain));
  std::vector<int> node_ranks = nodes.ranks_on(nodes.node_of(rank));
  const bool alone = node_ranks.size() == 1;
  std::optional<store::SharedMemory> memory;
  if (!alone) {
    const std::int64_t bytes =
        collective::NodeBoard::bytes_needed(checked_cast<int>(node_ranks.size()));
    memory = run(collective::share_memory(transport, node_ranks, bytes));
  }
  const bool all_share = run(collective::all_same(transport, memory || alone ? 1 : rank + 2));
  if (!all_share) nodes = run(collective::agree_on_nodes(transport, memory ? domain : 0));
  state->nodes_ = std::move(nodes);
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
                 "MPI_File_open: the communicator has " + std::to_string(tags_in_use_.size()) +
                     " open files, as many as the MPI has tags; close files, or duplicate the "
                     "communicator"};
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
