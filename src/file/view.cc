#include "file/view.h"

#include "base/checked_cast.h"

namespace nacre::file {
namespace {

Error view_error(const std::string& what) {
  return Error{ErrorClass::arg, 0, "file view: " + what};
}

}  // namespace

Status check_view(const View& view, bool writes) {
  const plan::TypeMap& filetype = view.map.type;
  if (view.map.origin < 0) {
    return view_error("the displacement is " + std::to_string(view.map.origin) +
                      "; it takes 0 or more");
  }
  if (view.etype_size <= 0 || filetype.size() % view.etype_size != 0) {
    return view_error("the filetype has " + std::to_string(filetype.size()) +
                      " bytes of data, which is no multiple of the etype's " +
                      std::to_string(view.etype_size));
  }
  if (filetype.size() > 0 && (filetype.true_lb() < 0 || filetype.extent() < 0)) {
    return view_error("the filetype begins at byte " + std::to_string(filetype.true_lb()) +
                      "; its displacements take 0 or more");
  }
  if (writes && !filetype.tiles_monotone()) {
    return view_error(
        "the filetype has overlapping or decreasing displacements, which a file that is written "
        "does not take");
  }
  return {};
}

Result<std::int64_t> byte_offset(const View& view, std::int64_t offset_etypes) {
  const auto bytes = checked_multiply(offset_etypes, view.etype_size);
  if (offset_etypes < 0 || !bytes || view.map.type.size() == 0) {
    return Error{ErrorClass::arg, 0,
                 "offset " + std::to_string(offset_etypes) + " is outside the file view"};
  }
  return plan::offset_of(view.map, *bytes);
}

std::int64_t etypes_in(const View& view, std::int64_t file_size) {
  if (view.map.type.size() == 0) return 0;
  std::int64_t bytes = 0;
  if (view.map.type.tiles_monotone()) {
    bytes = plan::bytes_before(view.map, file_size);
  } else if (file_size > view.map.origin && view.map.type.extent() > 0) {
    bytes = (file_size - view.map.origin) / view.map.type.extent() * view.map.type.size();
  }
  return (bytes + view.etype_size - 1) / view.etype_size;
}

Result<plan::FileAccess> access_at(const View& view, std::int64_t offset_etypes,
                                   std::int64_t byte_count) {
  const auto first = checked_multiply(offset_etypes, view.etype_size);
  const auto end = first ? checked_add(*first, byte_count) : std::nullopt;
  if (offset_etypes < 0 || !end) {
    return Error{ErrorClass::arg, 0,
                 "an access of " + std::to_string(byte_count) + " bytes at offset " +
                     std::to_string(offset_etypes) + " is outside the file view"};
  }
  if (byte_count % view.etype_size != 0 || (byte_count > 0 && view.map.type.size() == 0)) {
    return Error{ErrorClass::io, 0,
                 "an access of " + std::to_string(byte_count) +
                     " bytes is no whole number of etypes of " + std::to_string(view.etype_size) +
                     " bytes, or the filetype has none"};
  }
  return plan::FileAccess{view.map, *first, byte_count};
}

}  // namespace nacre::file
