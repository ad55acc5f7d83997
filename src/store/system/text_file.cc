#include "store/system/text_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/system/descriptor.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {
constexpr std::size_t text_size_max = 1 << 20;
}  // namespace

Result<std::optional<std::string>> read_text_file(const std::string& path) {
  const Descriptor file(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.valid() && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  if (!file.valid()) return error_from_errno(errno, "open", path);
  std::string text;
  while (text.size() <= text_size_max) {
    char chunk[4096];
    const ssize_t size =
        retry_interrupted([&] { return ::read(file.number(), chunk, sizeof chunk); });
    if (size < 0) return error_from_errno(errno, "read", path);
    if (size == 0) return std::optional(std::move(text));
    text.append(chunk, static_cast<std::size_t>(size));
  }
  return Error{ErrorClass::bad_file, 0, "read " + path + ": more than 1 MiB of text"};
}

std::string text_or_empty(const std::string& path) {
  const Result<std::optional<std::string>> text = read_text_file(path);
  return text ? text->value_or("") : std::string();
}

Status append_text(const std::string& path, const std::string& text) {
  const Descriptor file(retry_interrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666); }));
  if (!file.valid()) return error_from_errno(errno, "open", path);
  // A report that reaches the limit on file sizes must not kill the program.
  const FileSizeSignalGuard guard;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = retry_interrupted(
        [&] { return ::write(file.number(), text.data() + done, text.size() - done); });
    if (size < 0) return error_from_errno(errno, "write", path);
    done += static_cast<std::size_t>(size);
  }
  return {};
}

}  // namespace nacre::store
