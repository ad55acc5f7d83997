#include "calls.h"

#include <dlfcn.h>

namespace differential {
namespace {

std::string stem_of(const Call& call) {
  std::string name = call.timing == Timing::nonblocking ? "MPI_File_i" : "MPI_File_";
  name += call.write ? "write" : "read";
  switch (call.position) {
    case Position::at:
      name += "_at";
      break;
    case Position::individual:
      break;
    case Position::shared:
      return name + "_shared";
    case Position::ordered:
      return name + "_ordered";
  }
  return call.collective ? name + "_all" : name;
}

template <typename Function>
Function symbol(const std::string& name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name.c_str()));
}

template <typename Count>
int start_as(const Call& call, const Arguments& arguments, void* completion) {
  const auto count = static_cast<Count>(arguments.count);
  const std::string name = name_of(call);
  if (call.position == Position::at) {
    using Routine = int (*)(MPI_File, MPI_Offset, void*, Count, MPI_Datatype, void*);
    const auto routine = symbol<Routine>(name);
    return routine == nullptr ? -1
                              : routine(arguments.file, arguments.offset, arguments.buffer, count,
                                        arguments.datatype, completion);
  }
  using Routine = int (*)(MPI_File, void*, Count, MPI_Datatype, void*);
  const auto routine = symbol<Routine>(name);
  return routine == nullptr
             ? -1
             : routine(arguments.file, arguments.buffer, count, arguments.datatype, completion);
}

}  // namespace

std::string name_of(const Call& call) {
  std::string name = stem_of(call);
  name += call.timing == Timing::split ? "_begin" : "";
  return call.large_count ? name + "_c" : name;
}

int start(const Call& call, const Arguments& arguments, void* completion) {
  return call.large_count ? start_as<MPI_Count>(call, arguments, completion)
                          : start_as<int>(call, arguments, completion);
}

int finish(const Call& call, const Arguments& arguments, MPI_Status* status) {
  using Routine = int (*)(MPI_File, void*, MPI_Status*);
  const auto routine = symbol<Routine>(stem_of(call) + "_end");
  return routine == nullptr ? -1 : routine(arguments.file, arguments.buffer, status);
}

}  // namespace differential
