#include "mpi/calls/progress_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "mpi/calls/calls.h"
#include "mpi/handles/requests.h"
#include "mpi/progress/progress.h"

namespace nacre::mpi {
namespace {

/// Calls `wait`, or, while accesses are pending, polls them between calls of `test`, which sets its
/// argument when it is done. Both return the MPI's code.
template <class Wait, class Test>
int wait_or_poll(Wait wait, Test test) {
  if (!must_poll_while_waiting()) return wait();
  int status = MPI_SUCCESS;
  poll_until([&] {
    int done = 0;
    status = test(&done);
    return done != 0 || status != MPI_SUCCESS;
  });
  return status;
}

std::span<const MPI_Request> as_span(int count, const MPI_Request requests[]) {
  return {requests, static_cast<std::size_t>(std::max(count, 0))};
}

/// Raises the error of each access that has failed. Returns the code of a call that completes
/// several requests: MPI_ERR_IN_STATUS, or the first error if there are no statuses.
int conclude_many(const Completion& completion, int code, std::span<const int> indices,
                  MPI_Status* statuses) {
  int outcome = code;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int failure = completion.raise(static_cast<std::size_t>(indices[i]));
    if (failure == MPI_SUCCESS) continue;
    if (statuses == MPI_STATUSES_IGNORE) {
      if (outcome == MPI_SUCCESS) outcome = failure;
      continue;
    }
    if (outcome == MPI_SUCCESS) {
      for (std::size_t k = 0; k < indices.size(); ++k) statuses[k].MPI_ERROR = MPI_SUCCESS;
    }
    statuses[i].MPI_ERROR = failure;
    outcome = MPI_ERR_IN_STATUS;
  }
  return outcome;
}

std::vector<int> all_indices(int count) {
  std::vector<int> indices(static_cast<std::size_t>(std::max(count, 0)));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// As conclude_many(), for the calls that complete some requests and return their indices.
int conclude_some(const Completion& completion, int code, int count, const int indices[],
                  MPI_Status* statuses) {
  if (count == MPI_UNDEFINED) return code;
  return conclude_many(completion, code, {indices, static_cast<std::size_t>(count)}, statuses);
}

int conclude_one(const Completion& completion, int code, int index) {
  if (code != MPI_SUCCESS || index == MPI_UNDEFINED) return code;
  return completion.raise(static_cast<std::size_t>(index));
}

}  // namespace

bool progress_needed() { return requests_outstanding() || must_poll_while_waiting(); }

int progress_wait(MPI_Request* request, MPI_Status* status) {
  const Completion completion(as_span(1, request), true);
  return conclude_one(completion, progress_finish(request, status), 0);
}

int progress_test(MPI_Request* request, int* flag, MPI_Status* status) {
  const Completion completion(as_span(1, request));
  poll_all();
  const int code = native().Test(request, flag, status);
  return *flag != 0 ? conclude_one(completion, code, 0) : code;
}

int progress_request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const Completion completion(as_span(1, &request));
  poll_all();
  return native().Request_get_status(request, flag, status);
}

int progress_waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  const Completion completion(as_span(count, requests), true);
  const int code =
      wait_or_poll([&] { return native().Waitall(count, requests, statuses); },
                   [&](int* done) { return native().Testall(count, requests, done, statuses); });
  return conclude_many(completion, code, all_indices(count), statuses);
}

int progress_testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
  const Completion completion(as_span(count, requests));
  poll_all();
  const int code = native().Testall(count, requests, flag, statuses);
  return *flag != 0 ? conclude_many(completion, code, all_indices(count), statuses) : code;
}

int progress_waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const Completion completion(as_span(count, requests));
  const int code = wait_or_poll(
      [&] { return native().Waitany(count, requests, index, status); },
      [&](int* done) { return native().Testany(count, requests, index, done, status); });
  return conclude_one(completion, code, *index);
}

int progress_testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const Completion completion(as_span(count, requests));
  poll_all();
  const int code = native().Testany(count, requests, index, flag, status);
  return *flag != 0 ? conclude_one(completion, code, *index) : code;
}

