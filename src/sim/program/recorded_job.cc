#include "sim/program/recorded_job.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "base/checked_cast.h"
#include "base/parse_number.h"
#include "base/split.h"

namespace nacre::sim {
namespace {

constexpr std::int64_t ranks_max = 1 << 20;
constexpr std::size_t kind_words = 6;
constexpr std::size_t shape_words = 7;
constexpr double differs = 0.01;  // of the bytes of a kind

Error wrong(std::string_view what) { return Error{ErrorClass::arg, 0, std::string(what)}; }

std::optional<std::vector<std::byte>> bytes_of(std::string_view digits) {
  constexpr int hexadecimal = 16;
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const auto byte = parse_number<std::uint8_t>(digits.substr(at, 2), hexadecimal);
    if (!byte || at + 1 == digits.size()) return std::nullopt;
    bytes.push_back(std::byte{*byte});
  }
  return bytes;
}

/// BYTES[*COUNT/STRIDE]...
std::optional<plan::TypeMap> type_of_pieces(std::string_view words) {
  const std::vector<std::string_view> parts = split(words, '*');
  const auto bytes = parse_number<std::int64_t>(parts.front());
  if (!bytes || *bytes <= 0) return std::nullopt;
  plan::TypeMap type = plan::TypeMap::bytes(*bytes);
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const std::vector<std::string_view> figures = split(part, '/');
    if (figures.size() != 2) return std::nullopt;
    const auto count = parse_number<std::int64_t>(figures[0]);
    const auto stride = parse_number<std::int64_t>(figures[1]);
    if (!count || !stride || *count <= 0 || *stride < 0) return std::nullopt;
    Result<plan::TypeMap> repeated = plan::TypeMap::repeat(type, *count, *stride);
    if (!repeated) return std::nullopt;
    type = *std::move(repeated);
  }
  return type;
}

std::optional<plan::TypeMap> type_of(std::string_view digits) {
  const auto bytes = bytes_of(digits);
  if (!bytes || bytes->empty()) return std::nullopt;
  std::span<const std::byte> in(*bytes);
  Result<plan::TypeMap> type = plan::TypeMap::decode(in);
  if (!type || !in.empty() || type->size() <= 0) return std::nullopt;
  return *std::move(type);
}

/// Numbers of 0 or more; nothing if one of them is none.
std::optional<std::vector<std::int64_t>> numbers(const std::vector<std::string_view>& words,
                                                 std::size_t begin, std::size_t count) {
  std::vector<std::int64_t> found;
  for (std::size_t i = begin; i < begin + count; ++i) {
    const auto number = parse_number<std::int64_t>(words[i]);
    if (!number || *number < 0) return std::nullopt;
    found.push_back(*number);
  }
  return found;
}

/// A view with a copy of the access every `step_bytes` bytes, and the calls to them.
CallSeries repeated(const plan::FileAccess& access, std::int64_t count, std::int64_t step_bytes) {
  const plan::TypeMap& type = access.view.type;
  CallSeries series;
  series.view = access.view;
  std::int64_t offset = access.first_byte;
  std::int64_t step = 0;  // in the view
  if (type.is_contiguous()) {
    series.view = {plan::TypeMap::bytes(1), 0};
    offset = plan::offset_of(access.view, access.first_byte);
    step = step_bytes;
  } else if (step_bytes % type.extent() == 0) {
    step = step_bytes / type.extent() * type.size();
  } else {
    const std::int64_t before = access.first_byte / type.size();
    offset = access.first_byte % type.size();
    const std::int64_t copies = (offset + access.byte_count + type.size() - 1) / type.size();
    const auto one = plan::TypeMap::repeat(type, copies, type.extent());
    const auto spaced = one ? one->resized(one->lb(), std::abs(step_bytes)) : one;
    if (spaced) {
      series.view = {*spaced, access.view.origin + before * type.extent()};
      step = spaced->size();
    }
    if (step_bytes < 0) {
      const std::int64_t back = std::min(count - 1, series.view.origin / -step_bytes);
      series.view.origin += back * step_bytes;
      offset += back * step;
      step = -step;
    }
  }
  for (std::int64_t call = 0; call < count; ++call) {
    series.calls.push_back({std::max<std::int64_t>(0, offset + call * step), access.byte_count});
  }
  return series;
}

std::int64_t end_of(const plan::FileAccess& access) { return plan::bounds(access).end(); }

}  // namespace

