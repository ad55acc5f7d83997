#include "mpi/calls/forward.h"

#include <array>
#include <cstdint>
#include <utility>

namespace nacre::mpi {
namespace {

constexpr MPI_Count block_count = MPI_Count{1} << 30U;

/// `count` consecutive elements of `datatype`, at least block_count: blocks of block_count, then
/// the rest.
int make_large(MPI_Count count, MPI_Datatype datatype, MPI_Datatype* made) {
  const Native& mpi = native();
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  int code = mpi.Type_get_extent(datatype, &lower_bound, &extent);
  if (code != MPI_SUCCESS) return code;
  MPI_Datatype block = mpi.DATATYPE_NULL;
  code = mpi.Type_contiguous(static_cast<int>(block_count), datatype, &block);
  if (code != MPI_SUCCESS) return code;
  const MPI_Count blocks = count / block_count;
  const std::array lengths{static_cast<int>(blocks), static_cast<int>(count % block_count)};
  const std::array<MPI_Aint, 2> displacements{0,
                                              static_cast<MPI_Aint>(blocks * block_count) * extent};
  const std::array types{block, datatype};
  // An empty rest would still count in the bounds of the whole.
  const int parts = lengths[1] == 0 ? 1 : 2;
  code = mpi.Type_create_struct(parts, lengths.data(), displacements.data(), types.data(), made);
  mpi.Type_free(&block);
  return code == MPI_SUCCESS ? mpi.Type_commit(made) : code;
}

}  // namespace

int forward_large(MPI_Count count, MPI_Datatype datatype,
                  const std::function<int(int, MPI_Datatype)>& classic) {
  // The MPI reports a negative count.
  if (count < 0) return classic(-1, datatype);
  if (std::in_range<int>(count)) return classic(static_cast<int>(count), datatype);
  if (!std::in_range<int>(count / block_count)) return MPI_ERR_COUNT;
  MPI_Datatype large = native().DATATYPE_NULL;
  int code = make_large(count, datatype, &large);
  if (code == MPI_SUCCESS) code = classic(1, large);
  if (large != native().DATATYPE_NULL) native().Type_free(&large);
  return code;
}

int forward_file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  MPI_Aint classic = 0;
  const int code = native().File_get_type_extent(fh, datatype, &classic);
  if (code == MPI_SUCCESS) *extent = classic;
  return code;
}

}  // namespace nacre::mpi
