#include "possible_file.h"

#include <algorithm>
#include <utility>

namespace nacre::simulation {
namespace {

using collective::fixtures::RankAccess;

const std::bitset<256> never_written(1);

std::size_t bit_of(std::byte value) { return std::to_integer<std::size_t>(value); }

/// The values that ranks write to a byte.
struct Written {
  std::bitset<256> values;
  bool is_certain = false;  // the write of one of them succeeded
};

}  // namespace

void PossibleFile::write(const std::vector<RankAccess>& ranks, const std::vector<bool>& succeeded,
                         bool may_be_lost) {
  std::map<std::int64_t, Written> written;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::int64_t> in_file = ranks[rank].file_offsets();
    const std::vector<std::int64_t> in_memory = ranks[rank].memory_offsets();
    for (std::size_t i = 0; i < in_file.size(); ++i) {
      Written& byte = written[in_file[i]];
      byte.values.set(bit_of(ranks[rank].buffer[static_cast<std::size_t>(in_memory[i])]));
      byte.is_certain = byte.is_certain || succeeded[rank];
    }
  }
  for (auto& [offset, byte] : written) {
    Values& possible = written_.try_emplace(offset, never_written).first->second;
    if (byte.is_certain) possible.reset();
    possible |= byte.values;
  }
  if (may_be_lost && !written.empty()) {
    const std::int64_t begin = written.begin()->first;
    unsynced_.push_back({begin, written.rbegin()->first + 1 - begin});
  }
}

void PossibleFile::lose_unsynced() {
  for (const Extent& extent : unsynced_) {
    const auto end = written_.lower_bound(extent.end());
    for (auto byte = written_.lower_bound(extent.offset); byte != end; ++byte) {
      byte->second |= never_written;
    }
  }
  unsynced_.clear();
}

void PossibleFile::resize(std::int64_t size, bool succeeded) {
  for (auto byte = written_.lower_bound(size); byte != written_.end(); ++byte) {
    if (succeeded) byte->second.reset();
    byte->second |= never_written;
  }
}

bool PossibleFile::allows(std::int64_t offset, std::byte value) const {
  const auto holds = [&](const Extent& extent) { return extent.contains(offset); };
  if (value == std::byte{0} && std::ranges::any_of(unsynced_, holds)) return true;
  const auto found = written_.find(offset);
  return (found == written_.end() ? never_written : found->second).test(bit_of(value));
}

std::optional<std::string> PossibleFile::misfit(const Bytes& found) const {
  const auto wrong = [](std::int64_t offset, std::byte value, const char* where) {
    return "byte " + std::to_string(offset) + " of the file is " +
           std::to_string(std::to_integer<int>(value)) + where;
  };
  auto next = found.begin();  // behind the last byte that was checked
  const auto first_between = [&](std::int64_t offset) {
    const auto end = found.begin() + std::min(offset, std::ssize(found));
    const auto other = std::find_if(next, end, [](std::byte byte) { return byte != std::byte{0}; });
    next = end == found.end() ? end : end + 1;
    return other == end ? std::nullopt : std::optional(other);
  };
  for (const auto& [offset, values] : written_) {
    if (const auto other = first_between(offset)) return wrong(*other - found.begin(), **other, "");
    const bool is_there = offset < std::ssize(found);
    const std::byte value = is_there ? found[static_cast<std::size_t>(offset)] : std::byte{0};
    if (!allows(offset, value)) return wrong(offset, value, is_there ? "" : " (behind its end)");
  }
  if (const auto other = first_between(std::ssize(found))) {
    return wrong(*other - found.begin(), **other, "");
  }
  return std::nullopt;
}

std::optional<std::string> PossibleFile::misfit(const RankAccess& read, const Bytes& before,
                                                std::int64_t bytes) const {
  const std::vector<std::int64_t> in_file = read.file_offsets();
  const std::vector<std::int64_t> in_memory = read.memory_offsets();
  Bytes buffer = before;
  for (std::size_t index = 0; index < in_memory.size(); ++index) {
    const auto place = static_cast<std::size_t>(in_memory[index]);
    const bool is_behind = std::cmp_greater_equal(index, bytes);
    if (is_behind && read.buffer[place] != std::byte{0}) continue;
    buffer[place] = read.buffer[place];
    if (!is_behind && !allows(in_file[index], read.buffer[place])) {
      return "byte " + std::to_string(in_file[index]) + " was read as " +
             std::to_string(std::to_integer<int>(read.buffer[place]));
    }
  }
  if (buffer != read.buffer) return "a read changed memory that it did not read into";
  return std::nullopt;
}

}  // namespace nacre::simulation
