#include "possible_file.h"

#include <algorithm>
#include <utility>

namespace nacre::simulation {
namespace {

using collective::fixtures::RankAccess;

const std::set<std::byte> never_written{std::byte{0}};

/// The values that ranks write to a byte.
struct Written {
  std::set<std::byte> values;
  bool is_certain = false;  // the write of one of them succeeded
};

}  // namespace

void PossibleFile::write(const std::vector<RankAccess>& ranks, const std::vector<bool>& succeeded) {
  std::map<std::int64_t, Written> written;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::int64_t> in_file = ranks[rank].file_offsets();
    const std::vector<std::int64_t> in_memory = ranks[rank].memory_offsets();
    for (std::size_t i = 0; i < in_file.size(); ++i) {
      Written& byte = written[in_file[i]];
      byte.values.insert(ranks[rank].buffer[static_cast<std::size_t>(in_memory[i])]);
      byte.is_certain = byte.is_certain || succeeded[rank];
    }
  }
  for (auto& [offset, byte] : written) {
    std::set<std::byte>& possible = written_.try_emplace(offset, never_written).first->second;
    if (byte.is_certain) possible.clear();
    possible.merge(byte.values);
  }
}

void PossibleFile::resize(std::int64_t size, bool succeeded) {
  for (auto byte = written_.lower_bound(size); byte != written_.end(); ++byte) {
    if (succeeded) byte->second.clear();
    byte->second.insert(std::byte{0});
  }
}

bool PossibleFile::allows(std::int64_t offset, std::byte value) const {
  const auto found = written_.find(offset);
  return (found == written_.end() ? never_written : found->second).contains(value);
}

std::optional<std::string> PossibleFile::misfit(const Bytes& found) const {
  const std::int64_t written_end = written_.empty() ? 0 : written_.rbegin()->first + 1;
  for (std::int64_t offset = 0; offset < std::max(std::ssize(found), written_end); ++offset) {
    const bool is_there = offset < std::ssize(found);
    const std::byte value = is_there ? found[static_cast<std::size_t>(offset)] : std::byte{0};
    if (!allows(offset, value)) {
      return "byte " + std::to_string(offset) + " of the file is " +
             std::to_string(std::to_integer<int>(value)) + (is_there ? "" : " (behind its end)");
    }
  }
  return std::nullopt;
}

std::optional<std::string> PossibleFile::misfit(const RankAccess& read, const Bytes& before,
                                                std::int64_t bytes) const {
  const std::vector<std::int64_t> in_file = read.file_offsets();
  const std::vector<std::int64_t> in_memory = read.memory_offsets();
  Bytes buffer = before;
  for (std::int64_t i = 0; i < bytes; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const auto place = static_cast<std::size_t>(in_memory[index]);
    buffer[place] = read.buffer[place];
    if (!allows(in_file[index], read.buffer[place])) {
      return "byte " + std::to_string(in_file[index]) + " was read as " +
             std::to_string(std::to_integer<int>(read.buffer[place]));
    }
  }
  if (buffer != read.buffer) return "a read changed memory that it did not read into";
  return std::nullopt;
}

}  // namespace nacre::simulation
