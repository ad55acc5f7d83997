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
#include "base/result.h"
#include "file/open_file.h"
#include "random_access.h"

namespace nacre::simulation {

/// A byte that a file contains before the job: never zero.
[[nodiscard]] std::byte byte_before(std::int64_t offset);

/// An oracle. A byte of a write that succeeded is that of one of its ranks. A byte of a write that
/// failed is that of one of its ranks, or what it was. All other bytes stay what they were. The
/// file ends behind the last byte of the writes that succeeded, or that of those that failed, or
/// between them.
class PossibleFile {
 public:
  using Bytes = collective::fixtures::Bytes;

  /// A file that has this many bytes of byte_before(); 0: it does not exist.
  explicit PossibleFile(std::int64_t bytes_before)
      : size_before_(bytes_before),
        size_min_(bytes_before),
        size_max_(bytes_before),
        may_exist_(bytes_before > 0),
        may_be_missing_(bytes_before == 0) {}

  /// What is wrong with the outcome of an open: a file that cannot exist was found, or one that
  /// must exist was created exclusively. Errors are not checked.
  [[nodiscard]] std::optional<std::string> open(const file::AccessMode& mode, bool succeeded);
  /// Whether an open fails with this error because the file exists, or because it does not.
  [[nodiscard]] bool explains(const file::AccessMode& mode, const Error& error) const;
  /// A deletion. If it failed, the file may be gone nevertheless.
  void remove(bool succeeded);
  [[nodiscard]] bool may_exist() const { return may_exist_; }
  [[nodiscard]] bool may_be_missing() const { return may_be_missing_; }

  /// Ranks whose write failed have false in `succeeded`. `lost_until_sync_of`: the open through
  /// which they wrote. Until sync() of this open, the bytes from the first that is written to the
  /// last may also be zero. Writes may rewrite what lies between their pieces.
  void write(const std::vector<collective::fixtures::RankAccess>& ranks,
             const std::vector<bool>& succeeded, std::optional<int> lost_until_sync_of = {});
  /// The bytes that were written through this open are safe. MPI_File_sync covers no others.
  void sync(int open);
  /// Bytes that may be lost stay so: a call has reported it.
  void lose_unsynced();
  void resize(std::int64_t size, bool succeeded);
  void preallocate(std::int64_t size, bool succeeded);
  /// What is wrong with this size of the file; nothing if it is possible.
  [[nodiscard]] std::optional<std::string> misfit_of_size(std::int64_t size) const;
  /// What is wrong with the contents `found` of the file; nothing if they are possible.
  [[nodiscard]] std::optional<std::string> misfit(const Bytes& found) const;
  /// The same for the buffer of a read that returned `bytes` bytes. `before`: the buffer before it.
  /// Bytes that cannot be zero are not behind the end of the file: the read must return them.
  /// Behind the bytes that it returned, those that it asked for may be zeros: a file may have a
  /// size and no objects, so that reads find its end before the size.
  [[nodiscard]] std::optional<std::string> misfit(const collective::fixtures::RankAccess& read,
                                                  const Bytes& before, std::int64_t bytes) const;

 private:
  /// The bit of each possible value is set.
  using Values = std::bitset<256>;
  [[nodiscard]] bool allows(std::int64_t offset, std::byte value) const;
  /// The value of a byte that was never written.
  [[nodiscard]] std::byte unwritten(std::int64_t offset) const;
  /// All values of a byte.
  [[nodiscard]] Values& values_at(std::int64_t offset);
  /// The bytes of these offsets may also be zero.
  void allow_zeros(const Extent& extent);

  /// Bytes that may be lost until a sync of the open through which they were written.
  struct Unsynced {
    Extent extent;
    int open = 0;
  };

  std::map<std::int64_t, Values> written_;  // by offset; elsewhere: unwritten()
  std::vector<Unsynced> unsynced_;
  std::int64_t size_before_;  // of the contents before the job that are still there
  std::int64_t size_min_;     // unless unsynced_ is lost
  std::int64_t size_max_;
  bool may_exist_;
  bool may_be_missing_;
};

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_POSSIBLE_FILE_H_
