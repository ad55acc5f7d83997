// The MPI_Request of a nonblocking access: a generalized request that ends when the access does.
// Its error goes to the file's handler when the program completes it.
#ifndef NACRE_MPI_HANDLES_REQUESTS_H_
#define NACRE_MPI_HANDLES_REQUESTS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "mpi/handles/file_handle.h"
#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

/// A request for `access` on `file`. To be made before the access is queued. The request is the
/// program's.
[[nodiscard]] Result<MPI_Request> make_request(const std::shared_ptr<File>& file,
                                               const std::shared_ptr<PendingAccess>& access);

/// Writes what an access transferred into `status`, unless that is MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, std::int64_t bytes);

/// Some request of ours has not been completed by the program yet. One relaxed load.
[[nodiscard]] bool requests_outstanding();

/// What the program is about to complete: which of `requests` are ours, remembered across the MPI's
/// call that sets them to MPI_REQUEST_NULL. While it lives, errors of ours stay out of the MPI's
/// hands.
class Completion {
 public:
  explicit Completion(std::span<const MPI_Request> requests);
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion();

  /// MPI_SUCCESS, or the code of request `index` after its file's handler has seen it.
  [[nodiscard]] int raise(std::size_t index) const;
  /// Request `index` is ours and its access failed.
  [[nodiscard]] bool failed(std::size_t index) const;

 private:
  struct PendingRequest {
    std::shared_ptr<File> file;
    std::shared_ptr<PendingAccess> access;
  };
  std::vector<PendingRequest> pending_;  // by index; empty where none is ours
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_REQUESTS_H_
