// What is marked of a cycle buffer, as one message: its runs one after the other.
#ifndef NACRE_COLLECTIVE_ROUNDS_MARKED_RUNS_H_
#define NACRE_COLLECTIVE_ROUNDS_MARKED_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/extent.h"
#include "collective/rounds/coverage.h"

namespace nacre::collective {

struct MarkedRuns {
  Extent hull;  ///< from the first marked byte to the last
  std::int64_t bytes = 0;

  [[nodiscard]] bool is_one_run() const { return bytes == hull.length; }
};

// Of a Coverage whose granule is a byte. `packed` has as many bytes as are marked.
[[nodiscard]] MarkedRuns measure(const Coverage& marked);
void pack_marked(const Coverage& marked, const std::byte* buffer, std::span<std::byte> packed);
void unpack_marked(const Coverage& marked, std::byte* buffer, std::span<const std::byte> packed);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_MARKED_RUNS_H_
