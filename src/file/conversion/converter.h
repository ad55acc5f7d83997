// Converter: converts data between memory and the file's data representation.
#ifndef NACRE_FILE_CONVERSION_CONVERTER_H_
#define NACRE_FILE_CONVERSION_CONVERTER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "plan/types/memory_access.h"
#include "plan/types/type_signature.h"

namespace nacre::file {

/// Implemented over plan::TypeSignature for external32, and in src/mpi for registered data
/// representations. The stream in the file is packed. A conversion covers whole elements of the
/// memory type (copies of MemoryAccess::type), which all have one size in the file; only a read
/// that reaches the end of the file may have a part of an element. A large access is converted in
/// several calls, each with its part of the memory.
class Converter {
 public:
  virtual ~Converter() = default;
  /// The size in the file of `native_bytes` (whole elements) of memory.
  [[nodiscard]] virtual Result<std::int64_t> file_bytes(std::int64_t native_bytes) = 0;
  /// Converts all data bytes of `memory` to `file`. file.size() = file_bytes(...).
  [[nodiscard]] virtual Status to_file(const plan::MemoryAccess& memory,
                                       std::span<std::byte> file) = 0;
  /// The part of the first `file_bytes` that can be converted: whole basic elements, as
  /// MPI_Get_elements counts them. Some representations convert only whole elements of the memory
  /// type.
  [[nodiscard]] virtual plan::StreamPart whole_part(std::int64_t file_bytes) = 0;
  /// Converts the whole part of `file` to the beginning of `memory`.
  [[nodiscard]] virtual Status from_file(const plan::MemoryAccess& memory,
                                         std::span<const std::byte> file) = 0;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_CONVERSION_CONVERTER_H_
