#include "mpi/handles/requests.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "mpi/handles/errors.h"

namespace nacre::mpi {
namespace {

struct Tracked : RequestedAccess {
  MPI_Request request;
};

/// Never destroyed: the MPI may free requests at its very end.
struct RequestTable {
  std::mutex mutex;
  std::unordered_map<MPI_Request, Tracked*> tracked;
  std::atomic<int> outstanding = 0;
};

RequestTable& table() {
  static auto* instance = new RequestTable;
  return *instance;
}

/// Calls in which this thread completes requests and delivers their errors itself.
thread_local int completions_under_way = 0;

int query(void* state, MPI_Status* status) {
  const auto* tracked = static_cast<Tracked*>(state);
  const file::Outcome& outcome = tracked->access->outcome();
  set_status(status, outcome.bytes);
  if (!outcome.error || completions_under_way > 0) return MPI_SUCCESS;
  return code_of(*outcome.error);
}

int release(void* state) {
  auto* tracked = static_cast<Tracked*>(state);
  RequestTable& requests = table();
  {
    const std::lock_guard guard(requests.mutex);
    requests.tracked.erase(tracked->request);
  }
  requests.outstanding.fetch_sub(1, std::memory_order_relaxed);
  delete tracked;
  return MPI_SUCCESS;
}

/// Nacre does not cancel file accesses: they complete, as the standard allows.
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

Result<MPI_Request> make_request(const std::shared_ptr<File>& file,
                                 const std::shared_ptr<PendingAccess>& access) {
  auto* tracked = new Tracked{{file, access}, native().REQUEST_NULL};
  if (native().Grequest_start(query, release, cancel, tracked, &tracked->request) != MPI_SUCCESS) {
    delete tracked;
    return Error{
        ErrorClass::internal, 0,
        "MPI_Grequest_start failed: the MPI could not make a request for the nonblocking access"};
  }
  RequestTable& requests = table();
  requests.outstanding.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard guard(requests.mutex);
    requests.tracked[tracked->request] = tracked;
  }
  const MPI_Request request = tracked->request;
  if (access->done()) {
    native().Grequest_complete(request);
  } else {
    access->when_done([request] { native().Grequest_complete(request); });
  }
  return request;
}

void set_status(MPI_Status* status, std::int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  native().Status_set_elements_x(status, native().BYTE, bytes);
  native().Status_set_cancelled(status, 0);
}

bool requests_outstanding() { return table().outstanding.load(std::memory_order_relaxed) > 0; }

Completion::Completion(std::span<const MPI_Request> requests, bool waits)
    : accesses_(requests.size()), waits_(waits) {
  ++completions_under_way;
  RequestTable& all = table();
  const std::lock_guard guard(all.mutex);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto found = all.tracked.find(requests[i]);
    if (found == all.tracked.end()) continue;
    accesses_[i] = *found->second;
    if (waits_) accesses_[i].access->wait_begins();
  }
}

Completion::~Completion() {
  --completions_under_way;
  for (const RequestedAccess& one : accesses_) {
    if (waits_ && one.access != nullptr) one.access->wait_ends();
  }
}

int Completion::raise(std::size_t index) const {
  const auto& [file, access] = accesses_[index];
  if (access == nullptr || !access->done() || !access->outcome().error) return MPI_SUCCESS;
  return mpi::raise(file->handle(), *access->outcome().error);
}

}  // namespace nacre::mpi
