// Small text files: configuration in, reports out.
#ifndef NACRE_STORE_TEXT_FILE_H_
#define NACRE_STORE_TEXT_FILE_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace nacre::store {

/// The contents of the file, or nothing where there is none. Errors as open's and read's; a file of
/// more than 1 MiB is refused.
[[nodiscard]] Result<std::optional<std::string>> read_text_file(const std::string& path);

/// Appends `text` in one write, so that lines of several processes do not mix; makes the file where
/// there is none.
[[nodiscard]] Status append_text(const std::string& path, const std::string& text);

}  // namespace nacre::store

#endif  // NACRE_STORE_TEXT_FILE_H_
