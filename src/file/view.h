// View: what a rank sees of a file, in the file's representation, and arithmetic on offsets in
// etypes.
#ifndef NACRE_FILE_VIEW_H_
#define NACRE_FILE_VIEW_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::file {

struct View {
  /// The filetype, tiled from the displacement. The default is that of a file just opened: bytes.
  plan::TiledMap map{plan::TypeMap::bytes(1), 0};
  /// The displacement is where the shared pointer is when the view is set
  /// (MPI_DISPLACEMENT_CURRENT); map.origin is then OpenFile::set_view's to find out.
  bool at_shared_pointer = false;
  std::int64_t etype_size = 1;  ///< bytes in the file; offsets count etypes
  std::string representation = "native";
};

/// MPI-4.1, 14.3: a displacement and filetype offsets of 0 or more, a filetype made of whole
/// etypes, and, where the file is written, no byte of the filetype twice and offsets in it that
/// never decrease. Its copies may overlap each other (parallel HDF5 sets such views and stays
/// inside one copy).
[[nodiscard]] Status check_view(const View& view, bool writes);

/// Where etype `offset` begins, in bytes of the file. ErrorClass::arg for a negative or too large
/// offset.
[[nodiscard]] Result<std::int64_t> byte_offset(const View& view, std::int64_t offset_etypes);

/// The end of a file of `file_size` bytes in the view: the etypes that begin before it (what the
/// file ends in the middle of counts whole), in a view that goes back in the file those up to the
/// first one that lies behind it. 0 where the view has no data.
[[nodiscard]] std::int64_t etypes_in(const View& view, std::int64_t file_size);

/// The data bytes of an access of `byte_count` bytes at `offset`. ErrorClass::arg for an offset or
/// an end out of range (64 bits), io for a part of an etype. Where copies overlap and the access is
/// inside one, the result's view is of that copy alone, so that it is as ordered as the filetype
/// is.
[[nodiscard]] Result<plan::FileAccess> access_at(const View& view, std::int64_t offset_etypes,
                                                 std::int64_t byte_count);

}  // namespace nacre::file

#endif  // NACRE_FILE_VIEW_H_
