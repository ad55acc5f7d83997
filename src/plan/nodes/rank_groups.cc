#include "plan/nodes/rank_groups.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

/// `count` numbers from `first` on, `step` apart.
struct Progression {
  std::int32_t first = 0;
  std::int32_t step = 0;
  std::int32_t count = 0;
};

std::vector<Progression> progressions_of(std::span<const std::int32_t> numbers) {
  std::vector<Progression> found;
  for (const std::int32_t number : numbers) {
    if (!found.empty()) {
      Progression& last = found.back();
      if (last.count == 1) last.step = number - last.first;
      if (last.first + last.step * last.count == number) {
        ++last.count;
        continue;
      }
    }
    found.push_back({number, 0, 1});
  }
  return found;
}

std::vector<std::int32_t> numbers_of(std::span<const Progression> progressions) {
  std::vector<std::int32_t> numbers;
  for (const Progression& part : progressions) {
    for (std::int32_t i = 0; i < part.count; ++i) numbers.push_back(part.first + part.step * i);
  }
  return numbers;
}

}  // namespace

RankGroups::RankGroups(std::vector<std::int32_t> order, std::span<const std::int32_t> begins)
    : order_(std::move(order)),
      begins_(begins.begin(), begins.end()),
      place_(order_.size()),
      group_of_(order_.size()) {
  begins_.push_back(rank_count());
  std::int32_t place = 0;
  for (int group = 0; group < count(); ++group) {
    for (const std::int32_t rank : members(group)) {
      place_[static_cast<std::size_t>(rank)] = place++;
      group_of_[static_cast<std::size_t>(rank)] = group;
    }
  }
}

std::span<const std::int32_t> RankGroups::members(int group) const {
  const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(group)]);
  const auto end = static_cast<std::size_t>(begins_[static_cast<std::size_t>(group) + 1]);
  return std::span(order_).subspan(begin, end - begin);
}

int RankGroups::place_of(int rank) const {
  return place_[static_cast<std::size_t>(rank)] - begins_[static_cast<std::size_t>(group_of(rank))];
}

int RankGroups::size_max() const {
  int most = 0;
  for (int group = 0; group < count(); ++group) {
    most = std::max(most, static_cast<int>(members(group).size()));
  }
  return most;
}

std::vector<std::byte> RankGroups::serialized() const {
  const std::vector<Progression> order = progressions_of(order_);
  const std::vector<Progression> begins =
      progressions_of(std::span(begins_).first(begins_.size() - 1));
  const std::int64_t order_parts = std::ssize(order);
  std::vector<std::byte> bytes;
  const auto add = [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  add(std::as_bytes(std::span(&order_parts, 1)));
  add(std::as_bytes(std::span(order)));
  add(std::as_bytes(std::span(begins)));
  return bytes;
}

RankGroups RankGroups::deserialized(std::span<const std::byte> bytes) {
  std::int64_t order_parts = 0;
  std::memcpy(&order_parts, bytes.data(), sizeof order_parts);
  bytes = bytes.subspan(sizeof order_parts);
  std::vector<Progression> parts(bytes.size() / sizeof(Progression));
  std::memcpy(parts.data(), bytes.data(), bytes.size());
  const std::span<const Progression> all(parts);
  const auto split = checked_cast<std::size_t>(order_parts);
  return RankGroups(numbers_of(all.first(split)), numbers_of(all.subspan(split)));
}

}  // namespace nacre::plan
