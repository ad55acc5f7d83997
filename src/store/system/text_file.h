// Small text files: configuration files and reports.
#ifndef NACRE_STORE_SYSTEM_TEXT_FILE_H_
#define NACRE_STORE_SYSTEM_TEXT_FILE_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace nacre::store {

/// The contents of the file; nothing if it does not exist. Fails if it cannot be read or is larger
/// than 1 MiB.
[[nodiscard]] Result<std::optional<std::string>> read_text_file(const std::string& path);

/// The same, empty if there is no such file or it cannot be read.
[[nodiscard]] std::string text_or_empty(const std::string& path);

/// Appends `text` with one write, so that lines of several processes do not mix. Creates the file
/// if it does not exist.
[[nodiscard]] Status append_text(const std::string& path, const std::string& text);

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_TEXT_FILE_H_
