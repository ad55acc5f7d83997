// Result<T>: a value or an Error, returned by value. No exception crosses a floor of this library.
#ifndef NACRE_BASE_RESULT_H_
#define NACRE_BASE_RESULT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace nacre {

/// The error classes of MPI-IO (MPI-4.1, 14.7) and the general error classes that file access can
/// return, without mpi.h. Only src/mpi translates them to the numbers of the MPI library.
enum class ErrorClass : std::uint8_t {
  access,
  amode,
  arg,
  bad_file,
  buffer,
  comm,
  conversion,
  count,
  dup_datarep,
  file,
  file_exists,
  file_in_use,
  info,
  info_value,
  internal,
  io,
  no_mem,
  no_space,
  no_such_file,
  not_same,
  other,
  quota,
  read_only,
  request,
  type,
  unsupported_datarep,
  unsupported_operation,
  value_too_large,
};

/// An error, described so that a user can act on it.
struct Error {
  ErrorClass error_class = ErrorClass::other;
  /// errno of the failed system call; 0 if no system call failed.
  int system_errno = 0;
  /// One line that names the file or argument, its value and the valid values, for example
  /// "open /scratch/run1/x.h5: no such file or directory".
  std::string message;
};

/// A T, or the Error that occurred instead.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

}  // namespace nacre

#endif  // NACRE_BASE_RESULT_H_
