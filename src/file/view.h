// View: the file view of a rank, in the file's representation, and arithmetic on offsets in etypes.
#ifndef NACRE_FILE_VIEW_H_
#define NACRE_FILE_VIEW_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::file {

struct View {
  /// The filetype, tiled from the displacement. Default: bytes, as after the open.
  plan::TiledMap map{plan::TypeMap::bytes(1), 0};
  /// The displacement is the position of the shared pointer (MPI_DISPLACEMENT_CURRENT);
  /// OpenFile::set_view then sets map.origin.
  bool at_shared_pointer = false;
  std::int64_t etype_size = 1;  ///< bytes in the file; offsets count etypes
  std::string representation = "native";
};

/// Checks a view by MPI-4.1, 14.1.1 and 14.3: a displacement of 0 or more; filetype offsets of 0 or
/// more that do not decrease; a filetype of whole etypes and, if the file is open for writing,
/// without overlaps. Copies of the filetype may overlap (parallel HDF5 sets such views and accesses
/// one copy only).
[[nodiscard]] Status check_view(const View& view, bool writes);

/// The position of etype `offset` in bytes of the file. ErrorClass::arg for a negative or too large
/// offset.
[[nodiscard]] Result<std::int64_t> byte_offset(const View& view, std::int64_t offset_etypes);

/// The end of a file of `file_size` bytes, in etypes of the view: the number of etypes that begin
/// before that end. In a view that goes backwards in the file, the etypes before the first one that
/// lies behind that end. 0 if the view has no data.
[[nodiscard]] std::int64_t etypes_in(const View& view, std::int64_t file_size);

/// The bytes of an access of `byte_count` bytes at etype `offset`. ErrorClass::arg if the offset or
/// the end exceeds 64 bits, io if the size is not a multiple of the etype. If copies of the
/// filetype overlap and the access lies inside one copy, the result has a view of that copy alone,
/// so that its offsets are ordered as in the filetype.
[[nodiscard]] Result<plan::FileAccess> access_at(const View& view, std::int64_t offset_etypes,
                                                 std::int64_t byte_count);

}  // namespace nacre::file

#endif  // NACRE_FILE_VIEW_H_
