#include "mpi/datatypes/named_types.h"

#include <array>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/rounding.h"

namespace nacre::mpi {
namespace {

using plan::BasicKind;
using plan::BasicType;
using plan::TypeMap;
using plan::TypeSignature;
using Shared = std::shared_ptr<const DecodedType>;

/// A predefined datatype as `count` basic elements of one kind.
struct NamedRow {
  MPI_Datatype datatype;
  BasicKind kind;
  int external32_size = 0;  ///< of one part of an element (MPI-4.1, Table 14.2)
  int count = 1;            ///< 2 for pairs of equals
  int parts = 1;            ///< of one element: 2 for complex types
};

struct PairRow {
  MPI_Datatype datatype;
  MPI_Datatype value;
};

std::vector<NamedRow> integer_rows() {
  const Native& mpi = native();
  constexpr auto sint = BasicKind::signed_integer;
  constexpr auto uint = BasicKind::unsigned_integer;
  return {
      {mpi.SHORT, sint, 2},
      {mpi.UNSIGNED_SHORT, uint, 2},
      {mpi.INT, sint, 4},
      {mpi.UNSIGNED, uint, 4},
      {mpi.LONG, sint, 4},
      {mpi.UNSIGNED_LONG, uint, 4},
      {mpi.LONG_LONG, sint, 8},
      {mpi.UNSIGNED_LONG_LONG, uint, 8},
      {mpi.INT8_T, sint, 1},
      {mpi.UINT8_T, uint, 1},
      {mpi.INT16_T, sint, 2},
      {mpi.UINT16_T, uint, 2},
      {mpi.INT32_T, sint, 4},
      {mpi.UINT32_T, uint, 4},
      {mpi.INT64_T, sint, 8},
      {mpi.UINT64_T, uint, 8},
      {mpi.AINT, sint, 8},
      {mpi.COUNT, sint, 8},
      {mpi.OFFSET, sint, 8},
      {mpi.WCHAR, uint, 2},
      {mpi.INTEGER, sint, 4},
      {mpi.INTEGER1, sint, 1},
      {mpi.INTEGER2, sint, 2},
      {mpi.INTEGER4, sint, 4},
      {mpi.INTEGER8, sint, 8},
      {mpi.INTEGER16, sint, 16},
      {mpi.LOGICAL1, BasicKind::boolean, 1},
      {mpi.LOGICAL2, BasicKind::boolean, 2},
      {mpi.LOGICAL4, BasicKind::boolean, 4},
      {mpi.LOGICAL8, BasicKind::boolean, 8},
      {mpi.LOGICAL, BasicKind::boolean, 4},
      {mpi.C_BOOL, BasicKind::boolean, 1},
      {mpi.CXX_BOOL, BasicKind::boolean, 1},
      {mpi.TWOINT, sint, 4, 2},
      {mpi.TWOINTEGER, sint, 4, 2},
  };
}

std::vector<NamedRow> real_rows() {
  const Native& mpi = native();
  constexpr auto real = BasicKind::real;
  return {
      {mpi.FLOAT, real, 4},
      {mpi.DOUBLE, real, 8},
      {mpi.LONG_DOUBLE, BasicKind::long_double, 16},
      {mpi.REAL, real, 4},
      {mpi.DOUBLE_PRECISION, real, 8},
      {mpi.REAL2, real, 2},
      {mpi.REAL4, real, 4},
      {mpi.REAL8, real, 8},
      {mpi.REAL16, real, 16},
      {mpi.C_COMPLEX, real, 4, 1, 2},
      {mpi.C_FLOAT_COMPLEX, real, 4, 1, 2},
      {mpi.C_DOUBLE_COMPLEX, real, 8, 1, 2},
      {mpi.C_LONG_DOUBLE_COMPLEX, BasicKind::long_double, 16, 1, 2},
      {mpi.CXX_FLOAT_COMPLEX, real, 4, 1, 2},
      {mpi.CXX_DOUBLE_COMPLEX, real, 8, 1, 2},
      {mpi.CXX_LONG_DOUBLE_COMPLEX, BasicKind::long_double, 16, 1, 2},
      {mpi.COMPLEX, real, 4, 1, 2},
      {mpi.DOUBLE_COMPLEX, real, 8, 1, 2},
      {mpi.COMPLEX4, real, 2, 1, 2},
      {mpi.COMPLEX8, real, 4, 1, 2},
      {mpi.COMPLEX16, real, 8, 1, 2},
      {mpi.COMPLEX32, real, 16, 1, 2},
      {mpi.TWOREAL, real, 4, 2},
      {mpi.TWOCOMPLEX, real, 4, 2, 2},
      {mpi.TWODOUBLE_COMPLEX, real, 8, 2, 2},
      {mpi.TWODOUBLE_PRECISION, real, 8, 2},
  };
}

std::vector<NamedRow> opaque_rows() {
  const Native& mpi = native();
  constexpr auto opaque = BasicKind::opaque;
  return {{mpi.BYTE, opaque, 1},        {mpi.PACKED, opaque, 1},        {mpi.CHAR, opaque, 1},
          {mpi.SIGNED_CHAR, opaque, 1}, {mpi.UNSIGNED_CHAR, opaque, 1}, {mpi.CHARACTER, opaque, 1}};
}

DecodedType elements_of(const NamedRow& row) {
  int size = 0;
  native().Type_size(row.datatype, &size);
  const BasicType basic{row.kind, static_cast<std::uint8_t>(size / (row.count * row.parts)),
                        static_cast<std::uint32_t>(row.external32_size),
                        static_cast<std::uint8_t>(row.parts)};
  return {TypeMap::bytes(size), TypeSignature::basic(basic, row.count)};
}

/// The types of MPI_Type_create_f90_*, which have no names of their own; opaque elements for what
/// an MPI adds.
TypeSignature parameterized_signature(MPI_Datatype datatype, int size) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  native().Type_get_envelope(datatype, &integers, &addresses, &types, &combiner);
  const auto element = [size](BasicKind kind, int parts) {
    return TypeSignature::basic({kind, static_cast<std::uint8_t>(size / parts),
                                 static_cast<std::uint32_t>(size / parts),
                                 static_cast<std::uint8_t>(parts)});
  };
  if (size == 0) return {};
  if (combiner == MPI_COMBINER_F90_REAL) {
    return element(BasicKind::real, 1);
  }
  if (combiner == MPI_COMBINER_F90_COMPLEX) {
    return element(BasicKind::real, 2);
  }
  if (combiner == MPI_COMBINER_F90_INTEGER) {
    return element(BasicKind::signed_integer, 1);
  }
  return element(BasicKind::opaque, 1);
}

/// Asked of the MPI when a program first uses the type: an MPI built without Fortran ends the
/// program that asks for the size of a Fortran type.
struct NamedEntry {
  std::function<Result<DecodedType>()> ask;
  std::once_flag asked;
  Shared decoded;
};

using NamedTable = std::unordered_map<MPI_Datatype, NamedEntry>;

std::array<PairRow, 5> pair_rows() {
  const Native& mpi = native();
  return {{{mpi.FLOAT_INT, mpi.FLOAT},
           {mpi.DOUBLE_INT, mpi.DOUBLE},
           {mpi.LONG_INT, mpi.LONG},
           {mpi.SHORT_INT, mpi.SHORT},
           {mpi.LONG_DOUBLE_INT, mpi.LONG_DOUBLE}}};
}

Result<DecodedType> pair_of(const PairRow& row) {
  const Result<DecodedType> value = named_type(row.value);
  if (!value) return value.error();
  const Result<DecodedType> index = named_type(native().INT);
  if (!index) return index.error();
  return pair_type(*value, *index);
}

/// Never destroyed: files are closed in exit handlers too.
NamedTable& named_table() {
  static auto* table = [] {
    auto* made = new NamedTable;
    const MPI_Datatype none = native().DATATYPE_NULL;
    for (const auto& rows : {opaque_rows(), integer_rows(), real_rows()}) {
      for (const NamedRow& row : rows) {
        if (row.datatype != none) {
          (*made)[row.datatype].ask = [row] { return Result<DecodedType>(elements_of(row)); };
        }
      }
    }
    for (const PairRow& row : pair_rows()) {
      if (row.datatype != none) (*made)[row.datatype].ask = [row] { return pair_of(row); };
    }
    return made;
  }();
  return *table;
}

}  // namespace

