#include "collective/views/view_exchange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes_of.h"
#include "base/checked_cast.h"
#include "collective/agreement/parcels.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/segment.h"

namespace nacre::collective {
namespace {

// An encoded view up to this long travels inside its parcel, which other ranks forward: vectors and
// subarrays do.
constexpr std::int64_t inline_view_bytes_max = 256;
// A type up to this long is sent whole, without comparing it with the runs of the domain.
constexpr std::int64_t small_view_bytes = 4096;
// The size of a run in an encoded list of runs, about: a varint each for the length and the step.
constexpr std::int64_t encoded_run_bytes = 4;
// An encoded type has at least about 1/8 of the bytes that the type takes in memory.
constexpr std::int64_t encoding_gain_max = 8;
// Views in flight to one aggregator at a time.
constexpr std::int64_t view_window_bytes = 16 << 20;

struct ViewHead {
  ViewPlace place;
  std::int64_t view_bytes = 0;  ///< of the encoded type map; 0: the type sent last is still valid

  /// Whether the type is in a message of its own.
  [[nodiscard]] bool type_follows() const { return view_bytes > inline_view_bytes_max; }
};

/// How a rank describes its access, or the part of it in one domain, to an aggregator.
struct EncodedView {
  ViewPlace place;
  std::vector<std::byte> type;  ///< empty: the aggregator has it
};

/// Appends `run`; extends the last run if they touch.
void append_joined(std::vector<Extent>& runs, const Extent& run) {
  if (!runs.empty() && runs.back().end() == run.offset) {
    runs.back().length += run.length;
  } else {
    runs.push_back(run);
  }
}

/// The data bytes of the view that the aggregator of `walk` handles: at least one extent; extents
/// do not touch.
std::vector<Extent> part_for(const plan::CollectivePlan& plan, plan::DomainWalk walk,
                             const plan::FileAccess& access) {
  if (plan::row_of(plan).needs_groups()) return {{access.first_byte, access.byte_count}};
  std::vector<Extent> part;
  std::vector<plan::RoundPiece> pieces;
  while (!walk.done()) {
    walk.take_round(pieces);
    for (const plan::RoundPiece& piece : pieces) {
      append_joined(part, {piece.first_byte, piece.byte_count});
    }
  }
  return part;
}

/// The runs of these data bytes as an encoded type that begins with the first run.
std::vector<std::byte> encoded_runs(const plan::TiledMap& view, const std::vector<Extent>& part) {
  std::vector<Extent> runs;
  for (const Extent& extent : part) {
    plan::RunCursor cursor(view, extent.offset, extent.length);
    for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
      for (std::int64_t i = 0; i < series.count; ++i) {
        append_joined(runs, {series.offset + i * series.stride, series.length});
      }
    }
  }
  const std::int64_t origin = runs.front().offset;
  for (Extent& run : runs) run.offset -= origin;
  std::vector<std::byte> bytes;
  plan::TypeMap::encode_runs(runs, bytes);
  return bytes;
}

/// `part`, counted from the first copy of the type. The next time step moves by whole copies of the
/// type, or moves the origin of the view: its runs then are the same.
ViewPart within_copies(std::vector<Extent> part, const plan::TypeMap& type) {
  const std::int64_t before = part.front().offset / type.size() * type.size();
  for (Extent& extent : part) extent.offset -= before;
  return {std::move(part)};
}

/// Chooses for each aggregator how this rank describes its access.
class ViewEncoder {
 public:
  ViewEncoder(ViewMemory& memory, const plan::CollectivePlan& plan, const plan::FileAccess& access,
              std::int64_t aggregator_count)
      : memory_(memory), plan_(plan), access_(access), aggregator_count_(aggregator_count) {
    memory_.use(access_.view.type);
  }

  /// `rank` is that of the aggregator of `walk`, which is not done.
  [[nodiscard]] EncodedView for_aggregator(const plan::DomainWalk& walk, int rank) {
    if (memory_.has_sent(rank, {})) return {whole_place(), {}};
    const std::vector<Extent> part = part_for(plan_, walk, access_);
    ViewPart sent = within_copies(part, access_.view.type);
    if (memory_.has_sent(rank, sent)) return {place_of(part), {}};
    if (choice_ == Choice::open) choose();
    if (choice_ == Choice::whole) return whole_for(rank);
    std::vector<std::byte> runs = encoded_runs(access_.view, part);
    if (choice_ == Choice::shorter && whole_.size() <= runs.size()) return whole_for(rank);
    memory_.record_sent(rank, std::move(sent));
    return {place_of(part), std::move(runs)};
  }

 private:
  enum class Choice : std::uint8_t { open, whole, runs, shorter };

