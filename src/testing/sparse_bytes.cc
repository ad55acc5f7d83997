#include "testing/sparse_bytes.h"

#include <algorithm>

namespace nacre::testing {

void SparseBytes::resize(std::int64_t size) {
  if (size < size_) {
    const std::int64_t cut_block = size / block_bytes;
    blocks_.erase(blocks_.upper_bound(cut_block), blocks_.end());
    if (const auto cut = blocks_.find(cut_block); cut != blocks_.end()) {
      std::fill(cut->second.begin() + size % block_bytes, cut->second.end(), std::byte{0});
    }
  }
  size_ = size;
}

std::int64_t SparseBytes::read(std::span<std::byte> to, std::int64_t offset) const {
  const std::int64_t asked = static_cast<std::int64_t>(to.size());
  const std::int64_t bytes = std::min(asked, std::max<std::int64_t>(0, size_ - offset));
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t start = (offset + done) % block_bytes;
    const std::int64_t part = std::min(bytes - done, block_bytes - start);
    const auto block = blocks_.find((offset + done) / block_bytes);
    if (block == blocks_.end()) {
      std::fill_n(to.begin() + done, part, std::byte{0});
    } else {
      std::copy_n(block->second.begin() + start, part, to.begin() + done);
    }
    done += part;
  }
  return bytes;
}

void SparseBytes::write(std::span<const std::byte> from, std::int64_t offset) {
  const std::int64_t bytes = static_cast<std::int64_t>(from.size());
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t start = (offset + done) % block_bytes;
    const std::int64_t part = std::min(bytes - done, block_bytes - start);
    std::vector<std::byte>& block = blocks_[(offset + done) / block_bytes];
    block.resize(block_bytes);
    std::copy_n(from.begin() + done, part, block.begin() + start);
    done += part;
  }
  if (bytes > 0) size_ = std::max(size_, offset + bytes);
}

}  // namespace nacre::testing