const Shared* find_named_type(MPI_Datatype datatype) {
  NamedTable& table = named_table();
  const auto found = table.find(datatype);
  if (found == table.end()) return nullptr;
  NamedEntry& entry = found->second;
  std::call_once(entry.asked, [&] {
    Result<DecodedType> decoded = entry.ask();
    if (decoded) entry.decoded = std::make_shared<const DecodedType>(*std::move(decoded));
  });
  return entry.decoded == nullptr ? nullptr : &entry.decoded;
}

Result<DecodedType> named_type(MPI_Datatype datatype) {
  if (const Shared* named = find_named_type(datatype)) return **named;
  int size = 0;
  if (native().Type_size(datatype, &size) != MPI_SUCCESS) {
    return Error{ErrorClass::type, 0, "a predefined datatype has no size"};
  }
  return DecodedType{TypeMap::bytes(size), parameterized_signature(datatype, size)};
}

Result<DecodedType> pair_type(const DecodedType& value, const DecodedType& index) {
  const std::int64_t alignment = std::max<std::int64_t>(index.map.extent(), 1);
  const std::int64_t index_offset = round_up(value.map.extent(), alignment);
  const std::int64_t widest = std::max(alignment, value.map.extent());
  const std::int64_t end = index_offset + index.map.extent();
  const std::array<TypeMap::Field, 2> fields{
      {{0, 1, value.map.node()}, {index_offset, 1, index.map.node()}}};
  const Result<TypeMap> packed = TypeMap::structure(fields);
  if (!packed) return packed.error();
  Result<TypeMap> padded = packed->resized(0, round_up(end, widest));
  if (!padded) return std::move(padded).error();
  const std::array<TypeSignature, 2> parts{value.signature, index.signature};
  return DecodedType{*std::move(padded), TypeSignature::concatenated(parts)};
}

Result<MPI_Count> external32_extent(MPI_Datatype named) {
  const Result<DecodedType> decoded = named_type(named);
  if (!decoded) return decoded.error();
  return decoded->signature.file_size();
}

bool is_named(MPI_Datatype datatype) {
  if (datatype == native().DATATYPE_NULL || find_named_type(datatype) != nullptr) return true;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  native().Type_get_envelope(datatype, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace nacre::mpi
