#include "store/path.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <system_error>

namespace nacre::store {
namespace {

constexpr std::array<std::string_view, 13> kernel_prefixes{
    "ufs",   "nfs", "xfs", "lustre", "gpfs", "panfs",     "pfs",
    "piofs", "hfs", "sfs", "bg",     "bgl",  "bglockless"};
constexpr std::array<std::string_view, 10> library_prefixes{
    "pvfs", "pvfs2", "daos", "ime", "zoidfs", "unifyfs", "quobyte", "testfs", "ftp", "gsiftp"};

/// ASCII only, independent of the locale.
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return word == prefix ||
           std::equal(word.begin(), word.end(), prefix.begin(), prefix.end(),
                      [](char given, char lower) { return given == to_upper(lower); });
  });
}

}  // namespace

Result<std::string> strip_prefix(std::string_view path) {
  const std::size_t colon = path.find(':');
  if (colon == std::string_view::npos) return std::string(path);
  const std::string_view prefix = path.substr(0, colon);
  const bool by_kernel = is_one_of(prefix, kernel_prefixes);
  if (!by_kernel && !is_one_of(prefix, library_prefixes)) return std::string(path);

  const std::string_view rest = path.substr(colon + 1);
  if (rest.empty()) {
    return Error{ErrorClass::bad_file, 0,
                 "open " + std::string(path) + ": no file name follows the prefix"};
  }
  if (by_kernel) return std::string(rest);
  return Error{
      ErrorClass::unsupported_operation, 0,
      "open " + std::string(path) + ": \"" + std::string(prefix) +
          ":\" needs a library that Nacre does not use; name the file by its path on a mount "
          "of that file system, or set nacre_enable=false to use the MPI's own MPI-IO"};
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string absolute_path(std::string path) {
  if (path.starts_with('/')) return path;
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::current_path(error);
  return error ? path : (directory / path).string();
}

}  // namespace nacre::store