Result<RecordedJob> RecordedJob::parse(std::string_view text) {
  RecordedJob job;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (Status taken = job.take_line(line); !taken) {
      return wrong("line " + std::to_string(number) + ": " + taken.error().message);
    }
  }
  if (job.rank_count_ == 0) return wrong("the number of ranks is missing");
  for (Kind& kind : job.kinds_) {
    if (Status derived = job.derive(kind); !derived) return derived.error();
  }
  for (const Kind& kind : job.kinds_) {
    for (int rank = 0; rank < job.rank_count_; ++rank) {
      const auto first = job.first_call(kind, rank);
      if (!first) continue;
      const std::int64_t last = (calls_each(kind) - 1) * first->step_bytes;
      job.end_ = std::max(job.end_, end_of(first->access) + std::max<std::int64_t>(0, last));
    }
  }
  if (job.end_ == 0) return wrong("the job has no call with data");
  return job;
}

Status RecordedJob::take_line(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.front() == "kind" && words.size() == kind_words) return take_kind(words);
  if (words.front() == "shape" && words.size() == shape_words && !kinds_.empty()) {
    return take_shape(words);
  }
  const std::int64_t count =
      words.size() == 2 ? parse_number<std::int64_t>(words[1]).value_or(0) : 0;
  if (words.front() != "ranks" || count < 1 || count > ranks_max) {
    return wrong("expected \"ranks COUNT\", \"kind ...\" or, after it, \"shape ...\"");
  }
  rank_count_ = checked_cast<int>(count);
  return {};
}

Status RecordedJob::take_kind(const std::vector<std::string_view>& words) {
  const auto sums = numbers(words, 3, 3);
  const bool is_known = (words[1] == "write" || words[1] == "read") &&
                        (words[2] == "collective" || words[2] == "independent");
  if (!sums || !is_known || (*sums)[0] < 1 || (*sums)[1] < (*sums)[0]) {
    return wrong("expected \"kind write|read collective|independent RANKS CALLS BYTES\"");
  }
  Kind kind;
  kind.is_write = words[1] == "write";
  kind.is_collective = words[2] == "collective";
  kind.ranks = (*sums)[0];
  kind.calls = (*sums)[1];
  kind.bytes = (*sums)[2];
  kinds_.push_back(std::move(kind));
  return {};
}

Status RecordedJob::take_shape(const std::vector<std::string_view>& words) {
  const auto place = numbers(words, 1, 4);
  const auto step = parse_number<std::int64_t>(words[5]);
  if (!place || (!step && words[5] != "-")) {
    return wrong("expected \"shape RANK ORIGIN FIRST_BYTE BYTES STEP|- TYPE\"");
  }
  std::vector<Shape>& shapes = kinds_.back().shapes;
  const std::int64_t rank = (*place)[0];
  if (rank >= rank_count_ || (!shapes.empty() && rank <= shapes.back().rank)) {
    return wrong("rank " + std::to_string(rank) + " is not between the rank before and the last");
  }
  std::optional<plan::TypeMap> type =
      words[6].starts_with('=') ? type_of_pieces(words[6].substr(1)) : type_of(words[6]);
  if (!type) return wrong("the type of rank " + std::to_string(rank) + " is no encoded type");
  shapes.push_back(
      {checked_cast<int>(rank), {{*std::move(type), (*place)[1]}, (*place)[2], (*place)[3]}, step});
  return {};
}

Status RecordedJob::derive(Kind& kind) {
  if (kind.shapes.empty()) return wrong("a kind of calls has no shape");
  derive_ranks(kind);
  derive_placement(kind);
  derive_step(kind);
  derive_scale(kind);
  return {};
}

/// Which ranks have data: those at the distances of the ranks with shapes. A single shape shows no
/// distance, so the number of ranks with data counts, which lie evenly apart.
void RecordedJob::derive_ranks(Kind& kind) const {
  const Shape& first = kind.shapes.front();
  if (kind.shapes.size() > 1) {
    kind.rank_first = first.rank;
    kind.rank_step = 0;
    for (const Shape& shape : kind.shapes) {
      kind.rank_step = std::gcd(kind.rank_step, shape.rank - first.rank);
    }
    return;
  }
  const std::int64_t of_one = std::max<std::int64_t>(1, first.access.byte_count * calls_each(kind));
  const std::int64_t with_data =
      kind.is_collective ? (kind.bytes + of_one / 2) / of_one : kind.ranks;
  const auto count = std::clamp<std::int64_t>(with_data, 1, rank_count_);
  kind.rank_step = checked_cast<int>(rank_count_ / count);
  kind.rank_first = first.rank % kind.rank_step;
}

