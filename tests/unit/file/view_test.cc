// Views: valid and invalid arguments. Compares offsets in etypes with a walk over every data byte.
#include "file/view.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "random_access.h"

namespace nacre::file {
namespace {

using collective::fixtures::pick;
using collective::fixtures::Random;
using plan::TypeMap;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// A filetype with the extent `extent`: blocks of bytes at displacements, in that order.
View view_of(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& offsets,
             std::int64_t extent) {
  const TypeMap blocks = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  View view;
  view.map.type = blocks.resized(0, extent).value();
  return view;
}

std::string refusal(const View& view, bool writes) {
  const Status status = check_view(view, writes);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().error_class == ErrorClass::arg);
  return status.error().message;
}

/// The result of etypes_in, computed byte by byte. The first `limit` data bytes reach beyond the
/// end of the file.
std::int64_t etypes_before(const View& view, std::int64_t file_size, std::int64_t limit) {
  std::int64_t bytes = 0;
  while (bytes < limit && plan::offset_of(view.map, bytes) < file_size) ++bytes;
  return (bytes + view.etype_size - 1) / view.etype_size;
}

}  // namespace

TEST_CASE("the default view of a new file is its bytes") {
  const View view;
  CHECK(check_view(view, true).ok());
  CHECK(byte_offset(view, 12345).value() == 12345);
  CHECK(etypes_in(view, 77) == 77);
}

TEST_CASE("a negative displacement or a filetype with partial etypes is an error") {
  View view;
  view.map.origin = -1;
  CHECK(refusal(view, false) == "file view: the displacement is -1; expected 0 or more");
  view = view_of({3}, {0}, 3);
  view.etype_size = 2;
  CHECK(refusal(view, false).find("not a multiple of the etype's 2") != std::string::npos);
  view.etype_size = 0;
  CHECK_FALSE(check_view(view, false).ok());
  View negative;
  negative.map = {TypeMap::indexed(TypeMap::bytes(1), std::vector<std::int64_t>{1},
                                   std::vector<std::int64_t>{-4})
                      .value(),
                  100};
  CHECK(refusal(negative, false).find("begins at byte -4") != std::string::npos);
}

TEST_CASE("filetypes with overlaps are valid for reading only") {
  for (const View& view : {view_of({4, 4}, {0, 2}, 10), view_of({4, 4}, {0, 0}, 10)}) {
    CHECK(check_view(view, false).ok());
    CHECK(refusal(view, true).find("overlapping blocks") != std::string::npos);
  }
}

TEST_CASE("filetypes with decreasing displacements are refused, also for reading") {
  for (const View& view : {view_of({4, 4}, {8, 0}, 12), view_of({4, 4, 1}, {0, 8, 6}, 12)}) {
    for (const bool writes : {false, true}) {
      CHECK(refusal(view, writes).find("decreasing displacements") != std::string::npos);
    }
  }
}

TEST_CASE("if only copies of a filetype overlap, an access inside one copy is monotone") {
  for (const std::int64_t extent : {20, 3, 0}) {
    CAPTURE(extent);
    const View view = view_of({4, 4}, {0, 16}, extent);
    CHECK(check_view(view, true).ok());
    const std::int64_t tile = extent == 20 ? 0 : 2;
    for (const std::int64_t first : {0, 3, 5}) {
      const plan::FileAccess access = access_at(view, 8 * tile + first, 3).value();
      CHECK(access.view.type.tiles_monotone());
      for (std::int64_t i = 0; i < 3; ++i) {
        CHECK(plan::offset_of(access.view, access.first_byte + i) ==
              plan::offset_of(view.map, 8 * tile + first + i));
      }
    }
  }
  const View view = view_of({4, 4}, {0, 16}, 3);
  CHECK_FALSE(access_at(view, 6, 4)->view.type.tiles_monotone());
}

TEST_CASE("a filetype may have a negative lower bound if it has no bytes at negative offsets") {
  View view;
  view.map.type = TypeMap::bytes(4).resized(-8, 16).value();
  CHECK(check_view(view, true).ok());
  CHECK(byte_offset(view, 4).value() == 16);
}

