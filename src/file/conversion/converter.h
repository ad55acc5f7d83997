// Converter: what turns a user's data into its form in the file and back.
#ifndef NACRE_FILE_CONVERSION_CONVERTER_H_
#define NACRE_FILE_CONVERSION_CONVERTER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "plan/types/memory_access.h"
#include "plan/types/type_signature.h"

namespace nacre::file {

/// Implemented over plan::TypeSignature for external32 and in src/mpi for registered data
/// representations. File streams are packed; a conversion covers whole elements of the memory type
/// (copies of MemoryAccess::type), all of one size in the file. Only a read that met the end of the
/// file has a part of one. A large access is converted in several calls, each with the part of the
/// memory that it is about.
class Converter {
 public:
  virtual ~Converter() = default;
  /// Bytes in the file of what is `native_bytes` (whole elements) in memory.
  [[nodiscard]] virtual Result<std::int64_t> file_bytes(std::int64_t native_bytes) = 0;
  /// All data bytes of `memory` as they are to stand in the file. file.size() = file_bytes(...).
  [[nodiscard]] virtual Status to_file(const plan::MemoryAccess& memory,
                                       std::span<std::byte> file) = 0;
  /// What of the first `file_bytes` in the file can be converted: whole basic elements, as
  /// MPI_Get_elements counts them (a representation may have to stop short of that, at whole
  /// elements of the memory type).
  [[nodiscard]] virtual plan::StreamPart whole_part(std::int64_t file_bytes) = 0;
  /// The way back, for the beginning of `memory`: the whole part of what `file` holds.
  [[nodiscard]] virtual Status from_file(const plan::MemoryAccess& memory,
                                         std::span<const std::byte> file) = 0;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_CONVERSION_CONVERTER_H_
