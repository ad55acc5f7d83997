// AccessShape: which bytes the first calls of one kind access, so that they can be made again.
#ifndef NACRE_COLLECTIVE_PROFILE_ACCESS_SHAPE_H_
#define NACRE_COLLECTIVE_PROFILE_ACCESS_SHAPE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// Data bytes [first_byte, first_byte + bytes) of copies of a type that follow each other from
/// `origin` in the file.
struct CallShape {
  std::int64_t origin = 0;
  std::int64_t first_byte = 0;
  std::int64_t bytes = 0;
  /// From the lowest byte of a call to that of the next; nullopt: there was one call, or distances
  /// differ.
  std::optional<std::int64_t> step_bytes = {};
  /// TypeMap::encode; empty if that is longer than type_bytes_max.
  std::vector<std::byte> type = {};

  static constexpr std::size_t type_bytes_max = 512;
};

/// Of the calls of one kind on one rank. Any thread may note calls.
class AccessShape {
 public:
  /// Later calls are not looked at.
  static constexpr std::int64_t calls_max = 16;

  /// A call without bytes counts as none.
  void note(const plan::FileAccess& access) {
    if (calls_.load(std::memory_order_relaxed) < calls_max && access.byte_count > 0)
      look_at(access);
  }
  /// The shape of the first call, with the distance of the calls after it; nullopt: there was none.
  [[nodiscard]] std::optional<CallShape> first() const;

 private:
  void look_at(const plan::FileAccess& access);

  std::atomic<std::int64_t> calls_ = 0;
  mutable std::mutex mutex_;
  CallShape first_;
  std::int64_t last_begin_ = 0;
  std::optional<std::int64_t> step_;
  bool has_one_step_ = true;
};

struct RankShape {
  int rank = 0;
  CallShape shape;
};

/// Whether the report has the shapes of this rank: rank 0, the powers of two, and the last one.
/// They show the distances between the ranks of a regular decomposition.
[[nodiscard]] bool is_sampled(int rank, int rank_count);

/// Collective. The shapes of the sampled ranks, ordered by rank, for each of `kinds`; empty on all
/// ranks except 0. `kinds` has the same length on all ranks. Messages: as deliver().
Task<std::vector<std::vector<RankShape>>> sample_shapes(Transport& transport,
                                                        std::span<const AccessShape* const> kinds);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_ACCESS_SHAPE_H_