int progress_waitsome(int count, MPI_Request requests[], int* completed, int indices[],
                      MPI_Status* statuses) {
  const Completion completion(as_span(count, requests));
  *completed = 0;  // an MPI that refuses the call does not set it
  const int code = wait_or_poll(
      [&] { return native().Waitsome(count, requests, completed, indices, statuses); },
      [&](int* done) {
        const int status = native().Testsome(count, requests, completed, indices, statuses);
        *done = *completed != 0 ? 1 : 0;  // MPI_UNDEFINED: no request is active
        return status;
      });
  return conclude_some(completion, code, *completed, indices, statuses);
}

int progress_testsome(int count, MPI_Request requests[], int* completed, int indices[],
                      MPI_Status* statuses) {
  const Completion completion(as_span(count, requests));
  poll_all();
  *completed = 0;
  const int code = native().Testsome(count, requests, completed, indices, statuses);
  return conclude_some(completion, code, *completed, indices, statuses);
}

int progress_finish(MPI_Request* request, MPI_Status* status) {
  return wait_or_poll([&] { return native().Wait(request, status); },
                      [&](int* done) { return native().Test(request, done, status); });
}

int progress_sendrecv(const Message& send, const Message& receive, MPI_Comm comm,
                      MPI_Status* status) {
  MPI_Request incoming = native().REQUEST_NULL;
  MPI_Request outgoing = native().REQUEST_NULL;
  int code = native().Irecv(receive.buffer, receive.count, receive.datatype, receive.peer,
                            receive.tag, comm, &incoming);
  if (code != MPI_SUCCESS) return code;
  code =
      native().Isend(send.buffer, send.count, send.datatype, send.peer, send.tag, comm, &outgoing);
  if (code == MPI_SUCCESS) code = progress_finish(&outgoing, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) return progress_finish(&incoming, status);
  // As in MPI_Sendrecv of the MPI, nothing may arrive later.
  native().Cancel(&incoming);
  progress_finish(&incoming, MPI_STATUS_IGNORE);
  return code;
}

int progress_sendrecv_replace(const Message& send, const Message& receive, MPI_Comm comm,
                              MPI_Status* status) {
  const auto without_progress = [&] {
    return native().Sendrecv_replace(send.buffer, send.count, send.datatype, send.peer, send.tag,
                                     receive.peer, receive.tag, comm, status);
  };
  // Sends a copy: MPI_PACKED matches any type of the receiver. MPI_Pack counts bytes in an int.
  constexpr std::int64_t copied_bytes_max = 1 << 30;
  int element_bytes = 0;
  int code = native().Type_size(send.datatype, &element_bytes);
  if (code != MPI_SUCCESS) return code;
  const bool is_large =
      element_bytes == MPI_UNDEFINED || std::int64_t{element_bytes} * send.count > copied_bytes_max;
  if (is_large) return without_progress();
  int size = 0;
  code = native().Pack_size(send.count, send.datatype, comm, &size);
  if (code != MPI_SUCCESS) return code;
  const std::unique_ptr<std::byte[]> packed(new (std::nothrow)
                                                std::byte[static_cast<std::size_t>(size)]);
  if (packed == nullptr) return without_progress();
  int packed_size = 0;
  code =
      native().Pack(send.buffer, send.count, send.datatype, packed.get(), size, &packed_size, comm);
  if (code != MPI_SUCCESS) return code;
  const Message copy{packed.get(), packed_size, native().PACKED, send.peer, send.tag};
  return progress_sendrecv(copy, receive, comm, status);
}

int progress_iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  poll_all();
  return native().Iprobe(source, tag, comm, flag, status);
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int progress_improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                     MPI_Status* status) {
  poll_all();
  return native().Improbe(source, tag, comm, flag, message, status);
}

int progress_probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return wait_or_poll([&] { return native().Probe(source, tag, comm, status); },
                      [&](int* done) { return native().Iprobe(source, tag, comm, done, status); });
}

int progress_mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return wait_or_poll(
      [&] { return native().Mprobe(source, tag, comm, message, status); },
      [&](int* done) { return native().Improbe(source, tag, comm, done, message, status); });
}

int progress_finalize() {
  finish_all_pending();
  const int code = native().Finalize();
  warn_of_unreported_files();
  return code;
}

}  // namespace nacre::mpi
