#include "mpi/calls/forward.h"

#include <array>
#include <cstdint>
#include <utility>

namespace nacre::mpi {
namespace {

constexpr MPI_Count block_count = MPI_Count{1} << 30U;

/// Frees a derived datatype at the end of its scope.
class OwnedType {
 public:
  OwnedType() = default;
  OwnedType(const OwnedType&) = delete;
  OwnedType& operator=(const OwnedType&) = delete;
  ~OwnedType() {
    if (type_ != native().DATATYPE_NULL) native().Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }
  [[nodiscard]] MPI_Datatype* out() { return &type_; }

 private:
  MPI_Datatype type_ = native().DATATYPE_NULL;
};

/// `count` consecutive elements of `datatype`, at least block_count: blocks of block_count, then
/// the rest.
int make_large(MPI_Count count, MPI_Datatype datatype, OwnedType& made) {
  const Native& mpi = native();
  OwnedType block;
  OwnedType blocks;
  OwnedType rest;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  int code = mpi.Type_get_extent(datatype, &lower_bound, &extent);
  if (code != MPI_SUCCESS) return code;
  code = mpi.Type_contiguous(static_cast<int>(block_count), datatype, block.out());
  if (code != MPI_SUCCESS) return code;
  code = mpi.Type_contiguous(static_cast<int>(count / block_count), block.get(), blocks.out());
  if (code != MPI_SUCCESS) return code;
  code = mpi.Type_contiguous(static_cast<int>(count % block_count), datatype, rest.out());
  if (code != MPI_SUCCESS) return code;
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> displacements{
      0, static_cast<MPI_Aint>(count / block_count * block_count) * extent};
  const std::array<MPI_Datatype, 2> types{blocks.get(), rest.get()};
  // An empty rest would still count in the bounds of the whole.
  const int parts = count % block_count == 0 ? 1 : 2;
  code =
      mpi.Type_create_struct(parts, lengths.data(), displacements.data(), types.data(), made.out());
  return code == MPI_SUCCESS ? mpi.Type_commit(made.out()) : code;
}

}  // namespace

int forward_large(MPI_Count count, MPI_Datatype datatype,
                  const std::function<int(int, MPI_Datatype)>& classic) {
  // The MPI reports a negative count.
  if (count < 0) return classic(-1, datatype);
  if (std::in_range<int>(count)) return classic(static_cast<int>(count), datatype);
  if (!std::in_range<int>(count / block_count)) return MPI_ERR_COUNT;
  OwnedType large;
  const int code = make_large(count, datatype, large);
  return code == MPI_SUCCESS ? classic(1, large.get()) : code;
}

int forward_file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  MPI_Aint classic = 0;
  const int code = native().File_get_type_extent(fh, datatype, &classic);
  if (code == MPI_SUCCESS) *extent = classic;
  return code;
}

}  // namespace nacre::mpi
