// Bytes for tests, and short functions to read and write them.
#ifndef NACRE_TESTS_UNIT_STORE_BYTES_H_
#define NACRE_TESTS_UNIT_STORE_BYTES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace nacre::store::fixtures {

inline constexpr OpenOptions to_create{.read = true, .write = true, .create = true};
inline constexpr OpenOptions to_read{.read = true};
inline constexpr OpenOptions to_write{.write = true};
inline constexpr OpenOptions to_update{.read = true, .write = true};

inline Transfer write_text(StoreFile& file, std::string_view text, std::int64_t offset) {
  const std::array pieces{WritePiece{reinterpret_cast<const std::byte*>(text.data()),
                                     static_cast<std::int64_t>(text.size())}};
  return file.write(pieces, offset);
}

/// Reads at most `bytes` bytes from `offset` on; shorter at the end of the file.
inline std::string read_text(StoreFile& file, std::int64_t bytes, std::int64_t offset) {
  std::string text(static_cast<std::size_t>(bytes), '?');
  const std::array pieces{ReadPiece{reinterpret_cast<std::byte*>(text.data()), bytes}};
  const Transfer done = file.read(pieces, offset);
  if (done.error) return "error: " + done.error->message;
  text.resize(static_cast<std::size_t>(done.bytes));
  return text;
}

}  // namespace nacre::store::fixtures

#endif  // NACRE_TESTS_UNIT_STORE_BYTES_H_
