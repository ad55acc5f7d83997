#include "plan/types/number_list.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nacre::plan {

NumberList::NumberList(std::span<const std::int64_t> numbers) : size_(std::ssize(numbers)) {
  if (!compress(numbers)) wide_.assign(numbers.begin(), numbers.end());
}

bool NumberList::compress(std::span<const std::int64_t> numbers) {
  std::vector<std::int64_t> bases;
  std::vector<std::uint32_t> offsets;
  bases.reserve((numbers.size() + chunk_size - 1) / chunk_size);
  offsets.reserve(numbers.size());
  while (!numbers.empty()) {
    const auto chunk = numbers.first(std::min(chunk_size, numbers.size()));
    const auto [least, greatest] = std::ranges::minmax(chunk);
    // Unsigned: the distance of two numbers may exceed a signed word, but never wraps.
    const std::uint64_t span =
        static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    if (span > std::numeric_limits<std::uint32_t>::max()) return false;
    bases.push_back(least);
    for (const std::int64_t number : chunk) {
      offsets.push_back(static_cast<std::uint32_t>(number - least));
    }
    numbers = numbers.subspan(chunk.size());
  }
  bases_ = std::move(bases);
  offsets_ = std::move(offsets);
  return true;
}

std::int64_t NumberList::lower_bound(std::int64_t value) const {
  std::int64_t from = 0;
  std::int64_t to = size_;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if ((*this)[middle] < value) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

std::int64_t NumberList::heap_bytes() const {
  return static_cast<std::int64_t>((bases_.capacity() + wide_.capacity()) * sizeof(std::int64_t) +
                                   offsets_.capacity() * sizeof(std::uint32_t));
}

}  // namespace nacre::plan
