// MPI datatypes as type maps: decoded once, through MPI_Type_get_envelope/contents (the large-count
// ones where the MPI has them), and kept on the datatype as an attribute.
#ifndef NACRE_MPI_DATATYPES_DATATYPE_H_
#define NACRE_MPI_DATATYPES_DATATYPE_H_

#include <functional>
#include <memory>

#include "base/result.h"
#include "mpi/abi/native.h"
#include "plan/types/type_map.h"
#include "plan/types/type_signature.h"

namespace nacre::mpi {

/// What Nacre needs to know of a datatype; shared, immutable, outlives the MPI datatype.
struct DecodedType {
  plan::TypeMap map;
  plan::TypeSignature signature;
};

/// The datatype in memory. Local; no communication. ErrorClass::type for MPI_DATATYPE_NULL and
/// types that cannot be laid out in a file or in 64 bits.
[[nodiscard]] Result<std::shared_ptr<const DecodedType>> decode(MPI_Datatype datatype);

/// Bytes that one element of a named datatype takes in a file of some representation.
using NamedExtent = std::function<Result<MPI_Count>(MPI_Datatype named)>;

/// The datatype as it lies in a file whose named types have other sizes (external32, registered
/// representations): counts in elements scale, displacements in bytes stay (MPI-4.1, 14.5.1). The
/// signature's elements have their sizes in that file; pairs, which the rule gives one size, are
/// missing in it. Not kept.
[[nodiscard]] Result<DecodedType> decode_as(MPI_Datatype datatype, const NamedExtent& extent);

/// Bytes of a named datatype in external32.
[[nodiscard]] Result<MPI_Count> external32_extent(MPI_Datatype named);

/// A datatype kept beyond the program's own: a duplicate where it is derived, since the program may
/// free what it gave us. Copies share the duplicate.
class KeptDatatype {
 public:
  explicit KeptDatatype(MPI_Datatype datatype);
  [[nodiscard]] MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_;
  std::shared_ptr<void> duplicate_;
};

/// True for predefined datatypes, which nobody frees.
[[nodiscard]] bool is_named(MPI_Datatype datatype);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_DATATYPE_H_