  void choose() {
    choice_ = Choice::runs;
    const plan::TypeMap& type = access_.view.type;
    if (!type.is_encodable()) return;
    const std::int64_t runs =
        plan::estimate_run_count(type, access_.byte_count) / aggregator_count_;
    const std::int64_t slice_bytes = checked_multiply(runs, encoded_run_bytes).value_or(runs);
    // The access may use a small part of a large type, call after call.
    if (slice_bytes < (type.footprint_bytes() - small_view_bytes) / encoding_gain_max) return;
    type.encode(whole_);
    const bool is_short = std::ssize(whole_) <= std::max(small_view_bytes, slice_bytes);
    choice_ = is_short ? Choice::whole : Choice::shorter;
  }

  [[nodiscard]] EncodedView whole_for(int rank) {
    memory_.record_sent(rank, {});
    return {whole_place(), whole_};
  }

  /// The place of the access in the type of its view, counted from the copy in which it begins.
  [[nodiscard]] ViewPlace whole_place() const {
    const plan::TypeMap& type = access_.view.type;
    const std::int64_t copies = access_.first_byte / type.size();
    return {.origin = access_.view.origin + copies * type.extent() - plan_.end,
            .first_byte = access_.first_byte - copies * type.size(),
            .byte_count = access_.byte_count};
  }
  /// The place of these data bytes in their runs.
  [[nodiscard]] ViewPlace place_of(const std::vector<Extent>& part) const {
    ViewPlace place{.origin = plan::offset_of(access_.view, part.front().offset) - plan_.end};
    for (const Extent& extent : part) place.byte_count += extent.length;
    return place;
  }

  ViewMemory& memory_;
  const plan::CollectivePlan& plan_;
  const plan::FileAccess& access_;
  std::int64_t aggregator_count_;
  Choice choice_ = Choice::open;
  std::vector<std::byte> whole_;  // the encoded type, if choose() needed it
};

std::vector<std::byte> pack_head(const ViewHead& head, const EncodedView& view) {
  const std::span<const std::byte> head_bytes = std::as_bytes(std::span(&head, 1));
  std::vector<std::byte> bytes(head_bytes.begin(), head_bytes.end());
  if (!head.type_follows()) bytes.insert(bytes.end(), view.type.begin(), view.type.end());
  return bytes;
}

/// A rank that the aggregator serves, as its head describes it.
struct Source {
  int rank = 0;
  ViewHead head;
  std::vector<std::byte> type;
};

Source unpack_head(const Parcel& parcel) {
  Source source;
  source.rank = parcel.rank;
  std::memcpy(&source.head, parcel.bytes.data(), sizeof source.head);
  source.type.assign(parcel.bytes.begin() + sizeof source.head, parcel.bytes.end());
  return source;
}

/// What this rank sends: heads, and the views that do not fit into their head.
struct SentView {
  std::vector<Parcel> heads;
  std::vector<Parcel> views;
};

/// The part of one rank in an exchange of views.
class ViewExchange {
 public:
  ViewExchange(Transport& transport, const CollectiveFile& file, const ExchangePlan& exchange,
               const ExchangeAccess& access, std::span<const plan::DomainWalk> walks)
      : transport_(transport),
        file_(file),
        plan_(exchange.plan),
        domains_(exchange.domains),
        aggregators_(exchange.aggregators),
        access_(access),
        walks_(walks),
        self_(exchange.aggregators.of_rank(transport.rank())) {}

  Task<ServedRanks> run() {
    const bool all_here = std::ssize(file_.rounds.node_ranks()) == transport_.size();
    if (all_here && !sends_to_node_ranks()) co_return std::move(served_);
    if (sends_to_node_ranks() && self_) add_segment(transport_.rank(), access_.file);
    SentView sent = record_sent();
    Task<std::vector<Parcel>> delivery = deliver(transport_, std::move(sent.heads));
    const std::vector<Parcel> heads = co_await delivery;
    std::vector<MessageId> sends;
    sends.reserve(sent.views.size());
    for (const Parcel& view : sent.views) sends.push_back(transport_.send(view.rank, view.bytes));
    std::vector<MessageId> receives;
    for (std::size_t next = 0; next < heads.size();) {
      std::vector<Source> window = window_from(heads, next);
      for (Source& source : window) {
        if (!source.head.type_follows()) continue;
        source.type.resize(checked_cast<std::size_t>(source.head.view_bytes));
        receives.push_back(transport_.receive(source.rank, source.type));
      }
      co_await AllOf{receives};
      for (const Source& source : window) record_received(source);
    }
    serve();
    co_await AllOf{sends};
    co_return std::move(served_);
  }

