#include "mpi/handles/errors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "mpi/handles/errhandlers.h"

namespace nacre::mpi {
namespace {

/// Codes per class before the first is used again: enough for a program that collects the errors of
/// a few operations before it asks for their strings.
constexpr std::size_t codes_per_class = 16;

/// Never destroyed: programs ask for error strings in their exit handlers.
struct CodeTable {
  struct Ring {
    std::vector<int> codes;
    std::size_t next = 0;
  };
  std::mutex mutex;
  std::map<int, Ring> rings;
  std::map<int, std::string> strings;
};

CodeTable& table() {
  static auto* instance = new CodeTable;
  return *instance;
}

/// The next code of the ring, made by the MPI while the ring grows. The class itself where the MPI
/// makes no more codes.
int next_code(CodeTable::Ring& ring, int error_class) {
  if (ring.codes.size() < codes_per_class) {
    int code = 0;
    if (native().Add_error_code(error_class, &code) == MPI_SUCCESS) {
      ring.codes.push_back(code);
      return code;
    }
  }
  if (ring.codes.empty()) return error_class;
  return ring.codes[ring.next++ % ring.codes.size()];
}

}  // namespace

int class_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::access:
      return MPI_ERR_ACCESS;
    case ErrorClass::amode:
      return MPI_ERR_AMODE;
    case ErrorClass::arg:
      return MPI_ERR_ARG;
    case ErrorClass::bad_file:
      return MPI_ERR_BAD_FILE;
    case ErrorClass::buffer:
      return MPI_ERR_BUFFER;
    case ErrorClass::comm:
      return MPI_ERR_COMM;
    case ErrorClass::conversion:
      return MPI_ERR_CONVERSION;
    case ErrorClass::count:
      return MPI_ERR_COUNT;
    case ErrorClass::dup_datarep:
      return MPI_ERR_DUP_DATAREP;
    case ErrorClass::file:
      return MPI_ERR_FILE;
    case ErrorClass::file_exists:
      return MPI_ERR_FILE_EXISTS;
    case ErrorClass::file_in_use:
      return MPI_ERR_FILE_IN_USE;
    case ErrorClass::info:
      return MPI_ERR_INFO;
    case ErrorClass::info_value:
      return MPI_ERR_INFO_VALUE;
    case ErrorClass::internal:
      return MPI_ERR_INTERN;
    case ErrorClass::io:
      return MPI_ERR_IO;
    case ErrorClass::no_mem:
      return MPI_ERR_NO_MEM;
    case ErrorClass::no_space:
      return MPI_ERR_NO_SPACE;
    case ErrorClass::no_such_file:
      return MPI_ERR_NO_SUCH_FILE;
    case ErrorClass::not_same:
      return MPI_ERR_NOT_SAME;
    case ErrorClass::other:
      return MPI_ERR_OTHER;
    case ErrorClass::quota:
      return MPI_ERR_QUOTA;
    case ErrorClass::read_only:
      return MPI_ERR_READ_ONLY;
    case ErrorClass::request:
      return MPI_ERR_REQUEST;
    case ErrorClass::type:
      return MPI_ERR_TYPE;
    case ErrorClass::unsupported_datarep:
      return MPI_ERR_UNSUPPORTED_DATAREP;
    case ErrorClass::unsupported_operation:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorClass::value_too_large:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_OTHER;
}

int code_of(const Error& error) {
  const int error_class = class_of(error.error_class);
  CodeTable& codes = table();
  const std::lock_guard guard(codes.mutex);
  const int code = next_code(codes.rings[error_class], error_class);
  codes.strings[code] = error.message;
  return code;
}

int raise(MPI_File handle, const Error& error) {
  const int code = code_of(error);
  call_errhandler(handle, code, error.message);
  return code;
}

int raise_if_failed(MPI_File handle, const Status& status) {
  return status ? MPI_SUCCESS : raise(handle, status.error());
}

int error_string(int code, char* string, int* length) {
  {
    CodeTable& codes = table();
    const std::lock_guard guard(codes.mutex);
    if (const auto found = codes.strings.find(code); found != codes.strings.end()) {
      const std::size_t size =
          std::min<std::size_t>(found->second.size(), MPI_MAX_ERROR_STRING - 1);
      std::memcpy(string, found->second.data(), size);
      string[size] = '\0';
      *length = static_cast<int>(size);
      return MPI_SUCCESS;
    }
  }
  return native().Error_string(code, string, length);
}

}  // namespace nacre::mpi
