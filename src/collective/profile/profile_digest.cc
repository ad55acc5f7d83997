#include "collective/profile/profile_digest.h"

#include <span>
#include <tuple>

namespace nacre::collective {

bool is_busier(const FileShare& a, const FileShare& b) {
  return std::tuple(a.bytes, a.calls, b.rank) > std::tuple(b.bytes, b.calls, a.rank);
}

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
  keep_busiest(into.busiest, from.busiest);
}

Task<Unit> reduce_digests(Transport& transport, std::vector<ProfileDigest>& digests) {
  return reduce(transport, std::as_writable_bytes(std::span(digests)), &fold_all<ProfileDigest>);
}

Task<Unit> reduce_spreads(Transport& transport, std::vector<Spread>& spreads) {
  return reduce(transport, std::as_writable_bytes(std::span(spreads)), &fold_all<Spread>);
}

}  // namespace nacre::collective