 private:
  [[nodiscard]] bool sends_to_node_ranks() const {
    return plan::row_of(plan_).order == plan::RoundOrder::rank;
  }

  /// Describes to aggregators what they do not expect.
  SentView record_sent() {
    SentView sent;
    const std::int64_t touched = count_touched();
    std::optional<ViewEncoder> encoder;
    if (touched > 0) encoder.emplace(file_.views, plan_, access_.file, touched);
    for (std::size_t number = 0; number < walks_.size(); ++number) {
      if (!must_receive(number)) continue;
      const int rank = rank_of(number);
      EncodedView view;
      if (!walks_[number].done()) {
        view = encoder->for_aggregator(walks_[number], rank);
        view.place.relay = file_.rounds.drivers()[number];
      }
      if (view.type.empty() && view.place == file_.views.sent_place(rank)) continue;
      file_.views.record_sent_place(rank, view.place);
      const ViewHead head{view.place, std::ssize(view.type)};
      sent.heads.push_back({rank, pack_head(head, view)});
      if (head.type_follows()) sent.views.push_back({rank, std::move(view.type)});
    }
    return sent;
  }

  [[nodiscard]] int rank_of(std::size_t number) const {
    return aggregators_.rank_of(file_.rounds.aggregators()[number]);
  }

  /// Whether the aggregator `number` of the node needs the view of this rank.
  [[nodiscard]] bool must_receive(std::size_t number) const {
    const int aggregator = file_.rounds.aggregators()[number];
    if (aggregator == self_ || !aggregators_.serves(aggregator, transport_.rank())) return false;
    return sends_to_node_ranks() || !file_.rounds.is_here(static_cast<int>(number));
  }

  /// The number of these aggregators that have bytes of the access in their rounds.
  [[nodiscard]] std::int64_t count_touched() const {
    std::int64_t count = 0;
    for (std::size_t number = 0; number < walks_.size(); ++number) {
      if (must_receive(number) && !walks_[number].done()) ++count;
    }
    return count;
  }

  /// The next ranks that may send their views at the same time.
  static std::vector<Source> window_from(const std::vector<Parcel>& heads, std::size_t& next) {
    std::vector<Source> window;
    std::int64_t bytes = 0;
    for (; next < heads.size() && bytes < view_window_bytes; ++next) {
      window.push_back(unpack_head(heads[next]));
      bytes += window.back().head.view_bytes;
    }
    return window;
  }

  void record_received(const Source& source) {
    if (source.head.view_bytes > 0) {
      std::span<const std::byte> in(source.type);
      // The sender has checked that the type can be decoded.
      file_.views.record_received(source.rank, plan::TypeMap::decode(in).value());
    }
    file_.views.record_received_place(source.rank, source.head.place);
  }

  /// Collects the ranks that have bytes for this aggregator.
  void serve() {
    if (!self_) return;
    for (const auto& [source, received] : file_.views.received()) {
      const bool is_here = std::ranges::binary_search(file_.rounds.node_ranks(), source);
      if (received.place.byte_count == 0 || (is_here && !sends_to_node_ranks())) continue;
      if (!aggregators_.serves(*self_, source)) continue;
      const plan::FileAccess access{{received.type, received.place.origin + plan_.end},
                                    received.place.first_byte,
                                    received.place.byte_count};
      if (sends_to_node_ranks()) add_segment(source, access);
      if (!is_here) add_elsewhere(source, received.place.relay, access);
    }
  }

  void add_elsewhere(int source, int relay, const plan::FileAccess& access) {
    const int domain = plan::domain_of(plan_, *self_);
    const plan::FileAccess placed =
        sends_to_node_ranks()
            ? plan::arranged(plan_, *aggregators_.groups(), source, access.byte_count)
            : access;
    served_.elsewhere.add(relay, domains_, domain, placed);
  }

  void add_segment(int rank, const plan::FileAccess& access) {
    served_.segments.push_back({plan::segment_of(plan_, *aggregators_.groups(), rank), access});
  }

  Transport& transport_;
  const CollectiveFile& file_;
  const plan::CollectivePlan& plan_;
  const plan::FileDomains& domains_;
  const plan::Aggregators& aggregators_;
  const ExchangeAccess& access_;
  std::span<const plan::DomainWalk> walks_;
  std::optional<int> self_;  // the aggregator that this rank is
  ServedRanks served_;
};

}  // namespace

Task<ServedRanks> exchange_views(Transport& transport, const CollectiveFile& file,
                                 const ExchangePlan& exchange, const ExchangeAccess& access,
                                 std::span<const plan::DomainWalk> walks) {
  ViewExchange views(transport, file, exchange, access, walks);
  ServedRanks served = co_await views.run();
  co_return served;
}

}  // namespace nacre::collective
