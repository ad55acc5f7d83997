// ProfileDigest: the profiles of any number of ranks in constant size.
#ifndef NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_
#define NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
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
  locks,
};
/// Their names, in this order.
inline constexpr std::array<std::string_view, 14> count_names{
    "calls",           "errors",         "bytes",
    "file_calls",      "file_bytes",     "messages",
    "message_bytes",   "copied_bytes",   "rounds",
    "unaligned_calls", "backward_calls", "read_modify_writes",
    "holes",           "locks"};

/// The file accesses of one rank.
struct FileShare {
  std::int32_t rank = -1;  ///< -1: no rank
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
  std::int64_t nanoseconds = 0;  ///< in Phase::file and in helper threads
};

[[nodiscard]] bool is_busier(const FileShare& a, const FileShare& b);

/// Keeps the busiest of both, busiest first. `Share` is or extends FileShare.
template <class Share, std::size_t count>
void keep_busiest(std::array<Share, count>& into, const std::array<Share, count>& from) {
  std::array<Share, 2 * count> both;
  const auto nobody = [](const FileShare& share) { return share.rank < 0; };
  auto end = std::remove_copy_if(into.begin(), into.end(), both.begin(), nobody);
  end = std::remove_copy_if(from.begin(), from.end(), end, nobody);
  std::sort(both.begin(), end, is_busier);
  std::copy_n(both.begin(), count, into.begin());
}

/// The figures of one rank that a digest counts. Trivially copyable; less than 1 KB.
struct RankFigures {
  std::array<std::int64_t, count_names.size()> counts{};  ///< by Count
  std::array<std::int64_t, phase_count> nanoseconds{};
  std::int64_t total_nanoseconds = 0;  ///< of all phases except Phase::away
  std::int64_t file_thread_nanoseconds = 0;
  std::int64_t file_busy_nanoseconds = 0;
  /// Calls of the store, by Profile's size classes.
  std::array<std::int64_t, Profile::size_class_count> file_calls{};
  FileShare share;  ///< no rank if the rank has not accessed the file

  [[nodiscard]] std::int64_t& of(Count count) { return counts[static_cast<std::size_t>(count)]; }
};

[[nodiscard]] RankFigures figures_of(const Profile& profile, int rank);

/// Trivially copyable; about 55 KB for any number of ranks.
struct ProfileDigest {
  static constexpr std::size_t busiest_max = 32;

  std::array<Spread, count_names.size()> counts;  ///< by Count
  std::array<Spread, phase_count> nanoseconds;
  Spread total_nanoseconds;
  Spread file_thread_nanoseconds;
  Spread file_busy_nanoseconds;
  std::array<std::int64_t, Profile::size_class_count> file_calls{};  ///< of all ranks
  /// The ranks that moved most bytes to or from the file, busiest first.
  std::array<FileShare, busiest_max> busiest;

  [[nodiscard]] const Spread& of(Count count) const {
    return counts[static_cast<std::size_t>(count)];
  }
};

/// A Combine: folds arrays of T in bytes of any alignment, by fold(T&, const T&).
template <class T>
void fold_all(std::span<std::byte> into, std::span<const std::byte> from) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto a = std::make_unique<T>();
  const auto b = std::make_unique<T>();
  for (std::size_t at = 0; at < into.size(); at += sizeof(T)) {
    std::memcpy(a.get(), &into[at], sizeof(T));
    std::memcpy(b.get(), &from[at], sizeof(T));
    fold(*a, *b);
    std::memcpy(&into[at], a.get(), sizeof(T));
  }
}

void fold(ProfileDigest& into, const ProfileDigest& from);

/// Collective. Digests of the figures of all ranks, as many as each rank has, on rank 0; the other
/// ranks get nothing. The figures, which are small, go to the lowest rank of each node. Only these
/// ranks have digests, and send them to each other.
Task<std::vector<ProfileDigest>> digest_figures(Transport& transport, std::vector<RankFigures> own);
/// The same for spreads of single figures, which must be >= 0.
Task<std::vector<Spread>> spread_figures(Transport& transport, std::vector<std::int64_t> own);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_PROFILE_DIGEST_H_
