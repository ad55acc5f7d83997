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

/// One row for each ErrorClass, in its order.
struct ClassRow {
  ErrorClass error_class;
  int mpi_class;
};
constexpr std::array class_rows = std::to_array<ClassRow>({
    {ErrorClass::access, MPI_ERR_ACCESS},
    {ErrorClass::amode, MPI_ERR_AMODE},
    {ErrorClass::arg, MPI_ERR_ARG},
    {ErrorClass::bad_file, MPI_ERR_BAD_FILE},
    {ErrorClass::buffer, MPI_ERR_BUFFER},
    {ErrorClass::comm, MPI_ERR_COMM},
    {ErrorClass::conversion, MPI_ERR_CONVERSION},
    {ErrorClass::count, MPI_ERR_COUNT},
    {ErrorClass::dup_datarep, MPI_ERR_DUP_DATAREP},
    {ErrorClass::file, MPI_ERR_FILE},
    {ErrorClass::file_exists, MPI_ERR_FILE_EXISTS},
    {ErrorClass::file_in_use, MPI_ERR_FILE_IN_USE},
    {ErrorClass::info, MPI_ERR_INFO},
    {ErrorClass::info_value, MPI_ERR_INFO_VALUE},
    {ErrorClass::internal, MPI_ERR_INTERN},
    {ErrorClass::io, MPI_ERR_IO},
    {ErrorClass::no_mem, MPI_ERR_NO_MEM},
    {ErrorClass::no_space, MPI_ERR_NO_SPACE},
    {ErrorClass::no_such_file, MPI_ERR_NO_SUCH_FILE},
    {ErrorClass::not_same, MPI_ERR_NOT_SAME},
    {ErrorClass::other, MPI_ERR_OTHER},
    {ErrorClass::quota, MPI_ERR_QUOTA},
    {ErrorClass::read_only, MPI_ERR_READ_ONLY},
    {ErrorClass::request, MPI_ERR_REQUEST},
    {ErrorClass::type, MPI_ERR_TYPE},
    {ErrorClass::unsupported_datarep, MPI_ERR_UNSUPPORTED_DATAREP},
    {ErrorClass::unsupported_operation, MPI_ERR_UNSUPPORTED_OPERATION},
    {ErrorClass::value_too_large, MPI_ERR_OTHER},
});
static_assert(class_rows.back().error_class == ErrorClass::value_too_large);
static_assert(std::ranges::all_of(class_rows, [](const ClassRow& row) {
  return &row == &class_rows[static_cast<std::size_t>(row.error_class)];
}));

/// The MPI's number of a class. The only translation of Nacre's errors into the MPI's.
int class_of(ErrorClass error_class) {
  return class_rows[static_cast<std::size_t>(error_class)].mpi_class;
}

/// Codes of a class before Nacre reuses the first: enough for a program that collects the errors of
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

/// The next code of the ring; a new one while the ring grows. The class itself if the MPI has no
/// code left.
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
