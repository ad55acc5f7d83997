// Data representations (MPI-4.1, 14.5): native, internal, external32 and what programs register.
#ifndef NACRE_MPI_DATATYPES_DATAREP_H_
#define NACRE_MPI_DATATYPES_DATAREP_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "file/open_file.h"
#include "mpi/abi/native.h"
#include "mpi/datatypes/datatype.h"

namespace nacre::mpi {

/// A conversion function of either count width, as the program registered it.
struct Conversion {
  MPI_Datarep_conversion_function* classic = nullptr;
  MPI_Datarep_conversion_function_c* large = nullptr;
  [[nodiscard]] bool none() const { return classic == nullptr && large == nullptr; }
};

/// How data lies in the file. Immutable. Registered representations live until the process ends:
/// the standard has no call to remove one.
struct Representation {
  enum class Kind : std::uint8_t { as_in_memory, external32, registered };
  std::string name = "native";
  Kind kind = Kind::as_in_memory;
  Conversion read = {};
  Conversion write = {};
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;
};
using RepresentationPointer = std::shared_ptr<const Representation>;

[[nodiscard]] RepresentationPointer native_representation();

/// ErrorClass::unsupported_datarep for an unknown name.
[[nodiscard]] Result<RepresentationPointer> find_representation(const std::string& name);

/// ErrorClass::dup_datarep for a known name, arg for one that is empty or too long. Local.
[[nodiscard]] Status register_representation(Representation representation);

/// How `datatype` lies in a file of this representation.
[[nodiscard]] Result<plan::TypeMap> map_in_file(const Representation& representation,
                                                MPI_Datatype datatype);

/// The converter for data of this datatype; null if memory and file have the same bytes. Keeps the
/// datatype alive. With a registered representation, a read that ends at the end of the file,
/// inside a datatype with pairs (MPI_2INT and its kin), counts whole datatypes only: the extent
/// function returns the size of a pair, and not where its index begins.
[[nodiscard]] Result<std::shared_ptr<file::Converter>> make_converter(
    const RepresentationPointer& representation, plan::Direction direction, MPI_Datatype datatype);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_DATAREP_H_
