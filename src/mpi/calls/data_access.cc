// All data accesses of MPI-IO go through one function, access().
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/checked_cast.h"
#include "mpi/calls/calls.h"
#include "mpi/datatypes/datatype.h"
#include "mpi/datatypes/device_memory.h"
#include "mpi/handles/errors.h"
#include "mpi/handles/requests.h"
#include "mpi/progress/progress.h"

namespace nacre::mpi {
namespace {

/// The access in Nacre's terms, or why it is not possible. Local.
Result<file::Access> access_of(File& file, const AccessCall& call,
                               const AccessArguments& arguments) {
  if (arguments.count < 0) {
    return Error{
        ErrorClass::count, 0,
        "the count of the data access is " + std::to_string(arguments.count) + "; pass 0 or more"};
  }
  if (is_device_memory(arguments.buffer)) {
    return Error{
        ErrorClass::buffer, 0,
        "the buffer of the data access is in GPU memory; copy it to host memory, or use managed "
        "memory"};
  }
  const auto decoded = decode(arguments.datatype);
  if (!decoded) return decoded.error();
  const auto bytes = checked_multiply<std::int64_t>((*decoded)->map.size(), arguments.count);
  if (!bytes || !plan::copies_fit((*decoded)->map, arguments.count)) {
    return Error{ErrorClass::count, 0,
                 "the data access has count " + std::to_string(arguments.count) +
                     ", with which the datatype's size or extent exceeds 64 bits"};
  }
  std::shared_ptr<file::Converter> converter;
  if (file.converts()) {
    auto made = make_converter(file.representation(), call.direction, arguments.datatype);
    if (!made) return made.error();
    converter = *std::move(made);
  }
  return file::Access{call.direction,
                      call.position,
                      arguments.offset,
                      {static_cast<std::byte*>(arguments.buffer), (*decoded)->map, *bytes},
                      std::move(converter)};
}

/// Takes part in a collective access without data.
file::Access empty_access(const AccessCall& call, const AccessArguments& arguments) {
  return {call.direction, call.position, arguments.offset, {}, nullptr};
}

int conclude(File& file, const AccessArguments& arguments, const file::Outcome& outcome) {
  set_status(arguments.status, outcome.bytes);
  return outcome.error ? raise(file.handle(), *outcome.error) : MPI_SUCCESS;
}

int return_request(File& file, const std::shared_ptr<PendingAccess>& access, MPI_Request* request) {
  const Result<MPI_Request> made = make_request(file.shared_from_this(), access);
  if (!made) return raise(file.handle(), made.error());
  *request = *made;
  return MPI_SUCCESS;
}

int independent(File& file, const AccessCall& call, const AccessArguments& arguments,
                Result<file::Access> access) {
  if (!access) return raise(file.handle(), access.error());
  file::Outcome outcome = file.open_file().transfer(*std::move(access));
  if (call.timing == Timing::blocking) return conclude(file, arguments, outcome);
  return return_request(file, std::make_shared<PendingAccess>(std::move(outcome)),
                        arguments.request);
}

int collective_access(File& file, const AccessCall& call, const AccessArguments& arguments,
                      Result<file::Access> access) {
  std::optional<Error> refusal;
  if (!access) refusal = access.error();
  file::Access asked = access ? *std::move(access) : empty_access(call, arguments);
  asked.alone = call.timing == Timing::blocking && has_no_other_activity();
  collective::Task<file::Outcome> task =
      file.open_file().transfer_all(std::move(asked), std::move(refusal));
  collective::Transport& transport = file.open_file().transport();
  if (call.timing == Timing::blocking) {
    return conclude(file, arguments, file.queue().run(std::move(task), transport));
  }
  auto pending = std::make_shared<PendingAccess>(std::move(task), transport);
  int status = MPI_SUCCESS;
  if (call.timing == Timing::split_begin) {
    file.split = SplitAccess{call, pending};
  } else {
    status = return_request(file, pending, arguments.request);
  }
  file.queue().start(std::move(pending));
  watch(file.shared_queue());
  return status;
}

int end_split(File& file, const AccessCall& call, const AccessArguments& arguments) {
  std::optional<SplitAccess> split;
  {
    const std::lock_guard guard(file.split_mutex);
    if (file.split && file.split->call.direction == call.direction &&
        file.split->call.position == call.position) {
      std::swap(split, file.split);
    }
  }
  if (!split) {
    return raise(
        file.handle(),
        {ErrorClass::unsupported_operation, 0,
         "the file has no split collective of this routine in progress; call the _begin of "
         "the same routine first"});
  }
  file.queue().finish(*split->access);
  return conclude(file, arguments, split->access->outcome());
}

}  // namespace

int access(File& file, const AccessCall& call, const AccessArguments& arguments) {
  if (call.timing == Timing::split_end) return end_split(file, call, arguments);
  Result<file::Access> asked = access_of(file, call, arguments);
  if (!call.collective) return independent(file, call, arguments, std::move(asked));
  if (call.timing != Timing::split_begin) {
    return collective_access(file, call, arguments, std::move(asked));
  }
  std::unique_lock guard(file.split_mutex);
  if (!file.split) return collective_access(file, call, arguments, std::move(asked));
  guard.unlock();  // the error handler may end the split collective
  return raise(file.handle(), {ErrorClass::unsupported_operation, 0,
                               "the file already has a split collective in progress; call its _end "
                               "first"});
}

}  // namespace nacre::mpi
