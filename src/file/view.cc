#include "file/view.h"

#include <algorithm>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::file {
namespace {

Error view_error(const std::string& what) {
  return Error{ErrorClass::arg, 0, "file view: " + what};
}

/// Whether the offsets in the tile of data byte `end_byte - 1` fit in 64 bits.
bool is_addressable(const plan::TiledMap& map, std::int64_t end_byte) {
  if (end_byte <= 0) return true;
  const auto shift = checked_multiply((end_byte - 1) / map.type.size(),
                                      std::max<std::int64_t>(map.type.extent(), 0));
  const auto tile = shift ? checked_add(*shift, map.origin) : std::nullopt;
  return tile && checked_add(*tile, map.type.true_lb() + map.type.true_extent()).has_value();
}

/// The number of data bytes of the series before the first one at or behind `offset`.
std::int64_t bytes_up_to(const plan::RunSeries& series, std::int64_t offset) {
  const auto reaches = [&](std::int64_t run) {
    return series.offset + run * series.stride + series.length > offset;
  };
  std::int64_t run = 0;
  if (!reaches(0)) {
    if (series.stride <= 0) return series.bytes();
    run = (offset - series.length - series.offset) / series.stride + 1;
    if (run >= series.count) return series.bytes();
  }
  return run * series.length +
         std::max<std::int64_t>(offset - (series.offset + run * series.stride), 0);
}

/// The number of data bytes before the first one at or behind `offset`, in a view that goes
/// backwards in the file.
std::int64_t unordered_bytes_before(const plan::TiledMap& map, std::int64_t offset) {
  const plan::TypeMap& type = map.type;
  const std::int64_t beyond_first = offset - map.origin - type.true_lb() - type.true_extent() + 1;
  std::int64_t tile = 0;  // the first tile that reaches beyond `offset`
  if (beyond_first > 0) {
    if (type.extent() == 0) return 0;  // no tile does
    tile = divide_up(beyond_first, type.extent());
  }
  plan::RunCursor runs(map, tile * type.size(), type.size());
  std::int64_t bytes = tile * type.size();
  while (runs.remaining() > 0) {
    const plan::RunSeries series = runs.next();
    const std::int64_t before = bytes_up_to(series, offset);
    bytes += before;
    if (before < series.bytes()) break;
  }
  return bytes;
}

/// If copies of the filetype overlap but the access lies inside one copy: the same access with a
/// filetype whose copies do not overlap, which the engine treats as ordered.
Result<plan::FileAccess> inside_one_copy(plan::FileAccess access) {
  const plan::TypeMap& type = access.view.type;
  const std::int64_t copy = access.first_byte / type.size();
  const bool one = (access.first_byte + access.byte_count - 1) / type.size() == copy;
  if (!one || !type.is_monotone()) return access;
  Result<plan::TypeMap> apart = type.resized(type.true_lb(), type.true_extent());
  if (!apart) return std::move(apart).error();
  return plan::FileAccess{{*std::move(apart), access.view.origin + copy * type.extent()},
                          access.first_byte - copy * type.size(),
                          access.byte_count};
}

}  // namespace

Status check_view(const View& view, bool writes) {
  const plan::TypeMap& filetype = view.map.type;
  if (view.map.origin < 0) {
    return view_error("the displacement is " + std::to_string(view.map.origin) +
                      "; expected 0 or more");
  }
  if (view.etype_size <= 0 || filetype.size() % view.etype_size != 0) {
    return view_error("the filetype has " + std::to_string(filetype.size()) +
                      " bytes of data, which is not a multiple of the etype's " +
                      std::to_string(view.etype_size));
  }
  if (filetype.size() > 0 && (filetype.true_lb() < 0 || filetype.extent() < 0)) {
    return view_error("the filetype begins at byte " + std::to_string(filetype.true_lb()) +
                      "; expected displacements of 0 or more");
  }
  // Copies of the filetype may overlap each other: programs set such views and access one copy
  // only.
  if (!filetype.is_nondecreasing()) {
    return view_error(
        "the filetype has decreasing displacements; list its blocks in the order of the file");
  }
  if (writes && !filetype.is_monotone()) {
    return view_error(
        "the filetype has overlapping blocks, which are allowed only if the file is open for "
        "reading alone");
  }
  return {};
}

Result<std::int64_t> byte_offset(const View& view, std::int64_t offset_etypes) {
  const auto bytes = checked_multiply(offset_etypes, view.etype_size);
  const auto end = bytes ? checked_add<std::int64_t>(*bytes, 1) : std::nullopt;
  if (offset_etypes < 0 || view.map.type.size() == 0 || !bytes || !end ||
      !is_addressable(view.map, *end)) {
    return Error{ErrorClass::arg, 0,
                 "offset " + std::to_string(offset_etypes) + " is outside the file view"};
  }
  return plan::offset_of(view.map, *bytes);
}

std::int64_t etypes_in(const View& view, std::int64_t file_size) {
  const plan::TypeMap& type = view.map.type;
  if (type.size() == 0) return 0;
  const std::int64_t bytes = type.tiles_monotone() ? plan::bytes_before(view.map, file_size)
                                                   : unordered_bytes_before(view.map, file_size);
  return divide_up(bytes, view.etype_size);
}

Result<plan::FileAccess> access_at(const View& view, std::int64_t offset_etypes,
                                   std::int64_t byte_count) {
  const bool has_data = view.map.type.size() > 0;
  if (byte_count % view.etype_size != 0 || (byte_count > 0 && !has_data)) {
    return Error{ErrorClass::io, 0,
                 "an access of " + std::to_string(byte_count) +
                     " bytes is not a whole number of etypes of " +
                     std::to_string(view.etype_size) + " bytes, or the filetype has none"};
  }
  const auto first = checked_multiply(offset_etypes, view.etype_size);
  const auto end = first ? checked_add(*first, byte_count) : std::nullopt;
  if (offset_etypes < 0 || !first || !end || (byte_count > 0 && !is_addressable(view.map, *end))) {
    return Error{ErrorClass::arg, 0,
                 "an access of " + std::to_string(byte_count) + " bytes at offset " +
                     std::to_string(offset_etypes) + " is outside the file view"};
  }
  plan::FileAccess access{view.map, *first, byte_count};
  if (byte_count == 0 || view.map.type.tiles_monotone()) return access;
  return inside_one_copy(std::move(access));
}

}  // namespace nacre::file
