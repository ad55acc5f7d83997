// The MPI_Request of a nonblocking access: a generalized request that completes with the access.
// The call that completes the request passes the access's error to the file's error handler.
#ifndef NACRE_MPI_HANDLES_REQUESTS_H_
#define NACRE_MPI_HANDLES_REQUESTS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "mpi/handles/file_handle.h"
#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

struct RequestedAccess {
  std::shared_ptr<File> file;
  std::shared_ptr<PendingAccess> access;
};

/// A request for `access` on `file`, which the program completes. To be made before the access is
/// queued.
[[nodiscard]] Result<MPI_Request> make_request(const std::shared_ptr<File>& file,
                                               const std::shared_ptr<PendingAccess>& access);

/// Writes the size of a transfer into `status`, unless that is MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, std::int64_t bytes);

/// The program has yet to complete a request of Nacre's. One relaxed load.
[[nodiscard]] bool requests_outstanding();

/// Nacre's requests among `requests`, which the program is about to complete: the MPI's call sets
/// them to MPI_REQUEST_NULL. While a Completion lives, Nacre does not pass errors of accesses to
/// the MPI.
class Completion {
 public:
  /// `waits`: the call returns when all of them have completed.
  explicit Completion(std::span<const MPI_Request> requests, bool waits = false);
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion();

  /// Passes the error of request `index` to its file's error handler and returns its code;
  /// MPI_SUCCESS if the request is not Nacre's, or its access succeeded.
  [[nodiscard]] int raise(std::size_t index) const;

 private:
  std::vector<RequestedAccess> accesses_;  // by index; null if the request is the MPI's
  bool waits_;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_REQUESTS_H_
