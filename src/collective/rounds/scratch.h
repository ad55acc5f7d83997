// Scratch: a buffer that is reused and never cleared.
#ifndef NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_
#define NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "base/checked_cast.h"
#include "base/result.h"

namespace nacre::collective {

class Scratch {
 public:
  /// `bytes` bytes of undefined content. Invalidates the result of the last call.
  [[nodiscard]] std::span<std::byte> take(std::int64_t bytes) {
    if (bytes > size_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<std::byte[]>(checked_cast<std::size_t>(bytes));
      size_ = bytes;
    }
    return {data_.get(), checked_cast<std::size_t>(bytes)};
  }
  /// As take(), for sizes that depend on the program's data or on hints: fails with
  /// ErrorClass::no_mem if the memory cannot be allocated. For the message: `purpose` ("to ..."),
  /// and what to do.
  [[nodiscard]] Result<std::span<std::byte>> try_take(
      std::int64_t bytes, std::string_view purpose,
      std::string_view advice = "move fewer bytes in each call, in smaller elements") {
    if (bytes > size_) {
      data_.reset(new (std::nothrow) std::byte[checked_cast<std::size_t>(bytes)]);
      size_ = data_ != nullptr ? bytes : 0;
    }
    if (bytes <= size_) return take(bytes);
    return Error{ErrorClass::no_mem, 0,
                 "cannot allocate " + std::to_string(bytes) + " bytes " + std::string(purpose) +
                     ": out of memory; " + std::string(advice)};
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::int64_t size_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_
