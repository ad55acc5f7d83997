#include "oracle.h"

#include <algorithm>

namespace differential {
namespace {

constexpr std::int64_t margin = 64;

/// The offset of each data byte of a filetype or memory datatype, in data order.
std::vector<std::int64_t> byte_offsets(const Type& type) {
  std::vector<std::int64_t> offsets;
  for (const Element& element : type.map) {
    for (std::int64_t byte = 0; byte < element.bytes; ++byte) {
      offsets.push_back(element.offset + byte);
    }
  }
  return offsets;
}

std::string hex(unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  return {digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

std::int64_t View::file_offset(std::int64_t index) const {
  const std::int64_t tile_size = filetype.size();
  std::int64_t rest = index % tile_size;
  for (const Element& element : filetype.map) {
    if (rest < element.bytes) {
      return displacement + index / tile_size * filetype.extent + element.offset + rest;
    }
    rest -= element.bytes;
  }
  return -1;
}

std::int64_t View::bytes_before(std::int64_t size) const {
  const std::int64_t whole_tiles =
      (size - displacement - filetype.true_upper_bound()) / filetype.extent;
  std::int64_t index = std::max<std::int64_t>(0, whole_tiles) * filetype.size();
  while (file_offset(index) < size) {
    ++index;
  }
  return index;
}

Buffer::Buffer(const Type& type, std::int64_t count) {
  const std::vector<std::int64_t> offsets = byte_offsets(type);
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::int64_t tile = 0; tile < count; ++tile) {
    for (std::int64_t offset : offsets) {
      data.push_back(tile * type.extent + offset);
      low = std::min(low, data.back());
      high = std::max(high, data.back() + 1);
    }
    for (const Element& element : type.map) {
      const std::int64_t begin = element_end.empty() ? 0 : element_end.back();
      element_end.push_back(begin + element.bytes);
      const std::int64_t part_bytes = element.bytes / element.parts;
      for (std::int64_t byte = 0; byte < element.bytes; ++byte) {
        const std::int64_t in_part = byte % part_bytes;
        swapped.push_back(begin + byte - in_part + part_bytes - 1 - in_part);
      }
    }
  }
  origin = (margin - low + 15) / 16 * 16;
  bytes.resize(static_cast<std::size_t>(origin + high + margin));
  for (std::int64_t& offset : data) {
    offset += origin;
  }
  clear();
}

void Buffer::clear() { std::fill(bytes.begin(), bytes.end(), untouched_byte); }

void Buffer::fill(std::uint64_t tag) {
  for (std::size_t index = 0; index < data.size(); ++index) {
    bytes[static_cast<std::size_t>(data[index])] =
        static_cast<unsigned char>(mix(tag + index) >> 17);
  }
}

void FileModel::resize(std::int64_t size) {
  bytes_.resize(static_cast<std::size_t>(size), 0);
  known_.resize(static_cast<std::size_t>(size), zero_holes_);
}

void FileModel::reserve(std::int64_t size) {
  if (size > this->size()) {
    resize(size);
  }
}

void FileModel::write(const View& view, std::int64_t first, const std::vector<unsigned char>& data,
                      int writer) {
  for (std::size_t index = 0; index < data.size(); ++index) {
    const std::int64_t offset = view.file_offset(first + static_cast<std::int64_t>(index));
    const auto place = static_cast<std::size_t>(offset);
    reserve(offset + 1);
    if (stamps_.size() <= place) {
      stamps_.resize(place + 1, 0);
    }
    known_[place] = stamps_[place] == 0 || stamps_[place] == writer;
    stamps_[place] = known_[place] ? writer : -1;
    bytes_[place] = data[index];
  }
}

std::vector<unsigned char> to_file(const Buffer& buffer, const std::string& representation) {
  std::vector<unsigned char> result(buffer.data.size());
  const bool swap = representation == "external32";
  for (std::size_t index = 0; index < result.size(); ++index) {
    const std::size_t from = swap ? static_cast<std::size_t>(buffer.swapped[index]) : index;
    result[index] = buffer.bytes[static_cast<std::size_t>(buffer.data[from])];
  }
  return result;
}

std::int64_t whole_elements(const Type& memory, std::int64_t bytes) {
  const std::int64_t size = memory.size();
  std::int64_t whole = bytes / size * size;
  for (const Element& element : memory.map) {
    if (whole + element.bytes > bytes) {
      break;
    }
    whole += element.bytes;
  }
  return whole;
}

std::string compare_read(const FileModel& file, const View& view, std::int64_t first,
                         const Buffer& buffer, std::int64_t bytes) {
  const std::vector<unsigned char> found = to_file(buffer, view.representation);
  for (std::int64_t index = 0; index < bytes; ++index) {
    const std::int64_t offset = view.file_offset(first + index);
    const unsigned char byte = found[static_cast<std::size_t>(index)];
    if (file.determined(offset) && byte != file.at(offset)) {
      return "data byte " + std::to_string(index) + " (file byte " + std::to_string(offset) +
             ") is " + hex(byte) + ", must be " + hex(file.at(offset));
    }
  }
  std::vector<bool> is_data(buffer.bytes.size(), false);
  for (std::int64_t place : buffer.data) {
    is_data[static_cast<std::size_t>(place)] = true;
  }
  for (std::size_t place = 0; place < buffer.bytes.size(); ++place) {
    if (!is_data[place] && buffer.bytes[place] != untouched_byte) {
      return "byte " + std::to_string(static_cast<std::int64_t>(place) - buffer.origin) +
             " of the buffer, which the datatype does not name, was changed";
    }
  }
  return "";
}

}  // namespace differential
