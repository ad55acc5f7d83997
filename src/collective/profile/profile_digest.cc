#include "collective/profile/profile_digest.h"

#include <span>
#include <tuple>
#include <utility>

namespace nacre::collective {

bool is_busier(const FileShare& a, const FileShare& b) {
  return std::tuple(a.bytes, a.calls, b.rank) > std::tuple(b.bytes, b.calls, a.rank);
}

RankFigures figures_of(const Profile& profile, int rank) {
  RankFigures figures;
  const std::int64_t file_calls = profile.file_call_count();
  figures.of(Count::calls) = profile.calls.get();
  figures.of(Count::errors) = profile.errors.get();
  figures.of(Count::bytes) = profile.bytes.get();
  figures.of(Count::file_calls) = file_calls;
  figures.of(Count::file_bytes) = profile.file_bytes.get();
  figures.of(Count::messages) = profile.messages.get();
  figures.of(Count::message_bytes) = profile.message_bytes.get();
  figures.of(Count::copied_bytes) = profile.copied_bytes.get();
  figures.of(Count::rounds) = profile.rounds.get();
  figures.of(Count::unaligned_calls) = profile.unaligned_calls.get();
  figures.of(Count::backward_calls) = profile.backward_calls.get();
  figures.of(Count::read_modify_writes) = profile.read_modify_writes.get();
  figures.of(Count::holes) = profile.holes.get();
  figures.of(Count::locks) = profile.locks.get();
  figures.nanoseconds = profile.nanoseconds_by_phase();
  figures.total_nanoseconds = profile.total_nanoseconds();
  figures.file_thread_nanoseconds = profile.file_thread_nanoseconds.get();
  figures.file_busy_nanoseconds = profile.file_busy_nanoseconds.get();
  for (std::size_t size = 0; size < figures.file_calls.size(); ++size) {
    figures.file_calls[size] = profile.file_calls[size].get();
  }
  if (file_calls > 0) {
    const auto in_file = static_cast<std::size_t>(Phase::file);
    figures.share = {rank, profile.file_bytes.get(), file_calls,
                     figures.nanoseconds[in_file] + figures.file_thread_nanoseconds};
  }
  return figures;
}

namespace {

/// Adds each figure of `from`, a digest or the figures of a rank, to the spread of that figure.
template <class Figures, class Add>
void add_figures(ProfileDigest& into, const Figures& from, const Add& add) {
  for (std::size_t i = 0; i < into.counts.size(); ++i) add(into.counts[i], from.counts[i]);
  for (std::size_t i = 0; i < phase_count; ++i) add(into.nanoseconds[i], from.nanoseconds[i]);
  add(into.total_nanoseconds, from.total_nanoseconds);
  add(into.file_thread_nanoseconds, from.file_thread_nanoseconds);
  add(into.file_busy_nanoseconds, from.file_busy_nanoseconds);
  for (std::size_t i = 0; i < into.file_calls.size(); ++i) {
    into.file_calls[i] += from.file_calls[i];
  }
}

void add(Spread& into, std::int64_t figure) { into.add(figure); }

void add(ProfileDigest& into, const RankFigures& figures) {
  add_figures(into, figures, [](Spread& spread, std::int64_t figure) { spread.add(figure); });
  keep_busiest(into.busiest, {figures.share});
}

template <class Digest, class Figures>
Task<std::vector<Digest>> digests_of(Transport& transport, std::vector<Figures> own) {
  if (own.empty()) co_return std::vector<Digest>{};
  const std::span<const std::byte> own_bytes = std::as_bytes(std::span(own));
  const std::vector<std::byte> of_node = co_await gather_on_node(transport, own_bytes);
  std::vector<Digest> digests(of_node.empty() ? 0 : own.size());
  for (std::size_t at = 0; at < of_node.size(); at += sizeof(Figures)) {
    Figures figures;
    std::memcpy(&figures, &of_node[at], sizeof figures);
    add(digests[at / sizeof figures % own.size()], figures);
  }
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(digests));
  co_await reduce_over_nodes(transport, bytes, &fold_all<Digest>);
  if (transport.rank() != 0) digests.clear();
  co_return digests;
}

}  // namespace

void fold(ProfileDigest& into, const ProfileDigest& from) {
  add_figures(into, from, [](Spread& a, const Spread& b) { a.fold(b); });
  keep_busiest(into.busiest, from.busiest);
}

Task<std::vector<ProfileDigest>> digest_figures(Transport& transport,
                                                std::vector<RankFigures> own) {
  return digests_of<ProfileDigest>(transport, std::move(own));
}

Task<std::vector<Spread>> spread_figures(Transport& transport, std::vector<std::int64_t> own) {
  return digests_of<Spread>(transport, std::move(own));
}

}  // namespace nacre::collective
