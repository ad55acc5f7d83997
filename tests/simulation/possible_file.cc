#include "possible_file.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nacre::simulation {
namespace {

using collective::fixtures::RankAccess;

const std::bitset<256> never_written(1);

std::size_t bit_of(std::byte value) { return std::to_integer<std::size_t>(value); }

/// Where an access ends in the file; 0: it has no bytes.
std::int64_t end_in_file(const std::vector<std::int64_t>& offsets) {
  return offsets.empty() ? 0 : std::ranges::max(offsets) + 1;
}

/// The values that ranks write to a byte.
struct Written {
  std::bitset<256> values;
  bool is_certain = false;  // the write of one of them succeeded
};

}  // namespace

std::byte byte_before(std::int64_t offset) {
  return static_cast<std::byte>(1 + (offset + offset / 251) % 255);
}

void PossibleFile::write(const std::vector<RankAccess>& ranks, const std::vector<bool>& succeeded,
                         std::optional<int> lost_until_sync_of) {
  std::map<std::int64_t, Written> written;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::int64_t> in_file = ranks[rank].file_offsets();
    const std::vector<std::int64_t> in_memory = ranks[rank].memory_offsets();
    size_max_ = std::max(size_max_, end_in_file(in_file));
    if (succeeded[rank]) size_min_ = std::max(size_min_, end_in_file(in_file));
    for (std::size_t i = 0; i < in_file.size(); ++i) {
      Written& byte = written[in_file[i]];
      byte.values.set(bit_of(ranks[rank].buffer[static_cast<std::size_t>(in_memory[i])]));
      byte.is_certain = byte.is_certain || succeeded[rank];
    }
  }
  for (auto& [offset, byte] : written) {
    Values& possible = values_at(offset);
    if (byte.is_certain) possible.reset();
    possible |= byte.values;
  }
  if (lost_until_sync_of && !written.empty()) {
    const std::int64_t begin = written.begin()->first;
    const Extent extent{begin, written.rbegin()->first + 1 - begin};
    unsynced_.push_back({extent, *lost_until_sync_of});
  }
}

void PossibleFile::sync(int open) {
  std::erase_if(unsynced_, [&](const Unsynced& one) { return one.open == open; });
}

std::byte PossibleFile::unwritten(std::int64_t offset) const {
  return offset < size_before_ ? byte_before(offset) : std::byte{0};
}

PossibleFile::Values& PossibleFile::values_at(std::int64_t offset) {
  const auto [place, is_new] = written_.try_emplace(offset);
  if (is_new) place->second.set(bit_of(unwritten(offset)));
  return place->second;
}

void PossibleFile::allow_zeros(const Extent& extent) {
  for (std::int64_t offset = extent.offset; offset < std::min(extent.end(), size_before_);
       ++offset) {
    values_at(offset).set(0);
  }
  const auto end = written_.lower_bound(extent.end());
  for (auto byte = written_.lower_bound(extent.offset); byte != end; ++byte) byte->second.set(0);
}

void PossibleFile::lose_unsynced() {
  for (const Unsynced& one : std::exchange(unsynced_, {})) {
    size_min_ = std::min(size_min_, one.extent.offset);
    allow_zeros(one.extent);
  }
}

void PossibleFile::resize(std::int64_t size, bool succeeded) {
  if (!succeeded) {
    size_min_ = std::min(size_min_, size);
    size_max_ = std::max(size_max_, size);
    allow_zeros({size, std::numeric_limits<std::int64_t>::max() - size});
    return;
  }
  size_min_ = size_max_ = size;
  size_before_ = std::min(size_before_, size);
  for (auto byte = written_.lower_bound(size); byte != written_.end(); ++byte) {
    byte->second = never_written;
  }
}

void PossibleFile::preallocate(std::int64_t size, bool succeeded) {
  size_max_ = std::max(size_max_, size);
  if (succeeded) size_min_ = std::max(size_min_, size);
}

std::optional<std::string> PossibleFile::misfit_of_size(std::int64_t size) const {
  std::int64_t smallest = size_min_;
  for (const Unsynced& one : unsynced_) smallest = std::min(smallest, one.extent.offset);
  if (size >= smallest && size <= size_max_) return std::nullopt;
  return "the size is " + std::to_string(size) + ", not " + std::to_string(smallest) + " to " +
         std::to_string(size_max_);
}

std::optional<std::string> PossibleFile::open(const file::AccessMode& mode, bool succeeded) {
  if (!succeeded) {
    if (mode.create && may_be_missing_) {
      size_min_ = 0;
      allow_zeros({0, std::numeric_limits<std::int64_t>::max()});
    }
    may_exist_ = may_exist_ || mode.create;
    return std::nullopt;
  }
  if (!mode.create && !may_exist_) return "a file that does not exist was opened";
  if (mode.exclusive && !may_be_missing_) return "a file that existed was created";
  if (mode.exclusive) remove(true);
  if (may_be_missing_ && mode.create) {
    size_min_ = 0;
    allow_zeros({0, std::numeric_limits<std::int64_t>::max()});
  }
  may_exist_ = true;
  may_be_missing_ = false;
  return std::nullopt;
}

bool PossibleFile::explains(const file::AccessMode& mode, const Error& error) const {
  if (error.error_class == ErrorClass::no_such_file) return !mode.create && may_be_missing_;
  return error.error_class == ErrorClass::file_exists && mode.exclusive && may_exist_;
}

void PossibleFile::remove(bool succeeded) {
  may_be_missing_ = true;
  if (succeeded) *this = PossibleFile(0);
}

bool PossibleFile::allows(std::int64_t offset, std::byte value) const {
  const auto holds = [&](const Unsynced& one) { return one.extent.contains(offset); };
  if (value == std::byte{0} && std::ranges::any_of(unsynced_, holds)) return true;
  const auto found = written_.find(offset);
  if (found == written_.end()) return value == unwritten(offset);
  return found->second.test(bit_of(value));
}

std::optional<std::string> PossibleFile::misfit(const Bytes& found) const {
  if (auto wrong = misfit_of_size(std::ssize(found))) return wrong;
  const auto value_at = [&](std::int64_t offset) {
    return offset < std::ssize(found) ? found[static_cast<std::size_t>(offset)] : std::byte{0};
  };
  const auto is_wrong = [&](std::int64_t offset) {
    return value_at(offset) != unwritten(offset) && !allows(offset, value_at(offset));
  };
  const auto wrong = [&](std::int64_t offset) {
    return "byte " + std::to_string(offset) + " of the file is " +
           std::to_string(std::to_integer<int>(value_at(offset))) +
           (offset < std::ssize(found) ? "" : " (behind its end)");
  };
  for (std::int64_t offset = 0; offset < size_before_; ++offset) {
    if (is_wrong(offset)) return wrong(offset);
  }
  for (const auto& [offset, values] : written_) {
    if (!allows(offset, value_at(offset))) return wrong(offset);
  }
  const auto is_data = [](std::byte byte) { return byte != std::byte{0}; };
  const auto begin = found.begin() + std::min(size_before_, std::ssize(found));
  for (auto byte = std::find_if(begin, found.end(), is_data); byte != found.end();
       byte = std::find_if(byte + 1, found.end(), is_data)) {
    if (is_wrong(byte - found.begin())) return wrong(byte - found.begin());
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
    if (is_behind && !allows(in_file[index], std::byte{0})) {
      return "byte " + std::to_string(in_file[index]) + " was not read";
    }
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
