#include "collective/profile/profile_digest.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>

namespace nacre::collective {
namespace {

void fold(Spread& into, const Spread& from) { into.fold(from); }

/// Folds arrays of T in bytes of any alignment.
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

bool is_busier(const FileShare& a, const FileShare& b) {
  return std::tuple(a.bytes, a.calls, b.rank) > std::tuple(b.bytes, b.calls, a.rank);
}

}  // namespace

ProfileDigest digest_of(const Profile& profile, int rank) {
  ProfileDigest digest;
  const std::int64_t file_calls = profile.file_call_count();
  digest.of(Count::calls).add(profile.calls.get());
  digest.of(Count::errors).add(profile.errors.get());
  digest.of(Count::bytes).add(profile.bytes.get());
  digest.of(Count::file_calls).add(file_calls);
  digest.of(Count::file_bytes).add(profile.file_bytes.get());
  digest.of(Count::messages).add(profile.messages.get());
  digest.of(Count::message_bytes).add(profile.message_bytes.get());
  digest.of(Count::copied_bytes).add(profile.copied_bytes.get());
  digest.of(Count::rounds).add(profile.rounds.get());
  digest.of(Count::unaligned_calls).add(profile.unaligned_calls.get());
  digest.of(Count::backward_calls).add(profile.backward_calls.get());
  digest.of(Count::read_modify_writes).add(profile.read_modify_writes.get());
  digest.of(Count::holes).add(profile.holes.get());
  const std::array<std::int64_t, phase_count> by_phase = profile.nanoseconds_by_phase();
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    digest.nanoseconds[phase].add(by_phase[phase]);
  }
  digest.total_nanoseconds.add(profile.total_nanoseconds());
  const std::int64_t in_threads = profile.file_thread_nanoseconds.get();
  digest.file_thread_nanoseconds.add(in_threads);
  digest.file_busy_nanoseconds.add(profile.file_busy_nanoseconds.get());
  for (std::size_t size = 0; size < digest.file_calls.size(); ++size) {
    digest.file_calls[size] = profile.file_calls[size].get();
  }
  if (file_calls > 0) {
    const auto in_file = static_cast<std::size_t>(Phase::file);
    digest.busiest[0] = {rank, profile.file_bytes.get(), file_calls,
                         by_phase[in_file] + in_threads};
  }
  return digest;
}

void fold(ProfileDigest& into, const ProfileDigest& from) {
  for (std::size_t i = 0; i < into.counts.size(); ++i) into.counts[i].fold(from.counts[i]);
  for (std::size_t i = 0; i < phase_count; ++i) into.nanoseconds[i].fold(from.nanoseconds[i]);
  into.total_nanoseconds.fold(from.total_nanoseconds);
  into.file_thread_nanoseconds.fold(from.file_thread_nanoseconds);
  into.file_busy_nanoseconds.fold(from.file_busy_nanoseconds);
  for (std::size_t i = 0; i < into.file_calls.size(); ++i) {
    into.file_calls[i] += from.file_calls[i];
  }
  std::array<FileShare, 2 * ProfileDigest::busiest_max> both;
  const auto nobody = [](const FileShare& share) { return share.rank < 0; };
  auto end = std::remove_copy_if(into.busiest.begin(), into.busiest.end(), both.begin(), nobody);
  end = std::remove_copy_if(from.busiest.begin(), from.busiest.end(), end, nobody);
  std::sort(both.begin(), end, is_busier);
  std::copy_n(both.begin(), into.busiest.size(), into.busiest.begin());
}

Task<Unit> reduce_digests(Transport& transport, std::vector<ProfileDigest>& digests) {
  return reduce(transport, std::as_writable_bytes(std::span(digests)), &fold_all<ProfileDigest>);
}

Task<Unit> reduce_spreads(Transport& transport, std::vector<Spread>& spreads) {
  return reduce(transport, std::as_writable_bytes(std::span(spreads)), &fold_all<Spread>);
}

}  // namespace nacre::collective
