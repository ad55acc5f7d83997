// Splits pieces into batches for system calls, which may move a part of a batch only.
#include "store/posix/piece_batch.h"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/store.h"

namespace nacre::store {
namespace {

std::int64_t bytes_of(std::span<const iovec> vectors) {
  std::int64_t bytes = 0;
  for (const iovec& vector : vectors) bytes += static_cast<std::int64_t>(vector.iov_len);
  return bytes;
}

}  // namespace

TEST_CASE("without pieces the batch is empty") {
  std::byte byte{};
  const std::vector<WritePiece> empty_pieces{{&byte, 0}, {nullptr, 0}};
  CHECK(PieceBatch<WritePiece>({}).next().empty());
  CHECK(PieceBatch<WritePiece>(empty_pieces).next().empty());
}

TEST_CASE("a batch has no more pieces than a call may have") {
  std::vector<std::byte> bytes(3000);
  std::vector<WritePiece> pieces;
  for (const std::byte& byte : bytes) pieces.push_back({&byte, 1});
  PieceBatch<WritePiece> batch(pieces);
  CHECK(batch.next().size() == call_pieces_max);
  batch.advance(call_pieces_max);
  CHECK(batch.next().front().iov_base == &bytes[call_pieces_max]);
}

TEST_CASE("a batch has no more bytes than a call may move") {
  // The addresses are only computed, never accessed.
  std::byte* base = nullptr;
  const std::vector<WritePiece> pieces{{base, 100}, {base, 5 * call_bytes_max}, {base, 7}};
  PieceBatch<WritePiece> batch(pieces);
  std::int64_t moved = 0;
  std::vector<std::int64_t> calls;
  for (auto vectors = batch.next(); !vectors.empty(); vectors = batch.next()) {
    calls.push_back(bytes_of(vectors));
    moved += calls.back();
    batch.advance(calls.back());
  }
  CHECK(moved == 5 * call_bytes_max + 107);
  CHECK(calls == std::vector<std::int64_t>{call_bytes_max, call_bytes_max, call_bytes_max,
                                           call_bytes_max, call_bytes_max, 107});
}

TEST_CASE("every byte is moved once and in order, whatever part of a batch a call moves") {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    std::vector<std::string> texts(1 + below(2500));
    std::string expected;
    std::vector<WritePiece> pieces;
    for (std::string& text : texts) {
      for (unsigned i = below(4); i > 0; --i) text += static_cast<char>('a' + below(26));
      pieces.push_back({reinterpret_cast<const std::byte*>(text.data()),
                        static_cast<std::int64_t>(text.size())});
      expected += text;
    }
    PieceBatch<WritePiece> batch(pieces);
    std::string moved;
    for (auto vectors = batch.next(); !vectors.empty(); vectors = batch.next()) {
      const std::int64_t part = 1 + below(static_cast<unsigned>(bytes_of(vectors)));
      std::string all;
      for (const iovec& vector : vectors) {
        all.append(static_cast<const char*>(vector.iov_base), vector.iov_len);
      }
      moved += all.substr(0, static_cast<std::size_t>(part));
      batch.advance(part);
    }
    CHECK(moved == expected);
  }
}

}  // namespace nacre::store