TEST_CASE("a filetype without data has its end at 0 and no offsets") {
  View view;
  view.map.type = TypeMap();
  CHECK(check_view(view, true).ok());
  CHECK(etypes_in(view, 100) == 0);
  CHECK_FALSE(byte_offset(view, 0).ok());
  CHECK(access_at(view, 0, 0).ok());
  CHECK(access_at(view, 0, 1).error().error_class == ErrorClass::io);
}

TEST_CASE("an access must have a whole number of etypes") {
  View view;
  view.etype_size = 4;
  view.map.type = TypeMap::bytes(4);
  CHECK(access_at(view, 3, 8)->first_byte == 12);
  CHECK(access_at(view, 3, 8)->byte_count == 8);
  CHECK(access_at(view, 3, 6).error().error_class == ErrorClass::io);
}

TEST_CASE("offsets that exceed 64 bits are refused; the largest valid offset is not") {
  View bytes;
  CHECK(byte_offset(bytes, huge - 1).value() == huge - 1);
  CHECK(byte_offset(bytes, huge).error().error_class == ErrorClass::arg);
  CHECK(byte_offset(bytes, -1).error().error_class == ErrorClass::arg);
  CHECK(access_at(bytes, huge - 8, 8).ok());
  CHECK(access_at(bytes, huge - 8, 9).error().error_class == ErrorClass::arg);
  CHECK(access_at(bytes, -1, 1).error().error_class == ErrorClass::arg);
  View wide;
  wide.etype_size = 8;
  wide.map.type = TypeMap::bytes(8).resized(0, 1 << 20).value();
  CHECK(byte_offset(wide, huge / 8).error().error_class == ErrorClass::arg);
  CHECK(byte_offset(wide, huge / (1 << 20)).ok());
  CHECK(byte_offset(wide, huge / (1 << 20) + 1).error().error_class == ErrorClass::arg);
  CHECK(access_at(wide, huge / (1 << 20) - 1, 16).ok());
  CHECK(access_at(wide, huge / (1 << 20) - 1, 24).error().error_class == ErrorClass::arg);
  View displaced;
  displaced.map.origin = huge - 10;
  CHECK(access_at(displaced, 0, 10).ok());
  CHECK(access_at(displaced, 0, 11).error().error_class == ErrorClass::arg);
}

TEST_CASE("the end of the file counts all etypes that begin before it") {
  View view = view_of({4, 4}, {0, 8}, 16);
  view.map.origin = 10;
  view.etype_size = 4;
  CHECK(etypes_in(view, 0) == 0);
  CHECK(etypes_in(view, 10) == 0);
  CHECK(etypes_in(view, 11) == 1);
  CHECK(etypes_in(view, 14) == 1);
  CHECK(etypes_in(view, 18) == 1);
  CHECK(etypes_in(view, 19) == 2);
  CHECK(etypes_in(view, 26) == 2);
  CHECK(etypes_in(view, 27) == 3);
}

TEST_CASE("the end of the file in random views agrees with a walk over every data byte") {
  const std::uint64_t seed = 20'26;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 400; ++repeat) {
    CAPTURE(repeat);
    View view;
    view.map.origin = pick(random, 0, 30);
    TypeMap type = collective::fixtures::random_memory_type(random);
    // Some tiles overlap.
    if (pick(random, 0, 2) == 0) {
      type = type.resized(0, pick(random, 1, type.extent())).value();
    }
    view.map.type = type;
    view.etype_size = type.size() % 2 == 0 ? 2 : 1;
    const std::int64_t file_size =
        pick(random, 0, view.map.origin + 3 * type.extent() + type.true_extent());
    const std::int64_t tiles = file_size / type.extent() + 2;
    CHECK(etypes_in(view, file_size) == etypes_before(view, file_size, tiles * type.size()));
  }
}

TEST_CASE("the end of the file in many equal runs with decreasing offsets is found fast") {
  const TypeMap back = TypeMap::repeat(TypeMap::bytes(1), 1'000'000'000, -2).value();
  View view;
  view.map.type =
      TypeMap::indexed(back, std::vector<std::int64_t>{1}, std::vector<std::int64_t>{2'000'000'000})
          .value();
  CHECK(etypes_in(view, 2'000'000'000) == 0);
  CHECK(etypes_in(view, 2'000'000'001) == 1'000'000'000);
}

}  // namespace nacre::file
