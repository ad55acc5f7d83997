// The serial oracle: what a file holds, what an access of a view touches, and what a buffer must
// look like. Everything is byte by byte; nothing here calls MPI.
#ifndef NACRE_TESTS_DIFFERENTIAL_ORACLE_H_
#define NACRE_TESTS_DIFFERENTIAL_ORACLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "types.h"

namespace differential {

/// The view of one rank.
struct View {
  std::int64_t displacement = 0;
  Type etype;
  Type filetype;
  std::string representation = "native";

  /// Where data byte `index` of the view lies in the file.
  [[nodiscard]] std::int64_t file_offset(std::int64_t index) const;
  /// Data bytes of the view that lie before `size`: where a read meets the end of the file.
  [[nodiscard]] std::int64_t bytes_before(std::int64_t size) const;
};

/// `count` elements of a memory datatype in a buffer with room around them.
struct Buffer {
  std::vector<unsigned char> bytes;
  std::int64_t origin = 0;         ///< index of the address that MPI is given
  std::vector<std::int64_t> data;  ///< index in `bytes` of each data byte, in data order
  std::vector<std::int64_t>
      swapped;  ///< index in data order of the byte that external32 puts there
  std::vector<std::int64_t> element_end;  ///< data bytes up to the end of each basic element

  Buffer(const Type& type, std::int64_t count);
  /// Every byte, holes and margins too, takes the value that says "not touched".
  void clear();
  /// Fills the data bytes with what `tag` says; different tags give different bytes.
  void fill(std::uint64_t tag);
};

constexpr unsigned char untouched_byte = 0xA5;

class FileModel {
 public:
  /// `zero_holes`: bytes that nobody wrote read as zero, as POSIX has it and MPI does not promise.
  explicit FileModel(bool zero_holes) : zero_holes_(zero_holes) {}

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  void resize(std::int64_t size);
  void reserve(std::int64_t size);

  /// Begins a step: writes of different writers in one step to the same byte leave it undetermined.
  void begin_step() { stamps_.clear(); }
  /// `data` byte i goes to the view's data byte `first` + i.
  void write(const View& view, std::int64_t first, const std::vector<unsigned char>& data,
             int writer);

  [[nodiscard]] unsigned char at(std::int64_t offset) const {
    return bytes_[static_cast<std::size_t>(offset)];
  }
  [[nodiscard]] bool determined(std::int64_t offset) const {
    return known_[static_cast<std::size_t>(offset)];
  }

 private:
  bool zero_holes_;
  std::vector<unsigned char> bytes_;
  std::vector<bool> known_;
  std::vector<int> stamps_;  ///< writer of each byte in this step, or 0
};

/// The data bytes of a buffer as they stand in the file.
std::vector<unsigned char> to_file(const Buffer& buffer, const std::string& representation);

/// How many of `bytes` data bytes from a memory datatype's origin on are whole basic elements: what
/// a read that converts can deliver before the end of the file.
std::int64_t whole_elements(const Type& memory, std::int64_t bytes);

/// Empty, or the first difference between what was read and what the file must have given: `bytes`
/// data bytes from the view's data byte `first`, and nothing touched outside the datatype.
std::string compare_read(const FileModel& file, const View& view, std::int64_t first,
                         const Buffer& buffer, std::int64_t bytes);

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_ORACLE_H_
