// PossibleFile: which bytes a file may contain after accesses that may have failed.
#ifndef NACRE_TESTS_SIMULATION_POSSIBLE_FILE_H_
#define NACRE_TESTS_SIMULATION_POSSIBLE_FILE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/extent.h"
#include "random_access.h"

namespace nacre::simulation {

/// An oracle. A byte of a write that succeeded is that of one of its ranks. A byte of a write that
/// failed is that of one of its ranks, or what it was. All other bytes stay what they were.
class PossibleFile {
 public:
  using Bytes = collective::fixtures::Bytes;

  /// Ranks whose write failed have false in `succeeded`. `may_be_lost`: until sync(), the bytes
  /// from the first that is written to the last may also be zero. Writes may rewrite what lies
  /// between their pieces.
  void write(const std::vector<collective::fixtures::RankAccess>& ranks,
             const std::vector<bool>& succeeded, bool may_be_lost = false);
  /// All bytes that may be lost are safe.
  void sync() { unsynced_.clear(); }
  /// Bytes that may be lost stay so: a call has reported it.
  void lose_unsynced();
  void resize(std::int64_t size, bool succeeded);
  /// What is wrong with the contents `found` of the file; nothing if they are possible.
  [[nodiscard]] std::optional<std::string> misfit(const Bytes& found) const;
  /// The same for the buffer of a read that returned `bytes` bytes. `before`: the buffer before it.
  /// Behind these bytes, those that the read asked for may be zeros: a file may have a size and no
  /// objects, so that reads find its end before the size.
  [[nodiscard]] std::optional<std::string> misfit(const collective::fixtures::RankAccess& read,
                                                  const Bytes& before, std::int64_t bytes) const;

 private:
  /// The bit of each possible value is set.
  using Values = std::bitset<256>;
  [[nodiscard]] bool allows(std::int64_t offset, std::byte value) const;

  std::map<std::int64_t, Values> written_;  // by offset; elsewhere: 0
  std::vector<Extent> unsynced_;            // whose bytes may be lost
};

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_POSSIBLE_FILE_H_
