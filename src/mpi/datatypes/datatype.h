// MPI datatypes as type maps. Nacre decodes a datatype once, by MPI_Type_get_envelope and
// MPI_Type_get_contents (their large-count forms if the MPI has them), and keeps the result on the
// datatype as an attribute.
#ifndef NACRE_MPI_DATATYPES_DATATYPE_H_
#define NACRE_MPI_DATATYPES_DATATYPE_H_

#include <functional>
#include <memory>

#include "base/result.h"
#include "mpi/abi/native.h"
#include "plan/types/type_map.h"
#include "plan/types/type_signature.h"

namespace nacre::mpi {

/// A datatype in Nacre's terms: shared, immutable, may outlive the MPI datatype.
struct DecodedType {
  plan::TypeMap map;
  plan::TypeSignature signature;
};

/// The datatype as it lies in memory. Local. ErrorClass::type for MPI_DATATYPE_NULL, unknown
/// constructors, and types whose size or displacements exceed 64 bits.
[[nodiscard]] Result<std::shared_ptr<const DecodedType>> decode(MPI_Datatype datatype);

/// The size in bytes of a named datatype in a file of some data representation.
using NamedExtent = std::function<Result<MPI_Count>(MPI_Datatype named)>;

/// The datatype as it lies in a file whose named types have other sizes (external32, registered
/// representations): displacements in elements scale, displacements in bytes stay
/// (MPI-4.1, 14.5.1). The elements of the signature have their sizes in that file. The signature
/// lacks pairs (MPI_2INT and its kin), for which `extent` returns a single size. Not cached.
[[nodiscard]] Result<DecodedType> decode_as(MPI_Datatype datatype, const NamedExtent& extent);

/// A datatype that stays valid when the program frees its own: a duplicate if it is derived. Copies
/// share the duplicate.
class KeptDatatype {
 public:
  explicit KeptDatatype(MPI_Datatype datatype);
  [[nodiscard]] MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_;
  std::shared_ptr<void> duplicate_;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_DATATYPE_H_
