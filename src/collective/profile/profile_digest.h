// ProfileDigest: the profiles of any number of ranks in constant size.
#ifndef NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_
#define NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collective/agreement/agreements.h"
#include "collective/profile/profile.h"
#include "collective/profile/spread.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// The names of phases, in the order of Phase.
inline constexpr std::array<std::string_view, phase_count> phase_names{
    "plan", "views", "copy", "messages", "wait", "file", "file_wait", "lock", "agreement", "away"};

/// The figures of a rank other than times.
enum class Count : std::uint8_t {
  calls,
  errors,
  bytes,
  file_calls,
  file_bytes,
  messages,
  message_bytes,
  copied_bytes,
  rounds,
  unaligned_calls,
  backward_calls,
  read_modify_writes,
  holes,
};
/// Their names, in this order.
inline constexpr std::array<std::string_view, 13> count_names{
    "calls",      "errors",          "bytes",          "file_calls",
    "file_bytes", "messages",        "message_bytes",  "copied_bytes",
    "rounds",     "unaligned_calls", "backward_calls", "read_modify_writes",
    "holes"};

/// The file accesses of one rank.
struct FileShare {
  std::int32_t rank = -1;  ///< -1: no rank
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
  std::int64_t nanoseconds = 0;  ///< in Phase::file and in helper threads
};

/// Trivially copyable; about 40 KB for any number of ranks.
struct ProfileDigest {
  static constexpr std::size_t busiest_max = 32;

  std::array<Spread, count_names.size()> counts;  ///< by Count
  std::array<Spread, phase_count> nanoseconds;
  Spread total_nanoseconds;  ///< of all phases except Phase::away
  Spread file_thread_nanoseconds;
  Spread file_busy_nanoseconds;
  /// Calls of the store of all ranks, by Profile's size classes.
  std::array<std::int64_t, Profile::size_class_count> file_calls{};
  /// The ranks that moved most bytes to or from the file, busiest first.
  std::array<FileShare, busiest_max> busiest;

  [[nodiscard]] Spread& of(Count count) { return counts[static_cast<std::size_t>(count)]; }
  [[nodiscard]] const Spread& of(Count count) const {
    return counts[static_cast<std::size_t>(count)];
  }
};

[[nodiscard]] ProfileDigest digest_of(const Profile& profile, int rank);
void fold(ProfileDigest& into, const ProfileDigest& from);

/// Collective. Folds the digests of all ranks into those of rank 0; the same number on all ranks.
/// Digests of other ranks are undefined afterwards.
Task<Unit> reduce_digests(Transport& transport, std::vector<ProfileDigest>& digests);
/// As reduce_digests, for spreads.
Task<Unit> reduce_spreads(Transport& transport, std::vector<Spread>& spreads);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_
