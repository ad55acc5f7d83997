// Conversion to and from external32.
#ifndef NACRE_FILE_CONVERSION_EXTERNAL32_H_
#define NACRE_FILE_CONVERSION_EXTERNAL32_H_

#include <memory>

#include "file/conversion/converter.h"
#include "plan/types/type_signature.h"

namespace nacre::file {

/// A converter for accesses whose memory datatype has this signature.
[[nodiscard]] std::shared_ptr<Converter> external32_converter(plan::TypeSignature signature);

}  // namespace nacre::file

#endif  // NACRE_FILE_CONVERSION_EXTERNAL32_H_
