#include "shapes.h"

namespace nacre::bench {

Datatype contiguous_type(std::int64_t count, const Datatype& element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_contiguous(static_cast<int>(count), element.get(), &type),
          "MPI_Type_contiguous");
  return Datatype::made(type);
}

Datatype bytes_type(std::int64_t count) {
  return contiguous_type(count, Datatype::predefined(MPI_BYTE));
}

Block<3> cube_block(const Geometry& geometry, double bytes, std::int64_t element) {
  std::array<int, 3> parts{};
  require(MPI_Dims_create(geometry.ranks, 3, parts.data()), "MPI_Dims_create");
  Block<3> block;
  block.element = element;
  const double edge = std::cbrt(bytes / static_cast<double>(element));
  int left = geometry.rank;
  for (std::size_t d = 3; d-- > 0;) {
    block.array[d] = std::max(parts[d], static_cast<int>(std::lround(edge)));
    block.deal(d, left % parts[d], parts[d]);
    left /= parts[d];
  }
  return block;
}

}  // namespace nacre::bench
