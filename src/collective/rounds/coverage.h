// Coverage: which bytes of a cycle buffer are requested or filled. Exact to the granule: a write
// must not overwrite bytes that no rank of the call writes.
#ifndef NACRE_COLLECTIVE_ROUNDS_COVERAGE_H_
#define NACRE_COLLECTIVE_ROUNDS_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/extent.h"
#include "base/rounding.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// One bit for each granule of `size` bytes, in memory of the caller; zeros mark nothing. Marking
/// 64 granules costs as much as marking one. With Markers::several, several threads and processes
/// may mark at the same time; all other functions are for one thread.
class Coverage {
 public:
  static constexpr std::int64_t word_bits = 64;
  enum class Markers : std::uint8_t { several, one };

  [[nodiscard]] static constexpr std::int64_t words_needed(std::int64_t size,
                                                           std::int64_t granule_bytes) {
    return divide_up(size, granule_bytes * word_bits);
  }
  /// `words`: at least words_needed(size, granule_bytes). `granule_bytes` is a power of two.
  Coverage(std::span<std::uint64_t> words, std::int64_t size, std::int64_t granule_bytes,
           Markers markers = Markers::several);

  /// Marks every granule that `bytes` touches. Within [0, size).
  void mark(const Extent& bytes);
  /// Marks the runs of a series; gaps of at most `bridged_bytes` between them may be marked too.
  void mark(const plan::RunSeries& series, std::int64_t bridged_bytes);
  /// Adds the marks of `marks`, which has granules of the same size, from granule `first` on.
  /// `first` is a multiple of word_bits.
  void mark(const Coverage& marks, std::int64_t first);
  /// The first maximal marked range at or after `from`, in whole granules truncated at size; empty,
  /// at size, if there is none.
  [[nodiscard]] Extent next(std::int64_t from) const;
  /// From the first marked granule to the last, truncated at size; empty if there is none.
  [[nodiscard]] Extent hull() const;
  /// The number of marked granules.
  [[nodiscard]] std::int64_t count() const;
  /// Clears the marks of the first `bytes`.
  void clear(std::int64_t bytes);

 private:
  void set(std::size_t word, std::uint64_t bits);
  /// The first granule at or after `from` that is marked (or not), `granules_` if there is none.
  [[nodiscard]] std::int64_t find(std::int64_t from, bool marked) const;

  std::span<std::uint64_t> words_;
  std::int64_t size_;
  std::int64_t granules_;
  int granule_shift_;  // a granule is 1 << granule_shift_ bytes
  bool several_;
};

/// The marked bytes of a cycle buffer.
struct MarkedRuns {
  Extent hull;  ///< from the first marked byte to the last
  std::int64_t bytes = 0;

  [[nodiscard]] bool is_one_run() const { return bytes == hull.length; }
};

// For a Coverage whose granule is a byte. `packed` is a message of all marked bytes, in order.
[[nodiscard]] MarkedRuns measure(const Coverage& marked);
void pack_marked(const Coverage& marked, const std::byte* buffer, std::span<std::byte> packed);
void unpack_marked(const Coverage& marked, std::byte* buffer, std::span<const std::byte> packed);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_COVERAGE_H_
