// RoundMessages: where an aggregator's messages of a round, one for each relay, lie. A part that is
// in one piece there needs no copy; others are packed, in memory that is shared out anew for each
// portion of a round.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_MESSAGES_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/rounds/scratch.h"

namespace nacre::collective {

class RoundMessages {
 public:
  using Bytes = std::span<std::byte>;

  /// A new round, with messages of these sizes: nothing is in one piece until place() says so.
  void begin(std::vector<std::int64_t> sizes);
  void place(std::size_t part, Bytes bytes) { in_place_[part] = bytes; }

  /// The end of the portion that begins with part `first`: as many parts as are packed into
  /// `bytes_max`, one at least.
  [[nodiscard]] std::size_t portion_end(std::size_t first, std::int64_t bytes_max) const;
  /// Gives those of the parts [first, last) that are packed their memory; the memory of others is
  /// gone.
  void stage(std::size_t first, std::size_t last);

  [[nodiscard]] bool is_packed(std::size_t part) const { return in_place_[part].empty(); }
  /// Staged, if it is packed.
  [[nodiscard]] Bytes message(std::size_t part) const {
    return is_packed(part) ? packed_[part] : in_place_[part];
  }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<Bytes> in_place_;
  std::vector<Bytes> packed_;
  Scratch staging_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_MESSAGES_H_
