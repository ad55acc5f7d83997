// Scratch: memory that is used again and again and never cleared.
#ifndef NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_
#define NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/checked_cast.h"
#include "base/result.h"

namespace nacre::collective {

class Scratch {
 public:
  /// `bytes` bytes of unknown content; what was given before is gone.
  [[nodiscard]] std::span<std::byte> take(std::int64_t bytes) {
    if (bytes > size_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<std::byte[]>(checked_cast<std::size_t>(bytes));
      size_ = bytes;
    }
    return {data_.get(), checked_cast<std::size_t>(bytes)};
  }
  /// The same, of amounts as large as the program's data: ErrorClass::no_mem where there is not so
  /// much. `purpose`, for the message: "to ...".
  [[nodiscard]] Result<std::span<std::byte>> try_take(std::int64_t bytes,
                                                      const std::string& purpose) {
    if (bytes > size_) {
      data_.reset(new (std::nothrow) std::byte[checked_cast<std::size_t>(bytes)]);
      size_ = data_ != nullptr ? bytes : 0;
    }
    if (bytes <= size_) return take(bytes);
    return Error{ErrorClass::no_mem, 0,
                 "no memory for " + std::to_string(bytes) + " bytes " + purpose +
                     "; smaller accesses take less"};
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::int64_t size_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_SCRATCH_H_
