// Content: the bytes of a simulated job whose bytes are checked, and the oracle for them: a byte of
// the file that a call writes depends on its offset alone, and every other byte is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/program/rank_calls.h"

namespace nacre::simulate {

class Content {
 public:
  /// The writes of a rank. Takes a bit for each byte of the file.
  void add_writes(const std::vector<sim::CallSeries>& writes);

  using Call = sim::CallSeries::Call;
  /// Fills the memory of a write, whose place in `buffer` the call says.
  void fill(const sim::CallSeries& series, const Call& call, std::span<std::byte> buffer) const;
  /// The offset in the file of the first byte that a read has returned wrongly. Requires that all
  /// writes are done.
  [[nodiscard]] std::optional<std::int64_t> first_wrong(const sim::CallSeries& series,
                                                        const Call& call,
                                                        std::span<std::byte> buffer) const;
  /// The same of the whole file.
  [[nodiscard]] std::optional<std::int64_t> first_wrong(std::span<const std::byte> file) const;
  /// The number of bytes of the file that are written.
  [[nodiscard]] std::int64_t written_bytes() const;

 private:
  [[nodiscard]] std::byte at(std::int64_t offset) const;

  std::vector<bool> is_written_;  // by offset in the file
};

}  // namespace nacre::simulate
