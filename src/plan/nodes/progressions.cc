#include "plan/nodes/progressions.h"

#include <algorithm>
#include <cstring>

#include "base/checked_cast.h"

namespace nacre::plan {

Progressions::Progressions(std::span<const std::int32_t> numbers) {
  for (const std::int32_t number : numbers) add(number);
}

void Progressions::add(std::int32_t number) {
  const std::int32_t index = size_++;
  if (!parts_.empty()) {
    Part& last = parts_.back();
    const std::int32_t place = index - last.begin;
    if (place == 1) last.step = number - last.first;
    if (last.first + last.step * place == number) return;
  }
  parts_.push_back({index, number, 0});
}

int Progressions::end_of(std::size_t part) const {
  return part + 1 < parts_.size() ? parts_[part + 1].begin : size_;
}

std::int32_t Progressions::at(int index) const {
  const Part& part = *(std::ranges::upper_bound(parts_, index, {}, &Part::begin) - 1);
  return part.first + part.step * (index - part.begin);
}

int Progressions::count_up_to(std::int32_t limit) const {
  const auto behind = std::ranges::upper_bound(parts_, limit, {}, &Part::first);
  if (behind == parts_.begin()) return 0;
  const Part& part = *(behind - 1);
  const int end = end_of(checked_cast<std::size_t>(behind - parts_.begin()) - 1);
  if (part.step == 0) return end;
  return std::min(end, part.begin + (limit - part.first) / part.step + 1);
}

std::int32_t Progressions::step_max() const {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    most = std::max(most, parts_[i].step);
    const int end = end_of(i);
    if (end < size_) most = std::max(most, parts_[i + 1].first - at(end - 1));
  }
  return most;
}

void Progressions::encode(std::vector<std::byte>& bytes) const {
  const auto part_count = checked_cast<std::int32_t>(std::ssize(parts_));
  const auto add = [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  add(std::as_bytes(std::span(&size_, 1)));
  add(std::as_bytes(std::span(&part_count, 1)));
  add(std::as_bytes(std::span(parts_)));
}

Progressions Progressions::decode(std::span<const std::byte>& bytes) {
  const auto take = [&](void* into, std::size_t count) {
    if (count > 0) std::memcpy(into, bytes.data(), count);
    bytes = bytes.subspan(count);
  };
  Progressions decoded;
  std::int32_t part_count = 0;
  take(&decoded.size_, sizeof decoded.size_);
  take(&part_count, sizeof part_count);
  decoded.parts_.resize(checked_cast<std::size_t>(part_count));
  take(decoded.parts_.data(), decoded.parts_.size() * sizeof(Part));
  return decoded;
}

}  // namespace nacre::plan