void RecordedJob::derive_placement(Kind& kind) {
  std::vector<RankPlacement::Sample> samples;
  samples.reserve(kind.shapes.size());
  for (const Shape& shape : kind.shapes) {
    samples.push_back(
        {(shape.rank - kind.rank_first) / kind.rank_step, plan::bounds(shape.access).offset});
  }
  const int count = (rank_count_ - kind.rank_first + kind.rank_step - 1) / kind.rank_step;
  if (samples.size() == 1 && count > 1) {
    const auto [place, begin] = samples.front();
    const std::int64_t length = plan::bounds(kind.shapes.front().access).length;
    samples = {{0, std::max<std::int64_t>(0, begin - place * length)},
               {count - 1, begin + (count - 1 - place) * length}};
    guesses_.push_back("Of " + std::to_string(count) + " ranks with data the report has rank " +
                       std::to_string(kind.shapes.front().rank) +
                       " only; the others are placed one behind the other.");
  }
  kind.placement.emplace(count, std::move(samples));
  if (count > 3 && !kind.placement->is_grid()) {
    guesses_.emplace_back(
        "The recorded ranks form no regular grid; other ranks are placed between them.");
  }
}

void RecordedJob::derive_step(Kind& kind) {
  const auto has_step = [](const Shape& shape) { return shape.step_bytes.has_value(); };
  const std::int64_t count = calls_each(kind);
  if (count == 1) return;
  if (std::ranges::all_of(kind.shapes, has_step)) {
    if (count > collective::AccessShape::calls_max) {
      guesses_.push_back("The report has the distances of the first " +
                         std::to_string(collective::AccessShape::calls_max) +
                         " calls of a rank; later calls are as far apart.");
    }
    return;
  }
  std::int64_t begin = plan::bounds(kind.shapes.front().access).offset;
  std::int64_t end = begin;
  for (int rank = 0; rank < rank_count_; ++rank) {
    const auto first = first_call(kind, rank);
    if (!first) continue;
    begin = std::min(begin, plan::bounds(first->access).offset);
    end = std::max(end, end_of(first->access));
  }
  kind.step_bytes = end - begin;
  guesses_.emplace_back(
      "The distances of successive calls differ; each call is placed behind the call before.");
}

void RecordedJob::derive_scale(Kind& kind) {
  double bytes = 0;
  for (int rank = 0; rank < rank_count_; ++rank) {
    if (const auto first = first_call(kind, rank)) {
      bytes += static_cast<double>(first->access.byte_count);
    }
  }
  bytes *= static_cast<double>(calls_each(kind));
  const double scale = static_cast<double>(kind.bytes) / std::max(1.0, bytes);
  if (std::abs(scale - 1) <= differs) return;
  kind.scale = scale;
  guesses_.emplace_back(
      "Calls or ranks differ in bytes; all calls have the shape of the first and the average "
      "size.");
}

std::int64_t RecordedJob::calls_each(const Kind& kind) {
  return std::max<std::int64_t>(1, (kind.calls + kind.ranks / 2) / kind.ranks);
}

std::optional<RecordedJob::FirstCall> RecordedJob::first_call(const Kind& kind, int rank) const {
  const int behind = rank - kind.rank_first;
  if (behind < 0 || behind % kind.rank_step != 0) return std::nullopt;
  const RankPlacement& placement = *kind.placement;
  const int place = behind / kind.rank_step;
  const bool is_only = kind.shapes.size() == 1;
  const Shape& base = is_only ? kind.shapes.front() : kind.shapes[placement.sample_before(place)];
  FirstCall call{base.access, base.step_bytes.value_or(kind.step_bytes)};
  call.access.view.origin += placement.begin_of(place) - plan::bounds(base.access).offset;
  call.access.view.origin = std::max<std::int64_t>(0, call.access.view.origin);
  const double bytes = static_cast<double>(base.access.byte_count) * kind.scale;
  call.access.byte_count = std::max<std::int64_t>(1, std::llround(bytes));
  return call;
}

void RecordedJob::add_calls(const Kind& kind, int rank, RankCalls& calls) const {
  const std::int64_t count = calls_each(kind);
  CallSeries series;
  if (auto first = first_call(kind, rank % rank_count_)) {
    first->access.view.origin += rank / rank_count_ * end_;
    series = repeated(first->access, count, first->step_bytes);
  } else {
    series.view = {plan::TypeMap::bytes(1), 0};
    if (kind.is_collective) series.calls.resize(checked_cast<std::size_t>(count));
  }
  series.is_collective = kind.is_collective;
  (kind.is_write ? calls.writes : calls.reads).push_back(std::move(series));
}

RankCalls RecordedJob::calls_of(int rank) const {
  RankCalls calls;
  for (const Kind& kind : kinds_) add_calls(kind, rank, calls);
  return calls;
}

std::int64_t RecordedJob::end(int rank_count) const {
  return (rank_count + rank_count_ - 1) / rank_count_ * end_;
}

}  // namespace nacre::sim
