// The serial oracle: the contents of a file, the bytes that an access through a view touches, and
// the expected buffer. It works byte by byte and does not call MPI.
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

  /// The file offset of data byte `index` of the view.
  [[nodiscard]] std::int64_t file_offset(std::int64_t index) const;
  /// The number of data bytes of the view before `size`, the end of the file.
  [[nodiscard]] std::int64_t bytes_before(std::int64_t size) const;
};

/// `count` elements of a memory datatype, in a buffer with margins.
struct Buffer {
  std::vector<unsigned char> bytes;
  std::int64_t origin = 0;         ///< index of the address that is passed to MPI
  std::vector<std::int64_t> data;  ///< index in `bytes` of each data byte, in data order
  std::vector<std::int64_t>
      swapped;  ///< index in data order of the byte that external32 puts there
  std::vector<std::int64_t> element_end;  ///< data bytes up to the end of each basic element

  Buffer(const Type& type, std::int64_t count);
  /// Sets every byte, holes and margins included, to the value "not touched".
  void clear();
  /// Fills the data bytes with a pattern. Different tags give different bytes.
  void fill(std::uint64_t tag);
};

constexpr unsigned char untouched_byte = 0xA5;

class FileModel {
 public:
  /// `zero_holes`: unwritten bytes read as zero, as in POSIX; MPI does not require it.
  explicit FileModel(bool zero_holes) : zero_holes_(zero_holes) {}

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  void resize(std::int64_t size);
  void reserve(std::int64_t size);

  /// Begins a step. If several writers write a byte in one step, its value is undetermined.
  void begin_step() { stamps_.clear(); }
  /// Writes byte i of `data` to data byte `first` + i of the view.
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

/// The data bytes of a buffer in their file representation.
std::vector<unsigned char> to_file(const Buffer& buffer, const std::string& representation);

/// The number of the first `bytes` data bytes of a memory datatype that are whole basic elements. A
/// converting read can deliver these before the end of the file.
std::int64_t whole_elements(const Type& memory, std::int64_t bytes);

/// Compares a read of `bytes` data bytes, from data byte `first` of the view on, with the model.
/// Returns the first difference, also in bytes outside the datatype; empty if there is none.
std::string compare_read(const FileModel& file, const View& view, std::int64_t first,
                         const Buffer& buffer, std::int64_t bytes);

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_ORACLE_H_
